"""The plugin as the server sees it, and its README."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from itertools import takewhile
from pathlib import Path

import pluggy
import pytest
import requests

from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION
from strongroom_login_dingtalk import plugin
from strongroom_login_dingtalk.method import DingTalkLogin
from strongroom_login_dingtalk.options import DingTalkApp, DingTalkOptions

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_CELLS = set(re.findall(r"^\| `([^`]+)` \|", README, re.MULTILINE))
LINES_OF_A_PROVIDER = 120


def test_every_hook_is_one_the_server_knows() -> None:
    manager = pluggy.PluginManager("strongroom")
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    assert plugin.API_VERSION == API_VERSION
    assert manager.hook.register_login_methods() == [[DingTalkLogin]]


def test_enabling_the_plugin_does_not_load_the_simulator() -> None:
    loaded = "import sys, strongroom_login_dingtalk.plugin; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert "strongroom_login_dingtalk.method" in result.stdout.split()
    assert "strongroom_simulators.dingtalk" not in result.stdout.split()


def test_the_provider_is_short() -> None:
    module = ROOT / "src/strongroom_login_dingtalk/app.py"
    assert len(module.read_text().splitlines()) <= LINES_OF_A_PROVIDER


@pytest.fixture
def command() -> Iterator[subprocess.Popen[str]]:
    run = "from strongroom_simulators.dingtalk.commands import simulator; simulator()"
    arguments = [sys.executable, "-u", "-c", run, "--port", "0"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.terminate()


def test_the_command_prints_the_configuration_of_the_readme_and_serves(
    command: subprocess.Popen[str],
) -> None:
    assert command.stdout is not None
    manual = [line.strip() for line in takewhile(lambda line: "People" not in line, command.stdout)]
    url = manual[0].split()[4].rstrip(".")
    shown = README.replace("http://127.0.0.1:8091", url)
    assert "\n".join(manual[2:]).strip() in shown
    body = {"clientId": "dingsimulatedapp01", "person": "lin"}
    assert requests.post(f"{url}/simulator/auth-codes", json=body, timeout=30).json()["code"]


def test_the_readme_names_every_key() -> None:
    keys = {field.name for options in (DingTalkOptions, DingTalkApp) for field in fields(options)}
    assert {cell for cell in FIRST_CELLS if re.fullmatch(r"[a-z_]+", cell)} - {
        "lin", "wei", "zhao", "ada", "ren"
    } == keys  # fmt: skip


def test_the_readme_names_only_errors_that_exist() -> None:
    named = {cell for cell in FIRST_CELLS if cell.startswith("error.")}
    assert named <= {kind.code for kind in DingTalkLogin.error_kinds()}
    assert len(named) >= 4
