"""The plugin's registrations, and the cost of parts that are not used."""

import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pluggy
import pytest

from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom_login_sms import plugin
from strongroom_login_sms.options import HttpSmsOptions, SmsLoginOptions

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_every_hook_is_known_and_returns_the_extensions() -> None:
    manager = pluggy.PluginManager("strongroom")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    (methods,) = manager.hook.register_login_methods()
    (senders,) = manager.hook.register_message_senders()
    assert [method.name for method in methods] == ["sms"]
    assert [(sender.name, set(sender.channels)) for sender in senders] == [("http_sms", {"sms"})]


def test_it_was_written_for_the_servers_api() -> None:
    assert plugin.API_VERSION == API_VERSION


def test_a_start_does_not_import_modules_of_senders() -> None:
    code = "import sys, strongroom_login_sms.plugin; sys.exit('urllib3' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("options_type", [SmsLoginOptions, HttpSmsOptions])
def test_each_key_of_the_configuration_is_documented(options_type: type[SmsLoginOptions]) -> None:
    assert [key.name for key in fields(options_type) if f"| `{key.name}` |" not in README] == []


def test_the_example_of_the_readme_is_a_configuration_that_works() -> None:
    example = tomllib.loads(README.partition("```toml")[2].partition("```")[0])
    assert SmsLoginOptions(**example["login"]["sms"]).register
    senders = {sender.name: sender for sender in plugin.register_message_senders()}
    for name in example["messages"]["sms"]:
        sender = senders[name](senders[name].options_type(**example["messages"][name]))
        sender.close()
