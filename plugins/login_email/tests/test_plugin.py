"""The plugin's registrations and its page."""

import tomllib
from dataclasses import fields
from pathlib import Path

from strongroom.plugin_api import API_VERSION
from strongroom_login_email import plugin
from strongroom_login_email.options import EmailLoginOptions

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_it_registers_the_method_for_the_api_of_the_server() -> None:
    (method,) = plugin.register_login_methods()
    assert (method.name, method.code_recipients) == ("email_code", frozenset({"email"}))
    assert plugin.API_VERSION == API_VERSION


def test_each_key_of_the_configuration_is_documented() -> None:
    assert [key.name for key in fields(EmailLoginOptions) if f"| `{key.name}` |" not in README] == []


def test_the_example_of_the_readme_is_a_configuration_that_works() -> None:
    example = tomllib.loads(README.partition("```toml")[2].partition("```")[0])
    assert EmailLoginOptions(**example["login"]["email_code"]).register
