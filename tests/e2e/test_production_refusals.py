"""Production refuses settings that are only safe on a developer's machine, with a remedy."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc.jwk import RSAKey

import strongroom.content.storage
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from strongroom.identity.sessions.signing_keys import create_key_file
from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import (
    FIXED_CAPTCHA,
    Table,
    base_config,
    change_config,
    main_storage,
    write_toml,
)
from tests.support.server import serving

pytestmark = pytest.mark.extended

SECRET_KEY = "uT5v0cQm3sXk9wZrB7nLd2yHfJ4gPeAa"
RFC_7515_KEY = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"


@dataclass
class Deployment:
    """A configuration of production with which nothing is wrong but that the schema is not made."""

    folder: Path

    @property
    def config(self) -> Path:
        """The file."""
        return self.folder / "strongroom.toml"

    @property
    def keys(self) -> Path:
        """The signing keys."""
        return self.folder / "keys.json"

    def change(self, *changes: Table) -> None:
        """Change the configuration."""
        change_config(self.config, *changes)

    def write_keys(self, *keys: dict[str, Any]) -> None:
        """Replace the signing keys."""
        self.keys.write_text(json.dumps({"keys": keys}))
        self.keys.chmod(0o600)

    def upgrade(self) -> None:
        """Make the schema."""
        result = run_command("--config", str(self.config), "db", "upgrade")
        assert result.returncode == 0, result.stderr

    def refusals(self, command: str = "serve", **environment: str) -> list[str]:
        """Start the server, which must refuse; return its output, one fault per line."""
        result = run_command(command, "--config", str(self.config), env=environment)
        assert (result.returncode, result.stdout) == (2, ""), result.stderr
        lines = result.stderr.splitlines()
        assert all(line.startswith("strongroom: ") for line in lines), result.stderr
        return [line.removeprefix("strongroom: ") for line in lines]

    def refusal(self, **environment: str) -> str:
        """Start the server, which must refuse with one line."""
        (line,) = self.refusals(**environment)
        return line


def production(folder: Path) -> Table:
    """Return the settings that a server in production requires."""
    server = {
        "mode": "production",
        "port": free_port(),
        "drain_seconds": 0,
        "public_url": "https://files.example.com",
        "secret_key": SECRET_KEY,
        "trusted_proxies": ["127.0.0.1/32"],
    }
    return {
        "server": server,
        "captcha": {"provider": "image"},
        "messages": {"email": [], "sms": []},
        "tokens": {"algorithm": "HS256", "keys_file": f"{folder}/keys.json"},
        "passwords": None,
    }


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    made = Deployment(tmp_path)
    base = base_config(tmp_path, f"sqlite:///{tmp_path}/data/strongroom.sqlite3")
    write_toml(made.config, base, production(tmp_path))
    made.config.chmod(0o600)
    create_key_file(made.keys, "HS256", 0)
    return made


def test_a_schema_that_does_not_match_is_all_that_is_wrong_with_the_rest(deployment: Deployment) -> None:
    assert deployment.refusal().endswith(
        f"the schema is empty, not {SCHEMA_REVISION}; run: strongroom db upgrade"
    )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            {"server": {"secret_key": None}},
            "server.secret_key: must be set in production: at least 32 random characters, ",
        ),
        (
            {"server": {"secret_key": "changeme-changeme-changeme-changeme"}},
            "server.secret_key: is a published sample, or too simple; set ",
        ),
        (
            {"server": {"secret_key": "abcabcabc" * 5}},
            "server.secret_key: is a published sample",
        ),
        (
            {"tokens": {"keys_file": None}},
            "tokens.keys_file: must be set in production: a private JWK Set, ",
        ),
        (
            {"server": {"public_url": None}},
            'server.public_url: must be set in production, such as "https://example.com"',
        ),
        (
            {"server": {"public_url": "http://files.example.com"}},
            'public_url: must begin with https:// in production, such as "https://files.example.com"',
        ),
        (
            {"server": {"trusted_proxies": ["127.0.0.1/32", "0.0.0.0/0"]}},
            "server.trusted_proxies: trusts X-Forwarded-For from every client; list ",
        ),
        (
            {"server": {"cors_origins": ["*"]}},
            'server.cors_origins: "*" is for development only; list the exact origins',
        ),
        (
            {"server": {"trusted_proxies": ["::/0"]}},
            "server.trusted_proxies: trusts X-Forwarded-For",
        ),
        (
            FIXED_CAPTCHA,
            'captcha.provider: "fixed" is for development only; production needs another',
        ),
        (
            {"messages": {"email": ["console"]}},
            'messages.email: "console" is for development only; [] sends none',
        ),
        (
            {"messages": {"sms": ["console"]}},
            'messages.sms: "console" is for development only; ',
        ),
        (
            {"plugins": {"enabled": ["storage_local", "webhooks"], "webhooks": {"allow_http": True}}},
            "plugins.webhooks.allow_http: true is for development only; remove this key",
        ),
        ({"redis": {"url": "memory://"}}, "redis.url: must begin with redis://"),
        ({"cors": {"origins": "*"}}, "cors: unknown key; "),
    ],
)
def test_unsafe_settings_are_refused_by_key_with_a_remedy(
    deployment: Deployment, change: Table, fault: str
) -> None:
    deployment.change(change)
    assert fault in deployment.refusal()


@pytest.mark.parametrize(
    ("key", "fault"),
    [
        ({"kty": "oct", "k": "c2hvcnQ"}, "holds an HMAC key of less than 256 bits"),
        (
            {
                "kty": "oct",
                "k": RFC_7515_KEY,
            },
            "holds a published sample key; move it away, and run: strongroom keys rotate",
        ),
        ({"kty": "oct", "k": "eW91ci0yNTYtYml0LXNlY3JldC15b3VyLTI1Ni1iaXQtc2VjcmV0"}, "sample key"),
        ({"kty": "oct", "k": "A" * 43}, "holds a published sample key"),
    ],
)
def test_a_signing_key_that_is_short_or_known_is_refused(
    deployment: Deployment, key: dict[str, str], fault: str
) -> None:
    deployment.write_keys(key)
    assert fault in deployment.refusal()


def _pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_a_short_rsa_key_is_refused(deployment: Deployment) -> None:
    deployment.change({"tokens": {"algorithm": "RS256"}})
    key = rsa.generate_private_key(65537, 1024)
    deployment.write_keys(RSAKey.import_key(_pem(key)).as_dict(private=True))
    assert "holds an RSA key of less than 2048 bits" in deployment.refusal()


def test_signing_keys_that_others_can_read_are_refused(deployment: Deployment) -> None:
    deployment.keys.chmod(0o644)
    assert f"{deployment.keys} can be read by others; run: chmod 600 {deployment.keys}" in (
        deployment.refusal()
    )


def test_signing_keys_that_are_missing_are_refused(deployment: Deployment) -> None:
    deployment.keys.unlink()
    assert deployment.refusal().endswith("does not exist; run: strongroom keys rotate")


def test_a_secret_in_a_file_that_others_can_read_is_refused(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.config.chmod(0o644)
    assert f"can be read by others; run: chmod 600 {deployment.config}" in deployment.refusal()
    secret = tmp_path / "secret"
    secret.write_text(SECRET_KEY)
    secret.chmod(0o640)
    line = deployment.refusal(STRONGROOM__SERVER__SECRET_KEY_FILE=str(secret))
    assert f"can be read by others; run: chmod 600 {secret}" in line


def test_a_data_folder_that_others_can_read_is_refused(deployment: Deployment) -> None:
    data = deployment.folder / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    assert deployment.refusal().endswith(
        f"server.data_dir: {data} can be read by others; run: chmod 700 {data}"
    )


def test_any_secret_in_a_file_that_others_can_read_is_refused(deployment: Deployment) -> None:
    url = deployment.folder / "database_url"
    url.write_text("postgresql+psycopg://strongroom:planted@127.0.0.1:1/strongroom")
    url.chmod(0o644)
    deployment.change({"database": {"url": None}})
    line = deployment.refusal(STRONGROOM__DATABASE__URL_FILE=str(url))
    assert line.endswith(f"database.url: {url} can be read by others; run: chmod 600 {url}")
    assert "planted" not in line
    secret = deployment.folder / "secret_access_key"
    secret.write_text("planted")
    secret.chmod(0o644)
    deployment.change(*main_storage({"backend": "s3", "bucket": "files", "access_key_id": "a"}))
    url.chmod(0o600)
    line = deployment.refusal(
        STRONGROOM__DATABASE__URL_FILE=str(url),
        STRONGROOM__STORAGES__MAIN__SECRET_ACCESS_KEY_FILE=str(secret),
    )
    assert line.endswith(
        f"storages.main.secret_access_key: {secret} can be read by others; run: chmod 600 {secret}"
    )


def test_a_debugger_is_refused(deployment: Deployment) -> None:
    assert "FLASK_DEBUG is on; unset it in production" in deployment.refusal(FLASK_DEBUG="1")


def test_a_storage_inside_the_code_is_refused(deployment: Deployment) -> None:
    folder = Path(strongroom.content.storage.__file__).parents[1] / "files"
    deployment.upgrade()
    deployment.change({"storages": {"main": {"root": str(folder)}}})
    assert "storages.main: its folder is inside the code, " in deployment.refusal()


def test_a_full_storage_lets_the_server_start_so_that_files_can_be_deleted(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.upgrade()
    with serving(deployment.config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        file = client.upload(tenant, "note.txt", b"kept")["id"]
    deployment.change({"storages": {"main": {"reserve_bytes": 10**18}}})
    with serving(deployment.config, tmp_path / "output") as server:
        client = Client.logged_in(server.url, "alice@example.com")
        assert client.send(tenant, "more.txt", b"more", 4).status == 507
        assert client.download(tenant, file) == b"kept"
        client.expect(200, "DELETE", f"{tenant}/files/{file}")
    said = (tmp_path / "output").read_text()
    assert "strongroom: warning: storages.main: cannot store files now: less than 10000000000" in said
    doctor = run_command("--config", str(deployment.config), "doctor")
    assert (doctor.returncode, "storages.main: is full: " in doctor.stdout) == (1, True)


def test_a_storage_that_fails_is_refused(deployment: Deployment) -> None:
    deployment.upgrade()
    folder = deployment.folder / "files"
    (folder / "00").mkdir(parents=True)
    (folder / "00/00").write_text("in the way of the owner marker")
    assert "storages.main: cannot be used: " in deployment.refusal()


def test_all_faults_are_reported_together(deployment: Deployment) -> None:
    deployment.keys.chmod(0o644)
    unsafe = {"trusted_proxies": ["0.0.0.0/0"], "public_url": "http://files.example.com"}
    deployment.change({"server": unsafe})
    assert len(deployment.refusals()) == 3


def test_a_server_of_production_prints_no_link_that_makes_an_administrator(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.upgrade()
    with serving(deployment.config, tmp_path / "output"):
        pass
    assert "/setup" not in (tmp_path / "output").read_text()


def test_a_development_server_says_on_one_line_that_it_is_none_for_production(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.change({"server": {"mode": "development"}})
    with serving(deployment.config, tmp_path / "output"):
        pass
    said = (tmp_path / "output").read_text().splitlines()
    assert [line for line in said if "not for production" in line] == [
        f"strongroom: DEVELOPMENT server, not for production; its data is in {tmp_path}/data"
    ]
