"""Wrong configurations of production, as operators write them: each is one line with key and remedy."""

from pathlib import Path

import pytest
from tests.support.config import Table, change_config
from tests.support.production import fault
from tests.support.wrong_configurations import BAD_VALUES, MISSPELT, UNSAFE

from strongroom.cli.startup import require_offline
from strongroom.cli.trial import unavailable_services
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.plugins import selection


def test_nothing_is_wrong_to_begin_with(config: Path) -> None:
    require_offline(load(config, {}))


@pytest.mark.parametrize(("right", "wrong", "line"), [*MISSPELT, *BAD_VALUES, *UNSAFE])
def test_a_wrong_key_or_value_is_one_line_with_the_key_and_what_would_be_right(
    config: Path, right: str, wrong: str, line: str
) -> None:
    text = config.read_text()
    right, wrong = (item.replace("DIR", str(config.parent)) for item in (right, wrong))
    assert right in text
    config.write_text(text.replace(right, wrong, 1))
    found = fault(config)
    assert line in found
    assert found.startswith("DIR/strongroom.toml:") or wrong == ""


@pytest.mark.parametrize(
    ("variable", "value", "line"),
    [
        ("STRONGROOM__SERVR__PORT", "1", 'SERVR__PORT: servr: unknown key; did you mean "server"?'),
        (
            "STRONGROOM__SERVER__PROT",
            "1",
            'SERVER__PROT: server.prot: unknown key; did you mean "port"?',
        ),
        ("STRONGROOM__SERVER__PORT", "x", "SERVER__PORT: server.port: must be a whole number"),
        ("STRONGROOM_SERVER__PORT", "1", 'did you mean "STRONGROOM__SERVER__PORT"?'),
        ("STRONGROOM_SERVER_PORT", "1", 'did you mean "STRONGROOM__SERVER__PORT"?'),
        ("STRONGROOM__DATABASE_URL", "x", "DATABASE_URL: database_url: unknown key; did you mean"),
        ("STRONGROOM_DATABASE__URL_FILE", "x", 'did you mean "STRONGROOM__DATABASE__URL_FILE"?'),
        ("STRONGROOM_STORAGES__MAIN__ROOT", "x", 'did you mean "STRONGROOM__STORAGES__MAIN__ROOT"?'),
        ("strongroom__server__port", "1", 'did you mean "STRONGROOM__SERVER__PORT"?'),
        (
            "STRONGROOM__SERVER__SECRET_KEY_FILE",
            "/nowhere",
            "/nowhere: cannot be read: No such file or ",
        ),
    ],
)
def test_a_wrong_variable_is_one_line_with_its_name_and_what_would_be_right(
    config: Path, variable: str, value: str, line: str
) -> None:
    found = fault(config, {variable: value})
    assert found.startswith(f"environment {variable}: ")
    assert line in found


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("STRONGROOM_CONFIG", "/etc/strongroom.toml"),
        ("STRONGROOM_TRACE_HOOKS", "1"),
        ("STRONGROOM_SERVER_PORT", "tcp://10.0.0.7:80"),
        ("STRONGROOM_SERVER_SERVICE_HOST", "10.0.0.7"),
        ("STRONGROOMS_SERVER__PORT", "1"),
    ],
)
def test_variables_that_mean_no_key_are_left_alone(config: Path, variable: str, value: str) -> None:
    require_offline(load(config, {variable: value}))


def test_a_debugger_is_refused(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASK_DEBUG", "1")
    assert fault(config) == "server.mode: FLASK_DEBUG is on; unset it in production".replace(
        "server.mode", "DIR/strongroom.toml:2: server.mode"
    )


@pytest.mark.parametrize("name", ["strongroom.toml", "keys.json"])
def test_a_secret_that_others_can_read_is_refused_with_the_command_that_protects_it(
    config: Path, name: str
) -> None:
    (config.parent / name).chmod(0o644)
    assert fault(config).endswith(f"DIR/{name} can be read by others; run: chmod 600 DIR/{name}")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (
            "garbage",
            "is no private JWK Set (RFC 7517); move the file away, and run: strongroom keys rot",
        ),
        ("{}", "is no private JWK Set (RFC 7517); move the file away"),
        (
            '{"keys": []}',
            "is no private JWK Set (RFC 7517); move the file away, and run: strongroom keys rotate",
        ),
        ('{"keys": [{"kty": "oct", "k": "c2hvcnQtc2hvcnQtc2hvcnQ"}]}', "holds an HMAC key of less than"),
    ],
)
def test_a_key_file_that_cannot_be_used_is_one_line_with_what_to_do(
    config: Path, content: str, line: str
) -> None:
    (config.parent / "keys.json").write_text(content)
    found = fault(config)
    assert "tokens.keys_file: " in found
    assert line in found


def test_a_configuration_that_is_absent_says_how_to_name_another(config: Path) -> None:
    config.unlink()
    assert fault(config).endswith(
        "No such file or directory; name another by --config or STRONGROOM_CONFIG"
    )


def test_a_configuration_that_is_no_toml_says_where(config: Path) -> None:
    config.write_text("[server\n")
    assert "is not TOML: " in fault(config)
    assert "line 1" in fault(config)


def test_a_variable_and_its_file_are_not_both_set(config: Path, tmp_path: Path) -> None:
    name = "STRONGROOM__DATABASE__URL"
    line = fault(config, {name: "sqlite:////x.sqlite3", f"{name}_FILE": str(tmp_path / "url")})
    assert line == f"environment {name}: is set, and so is {name}_FILE; unset one of them"


def test_a_storage_of_which_only_a_variable_is_left_names_the_variable(config: Path) -> None:
    name = "STRONGROOM__STORAGES__OLD__SECRET_ACCESS_KEY"
    line = fault(config, {name: "hush"})
    assert line.startswith(f"environment {name}: storages.old.backend: is required: the name of a ")
    assert line.endswith(f"; set it, or unset {name}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"access_key_id": "AK1"}, "main.secret_access_key: must be set together with access_key_id"),
        ({"secret_access_key": "h"}, "main.access_key_id: must be set together with secret_access_key"),
        ({"bucket": "a bucket"}, 'main.bucket: must consist of letters, digits, ".", "_" and "-"'),
    ],
)
def test_a_bucket_that_cannot_be_used(config: Path, options: Table, message: str) -> None:
    change_config(
        config,
        {"storages": {"main": None}},
        {"storages": {"main": {"backend": "s3", "bucket": "files", **options}}},
        {"plugins": {"enabled": ["storage_s3", "login_sms"]}},
    )
    line = fault(config)
    assert line.startswith("DIR/strongroom.toml:")
    assert line.endswith(f"storages.{message}")


@pytest.mark.parametrize(
    ("installed", "remedy"),
    [
        (True, 'add "sms_aliyun" to plugins.enabled'),
        (False, 'pip install strongroom-sms-aliyun, and add "sms_aliyun" to plugins.enabled'),
    ],
)
def test_a_sender_that_has_left_its_plugin_is_found_again_by_one_line(
    config: Path, monkeypatch: pytest.MonkeyPatch, installed: bool, remedy: str
) -> None:
    """The sender for Aliyun SMS was a part of the plugin ``login_sms``."""
    aliyun = {"access_key_id": "LT1", "access_key_secret": "hush", "sign_name": "Acme"}
    change_config(
        config,
        {"plugins": {"enabled": ["storage_local", "login_sms"]}},
        {"messages": {"sms": ["aliyun_sms"], "aliyun_sms": aliyun}},
    )
    if not installed:
        others = {name: entry for name, entry in installed_plugins().items() if name != "sms_aliyun"}
        monkeypatch.setattr(selection, "installed_plugins", lambda: others)
    assert fault(config).endswith(
        f'messages.sms: no enabled plugin offers a message sender "aliyun_sms"; {remedy}'
    )


def test_a_data_dir_that_is_a_file(config: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    change_config(
        config,
        {"server": {"mode": "development", "data_dir": f"{tmp_path}/file"}, "database": {"url": None}},
    )
    with pytest.raises(ConfigurationError) as refusal:
        unavailable_services(load(config, {}))
    assert str(refusal.value).endswith(
        f"server.data_dir: cannot be used: {tmp_path}/file: Not a directory; "
        "name a folder that the server may create or write to"
    )
