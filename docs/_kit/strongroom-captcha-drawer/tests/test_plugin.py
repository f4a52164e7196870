"""The server finds the plugin, and its deployer finds each key in the README."""

from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path

from strongroom.plugin_api import ENTRY_POINT_GROUP

from strongroom_captcha_drawer import plugin
from strongroom_captcha_drawer.options import DrawerOptions

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_entry_point_leads_to_the_plugin() -> None:
    (entry_point,) = entry_points(group=ENTRY_POINT_GROUP, name="captcha_drawer")
    assert entry_point.load() is plugin


def test_it_registers_what_it_has() -> None:
    (registered,) = plugin.register_captcha_providers()
    assert registered.name == "drawer"


def test_each_key_of_the_configuration_is_documented() -> None:
    keys = [key.name for key in fields(DrawerOptions)]
    assert [key for key in keys if f"| `{key}` |" not in README] == []
