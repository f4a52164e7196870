"""The plugin as the server sees it."""

import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile

import pluggy
import pytest
import requests

from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom_login_wechat import plugin
from strongroom_login_wechat.method import WeChatLogin


@pytest.fixture
def manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager("strongroom")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    return manager


def test_every_hook_is_one_the_server_knows(manager: pluggy.PluginManager) -> None:
    manager.check_pending()
    assert plugin.API_VERSION == API_VERSION


def test_it_registers_the_login_method(manager: pluggy.PluginManager) -> None:
    assert manager.hook.register_login_methods() == [[WeChatLogin]]


def test_enabling_the_plugin_does_not_load_the_simulator() -> None:
    loaded = "import sys, strongroom_login_wechat.plugin; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert "strongroom_login_wechat.method" in result.stdout.split()
    assert "strongroom_simulators.wechat" not in result.stdout.split()


@pytest.fixture
def command() -> Iterator[subprocess.Popen[str]]:
    run = "from strongroom_simulators.wechat.commands import simulator; simulator()"
    arguments = [sys.executable, "-u", "-c", run, "--port", "0", "--denial", "stays"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


def test_the_command_prints_the_configuration_and_serves(command: subprocess.Popen[str]) -> None:
    assert command.stdout is not None
    manual = [line.strip() for line in takewhile(lambda line: "People" not in line, command.stdout)]
    url = manual[0].split()[4].rstrip(".")
    assert f'api_url = "{url}"' in manual
    assert 'appid = "wx00000000000000a1"' in manual
    body = {"appid": "wx00000000000000b2", "person": "lin"}
    assert requests.post(f"{url}/simulator/login-codes", json=body, timeout=30).json()["code"]
