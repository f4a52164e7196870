"""Reading the configuration: sources, types, and faults that say what would be right."""

from pathlib import Path

import pytest

from strongroom.foundation.config import Configuration, ConfigurationError, load
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.plugins.selection import select

BACKEND = "the name of a registered storage backend, such as local or s3"


def load_text(tmp_path: Path, text: str, **environment: str) -> Configuration:
    """Load a file with this content."""
    path = tmp_path / "strongroom.toml"
    path.write_text(text)
    return load(path, environment)


def faults(tmp_path: Path, text: str, **environment: str) -> list[str]:
    """Return the problems of a file with this content, without the folder it is in."""
    with pytest.raises(ConfigurationError) as refusal:
        load_text(tmp_path, text, **environment)
    return [line.removeprefix(f"{tmp_path}/") for line in str(refusal.value).splitlines()]


def test_without_a_file_everything_is_at_its_default() -> None:
    settings = load(None, {}).settings
    assert (settings.server.port, settings.server.workers, settings.server.mode) == (
        8000,
        2,
        "development",
    )
    assert settings.passwords.bcrypt_cost == 12
    assert settings.limits.code_per_recipient == (Rate(1, 60), Rate(5, 3600), Rate(10, 86400))
    assert settings.storages["main"].backend == "local"


def test_one_key_of_a_profile_leaves_its_others_at_their_defaults(tmp_path: Path) -> None:
    profiles = load_text(tmp_path, "[business_files.avatars]\nmax_bytes = 5").settings.business_files
    assert (profiles.avatars.max_bytes, profiles.avatars.widths) == (5, (48, 96, 192, 384))
    assert profiles.photos.widths == (320, 640, 1280, 1920)


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("", ("password", "sms", "email_code")),
        ("[plugins]\nenabled = ['storage_local']", ("password",)),
        ("[plugins]\nenabled = ['storage_local', 'login_sms']", ("password", "sms")),
        ("[plugins]\nenabled = ['storage_local', 'login_email']", ("password", "email_code")),
    ],
)
def test_login_by_a_code_is_a_default_with_its_plugin_alone(
    tmp_path: Path, text: str, methods: tuple[str, ...]
) -> None:
    chosen = select(load_text(tmp_path, text)).login_methods
    assert tuple(spec.extension.name for spec in chosen) == methods


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("", {"passkey", "totp", "recovery_code"}),
        # Browsers have passkeys neither on IP addresses nor without TLS.
        ("[server]\nhost = '0.0.0.0'", {"totp", "recovery_code"}),
        ("[server]\npublic_url = 'http://files.example.com'", {"totp", "recovery_code"}),
        ("[server]\npublic_url = 'https://files.example.com'", {"passkey", "totp", "recovery_code"}),
        # What the configuration names is not left out: the server refuses to start.
        (
            "[server]\nhost = '0.0.0.0'\n[second_factors.passkey]\nrp_name = 'A'",
            {"passkey", "totp", "recovery_code"},
        ),
        (
            "[server]\nhost = '0.0.0.0'\n[plugins]\nenabled = ['storage_local', 'login_passkey']",
            {"passkey", "recovery_code"},
        ),
    ],
)
def test_default_factors_are_those_that_browsers_can_use(
    tmp_path: Path, text: str, factors: set[str]
) -> None:
    chosen = select(load_text(tmp_path, text)).second_factors
    assert {spec.extension.name for spec in chosen} == factors


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("", "http://localhost:8000"),
        ("[server]\nport = 9000", "http://localhost:9000"),
        ("[server]\nhost = '::1'", "http://localhost:8000"),
        ("[server]\nhost = '0.0.0.0'", "http://0.0.0.0:8000"),
        ("[server]\npublic_url = 'http://127.0.0.1:8000'", "http://127.0.0.1:8000"),
    ],
)
def test_a_server_of_this_machine_is_localhost_where_browsers_have_passkeys(
    tmp_path: Path, text: str, root: str
) -> None:
    assert load_text(tmp_path, text).settings.public_root == root


def test_a_stated_login_method_needs_its_plugin(tmp_path: Path) -> None:
    text = "[plugins]\nenabled = ['storage_local']\n[login]\nmethods = ['password', 'sms']"
    with pytest.raises(ConfigurationError, match=r"login\.methods: .*\bsms\b"):
        select(load_text(tmp_path, text))


def test_the_embedded_storage_lies_in_the_data_folder() -> None:
    configuration = load(None, {"STRONGROOM__SERVER__DATA_DIR": "/srv/strongroom"})
    assert configuration.extension_values["storages", "main"] == {"root": "/srv/strongroom/files"}
    assert configuration.settings.database_url == "sqlite:////srv/strongroom/strongroom.sqlite3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[server]\nprot = 1", 'strongroom.toml:2: server.prot: unknown key; did you mean "port"?'),
        ("\n[sever]\nport = 1", 'strongroom.toml:2: sever: unknown key; did you mean "server"?'),
        ("[server]\nport = 'x'", "strongroom.toml:2: server.port: must be a whole number"),
        ("[server]\nport = true", "strongroom.toml:2: server.port: must be a whole number"),
        ("[server]\nport = 70000", "strongroom.toml:2: server.port: must be from 0 to 65535"),
        ("server.port = 70000", "strongroom.toml:1: server.port: must be from 0 to 65535"),
        ("[server]\nhost = 7", "strongroom.toml:2: server.host: must be a string"),
        (
            '[server]\nmode = "prod"',
            "strongroom.toml:2: server.mode: must be one of: development, production",
        ),
        (
            "[business_files.avatar]\nwidths = [9]",
            'strongroom.toml:1: business_files.avatar: unknown key; did you mean "avatars"?',
        ),
        (
            "[business_files.photos]\nvisibility = 'all'",
            "strongroom.toml:2: business_files.photos.visibility: must be one of: public, users",
        ),
        (
            "[business_files.files]\ntypes = ['image']",
            (
                'strongroom.toml:2: business_files.files.types: "image" is not like image/png, '
                "image/* or */*"
            ),
        ),
        (
            "[business_files.covers]\nwidths = [320, 0]",
            "strongroom.toml:2: business_files.covers.widths: each must be from 1 to 16383",
        ),
        (
            "[business_files.figures]\ntypes = ['image/svg+xml']",
            (
                'strongroom.toml:2: business_files.figures.types: "image/svg+xml" must be one of: '
                "image/jpeg, image/png, image/gif, image/webp, image/avif"
            ),
        ),
        ("login.methods = 'sms'", 'strongroom.toml:1: login.methods: must be a list, such as ["sms"]'),
        ("[login]\nmethods = ['a', 1]", "strongroom.toml:2: login.methods: entry 2 must be a string"),
        ("server = 3", "strongroom.toml:1: server: must be a table"),
        ("[storages]\nmain = 3", "strongroom.toml:2: storages.main: must be a table"),
        (
            "[storages.main]\nroot = '/x'",
            f"strongroom.toml:1: storages.main.backend: is required: {BACKEND}",
        ),
        (
            "[limits]\ncode_per_device = ['1/week']",
            (
                'strongroom.toml:2: limits.code_per_device: entry 1 must be like "5/hour": a number, '
                "then /second, /minute, /hour or /day"
            ),
        ),
        (
            "[server]\ntrusted_proxies = ['here']",
            (
                "strongroom.toml:2: server.trusted_proxies: 'here' does not appear to be an IPv4 or "
                'IPv6 network; write a network as "10.0.0.0/8", or an address as "10.0.0.1"'
            ),
        ),
        (
            "[server]\nbase_path = 'x'",
            (
                'strongroom.toml:2: server.base_path: must be like "/identity": lowercase letters, '
                "digits, hyphens"
            ),
        ),
    ],
)
def test_a_fault_is_one_line_with_its_place_and_what_would_be_right(
    tmp_path: Path, text: str, expected: str
) -> None:
    assert faults(tmp_path, text) == [expected]


def test_all_faults_are_reported_together(tmp_path: Path) -> None:
    assert len(faults(tmp_path, "[server]\nport = 'x'\nworkers = 0\n[passwords]\nbcrypt_cost = 99")) == 3


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    (line,) = faults(tmp_path, "[server")
    assert line.startswith("strongroom.toml:1: is not TOML:")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file or directory"):
        load(tmp_path / "missing.toml", {})


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("STRONGROOM__SERVER__PORT", "9000", 9000),
        ("STRONGROOM__SERVER__HOST", "0.0.0.0", "0.0.0.0"),
        ("STRONGROOM__SERVER__SECRET_KEY", "1" * 32, "1" * 32),
        ("STRONGROOM__SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1", ("10.0.0.0/8", "::1")),
        ("STRONGROOM__SERVER__TRUSTED_PROXIES", '["10.0.0.0/8"]', ("10.0.0.0/8",)),
    ],
)
def test_the_environment_overrides_the_file(
    tmp_path: Path, name: str, text: str, expected: object
) -> None:
    settings = load_text(tmp_path, "[server]\nport = 1\nhost = '::1'", **{name: text}).settings
    assert getattr(settings.server, name.rpartition("__")[2].lower()) == expected


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("postgresql+psycopg://u:p@h/db\n")
    settings = load(None, {"STRONGROOM__DATABASE__URL_FILE": str(secret)}).settings
    assert settings.database.url == "postgresql+psycopg://u:p@h/db"


def test_a_fault_of_the_environment_names_the_variable(tmp_path: Path) -> None:
    assert faults(tmp_path, "", STRONGROOM__SERVER__PORTT="1") == [
        'environment STRONGROOM__SERVER__PORTT: server.portt: unknown key; did you mean "port"?'
    ]
    (line,) = faults(tmp_path, "", STRONGROOM__DATABASE__URL_FILE="/nowhere")
    assert line.startswith(
        "environment STRONGROOM__DATABASE__URL_FILE: /nowhere: cannot be read: No such"
    )
    assert line.endswith("; name a file that the server's user may read")


def test_secrets_do_not_show(tmp_path: Path) -> None:
    settings = load_text(tmp_path, "[server]\nsecret_key = 'hush-hush-hush'").settings
    assert "hush" not in repr(settings)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    path, secret = tmp_path / "strongroom.toml", tmp_path / "secret"
    path.write_text("[server]\nport = 4711\n", encoding="utf-8-sig")
    secret.write_text("value-of-a-file\n", encoding="utf-8-sig")
    settings = load(path, {"STRONGROOM__SERVER__SECRET_KEY_FILE": str(secret)}).settings
    assert (settings.server.port, settings.server.secret_key) == (4711, "value-of-a-file")
