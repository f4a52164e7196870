"""Extensions have the host of their plugin before their first use, whatever their kind."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.config import write_api_config
from tests.support.scanners import SCANNING, install_word_scanner

from strongroom.assembly.app import create_app
from strongroom.builtin.key_file import create_key_file
from strongroom.foundation.config import ConfigurationError, load
from strongroom.plugin_api import Extension

ALL_KINDS = {
    "plugins": {"enabled": ["storage_local", "storage_encrypted", "factor_totp", "scan_words"]},
    "storages": {"sealed": {"backend": "encrypted", "over": "main"}},
    "second_factors": {"methods": ["totp"]},
}

OWNERS = {
    "bcrypt_hmac": "bcrypt_hmac",
    "console": "console_sender",
    "encrypted": "storage_encrypted",
    "file": "key_file",
    "fixed": "fixed_captcha",
    "local": "storage_local",
    "password": "password",
    "totp": "factor_totp",
    "words": "scan_words",
}
"""The plugin of each extension of the server."""

# Its attach keeps the host, and its first login acts by it.
ACTING = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import Credential, LoginMethod, VerifiedCredential

API_VERSION = "2.0"
FAULTS = []

class Acting(LoginMethod):
    name = "acting"
    code_recipients = frozenset()

    def attach(self, host):
        if FAULTS:
            host.values.get("early")
        self.host = host

    @classmethod
    def registers(cls, options):
        return True

    def authenticate(self, attempt):
        credential = Credential("acting", attempt.username)
        return VerifiedCredential(credential, may_register=True)

    def logged_in(self, login):
        with self.host.acting_as(login.user_id):
            self.host.values.put("user", self.host.users.me().id)

@hookimpl
def register_login_methods():
    return [Acting]
"""


def test_each_kind_of_extension_has_the_host_of_its_plugin(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached: list[tuple[Extension[Any], Any]] = []
    monkeypatch.setattr(Extension, "attach", lambda self, host: attached.append((self, host)))
    install_word_scanner(tmp_path / "plugins", monkeypatch)
    create_key_file(tmp_path / "master-keys.json")
    keys = {"keys": {"path": str(tmp_path / "master-keys.json")}}
    config = write_api_config(tmp_path, database_url, SCANNING, ALL_KINDS, keys)
    with Api.running(config) as api:
        # At its first use.
        assert api.container.base.key_provider.name == "file"
        assert {item.name for item, _ in attached} == OWNERS.keys()
        for item, host in attached:
            assert host is api.container.hosts.get(OWNERS[item.name]), item.name
        assert len({id(item) for item, _ in attached}) == len(attached)


def with_acting(folder: Path, database_url: str, code: str) -> Path:
    (plugins := folder / "plugins.d").mkdir()
    (plugins / "acting.py").write_text(code)
    login = {"plugins": {"folder": str(plugins)}, "login": {"methods": ["acting"]}}
    return write_api_config(folder, database_url, login)


def test_a_login_method_acts_when_a_login_has_succeeded(tmp_path: Path, database_url: str) -> None:
    with Api.running(with_acting(tmp_path, database_url, ACTING)) as api:
        reply = api.post("/authorizations", {"username": "alice", "password": "any"})
        assert reply.status_code == 200, reply.text
        assert api.container.hosts.get("acting").values.get("user") == reply.json["user"]["id"]


def test_an_extension_that_uses_data_too_early_prevents_the_start(
    tmp_path: Path, database_url: str
) -> None:
    config = with_acting(tmp_path, database_url, ACTING.replace("FAULTS = []", "FAULTS = [1]"))
    with pytest.raises(ConfigurationError) as refused:
        create_app(load(config, {}))
    (problem,) = refused.value.problems
    assert problem.key == "login.acting"
    assert problem.message.startswith(
        "acting failed in attach: RuntimeError: the server has no services"
    )
