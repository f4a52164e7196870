"""``strongroom oidc simulator`` prints a configuration that the server accepts."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from strongroom_login_oidc.options import OIDCOptions, ProviderOptions
from strongroom_simulators.oidc_providers import PROVIDERS
from strongroom_simulators.oidc_providers.commands import simulator
from strongroom_simulators.serving import LocalServer


@pytest.mark.parametrize("preset", PROVIDERS)
def test_the_printed_configuration_is_accepted(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalServer, "serve", LocalServer.close)
    arguments = ["--preset", preset, "--port", "0", "--key-file", f"{tmp_path}/key.pem"]
    result = CliRunner().invoke(simulator, arguments)
    assert result.exit_code == 0, result.output
    text = result.output[result.output.index("[login.oidc]") : result.output.index("People:")]
    table: dict[str, Any] = tomllib.loads(text)["login"]["oidc"]
    section = table.pop("providers")[preset]
    if "private_key_file" in section:
        section["private_key_file"] = Path(section["private_key_file"])
    options = OIDCOptions(providers={preset: ProviderOptions(**section)}, **table)
    assert options.allow_insecure_loopback
    assert "lin, ada, eve" in result.output
