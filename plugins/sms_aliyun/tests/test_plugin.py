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
from strongroom_simulators.sms.commands import simulator
from strongroom_sms_aliyun import plugin
from strongroom_sms_aliyun.options import AliyunSmsOptions

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_every_hook_is_known_and_returns_the_extensions() -> None:
    manager = pluggy.PluginManager("strongroom")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    (senders,) = manager.hook.register_message_senders()
    assert [(sender.name, set(sender.channels)) for sender in senders] == [("aliyun_sms", {"sms"})]


def test_it_was_written_for_the_servers_api() -> None:
    assert plugin.API_VERSION == API_VERSION


@pytest.mark.parametrize("module", ["alibabacloud_tea_openapi", "strongroom_simulators.sms"])
def test_a_start_does_not_import_modules_of_senders_and_simulators(module: str) -> None:
    code = f"import sys, strongroom_sms_aliyun.plugin; sys.exit({module!r} in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_each_key_of_the_configuration_is_documented() -> None:
    assert [key.name for key in fields(AliyunSmsOptions) if f"| `{key.name}` |" not in README] == []


def test_the_example_of_the_readme_is_a_configuration_that_works() -> None:
    example = tomllib.loads(README.partition("```toml")[2].partition("```")[0])
    senders = {sender.name: sender for sender in plugin.register_message_senders()}
    for name in example["messages"]["sms"]:
        sender = senders[name](senders[name].options_type(**example["messages"][name]))
        sender.close()


def test_each_option_of_the_simulator_is_documented() -> None:
    names = [name for option in simulator.params for name in (*option.opts, *option.secondary_opts)]
    assert [name for name in names if f"`{name}" not in README] == []
