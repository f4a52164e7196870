"""The plugin as the server sees it."""

from pathlib import Path

import pluggy
from tests.support.commands import run_command

from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom_login_oidc import plugin
from strongroom_login_oidc.method import OIDCLogin

CONFIGURATION = """
[server]
public_url = "https://files.example.org"
[plugins]
enabled = ["storage_local", "login_oidc"]
[login]
methods = ["password", "oidc"]
[login.oidc.providers.company]
issuer = "https://id.example.com"
client_id = "strongroom"
client_secret = "a-secret"
"""


def test_every_hook_is_one_the_server_knows() -> None:
    manager = pluggy.PluginManager("strongroom")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    assert plugin.API_VERSION == API_VERSION
    assert manager.hook.register_login_methods() == [[OIDCLogin]]


def test_a_command_prints_the_uris_to_register(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(CONFIGURATION)
    result = run_command("oidc", "uris", env={"STRONGROOM_CONFIG": str(path)})
    assert result.stdout.splitlines() == [
        "[login.oidc.providers.company]",
        "  redirect URI: https://files.example.org/api/v1/oidc-authorizations/callback/company",
        "  back-channel logout URI: https://files.example.org/api/v1/oidc-logouts/company",
    ], result.stderr


def test_a_key_that_cannot_be_read_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    key = 'token_auth = "private_key_jwt"\nprivate_key_file = "/nonexistent"'
    path.write_text(CONFIGURATION.replace('client_secret = "a-secret"', key))
    result = run_command("config", "check", env={"STRONGROOM_CONFIG": str(path)})
    assert "private_key_file: cannot be read: No such file or directory" in result.stderr
