"""The texts about what clients did."""

import tomllib
from importlib.resources import files

import pytest

from strongroom_mcp.routes import FILE_TOOLS
from strongroom_oidc_provider.consents.client_page import DEEDS, TOOLS

MESSAGES = files("strongroom_oidc_provider").joinpath("messages")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_tool_has_a_text(language: str) -> None:
    texts = tomllib.loads(MESSAGES.joinpath(f"{language}.toml").read_text("utf-8"))
    assert {tool.name for tool in FILE_TOOLS} | {"resources/read"} == TOOLS
    assert {f"tool-{name}" for name in TOOLS} | {f"deed-{name}" for name in DEEDS} <= texts.keys()
