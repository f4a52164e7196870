"""Simulators are in a distribution of their own, and the commands of plugins run them."""

import sys
from pathlib import Path
from zipfile import ZipFile

import click
import pytest
from click.testing import CliRunner
from hatchling.builders.wheel import WheelBuilder

from strongroom_login_alipay.commands import alipay
from strongroom_login_dingtalk.commands import dingtalk
from strongroom_login_feishu.commands import feishu
from strongroom_login_oidc.commands import oidc
from strongroom_login_wechat.commands import wechat
from strongroom_login_wecom.commands import wecom
from strongroom_sms_aliyun.commands import sms
from strongroom_storage_oss.commands import oss

ROOT = Path(__file__).parents[3]
PROJECTS = [ROOT, *(path.parent for path in sorted(ROOT.glob("plugins/*/pyproject.toml")))]
COMMANDS = pytest.mark.parametrize(
    "command",
    [sms, wechat, dingtalk, oidc, wecom, oss, feishu, alipay],
    ids=lambda command: command.name,
)


@COMMANDS
def test_the_command_explains_the_simulators_options(command: click.Group) -> None:
    result = CliRunner().invoke(command, ["simulator", "--help"])
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: strongroom {command.name} simulator [OPTIONS]\n")
    assert "--port INTEGER" in result.output


@COMMANDS
def test_without_the_distribution_the_command_names_it(
    command: click.Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("strongroom_simulators")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "strongroom_simulators", None)
    result = CliRunner().invoke(command, ["simulator", "--port", "0"])
    assert (result.exit_code, result.output) == (
        1,
        "Error: the simulator is in a distribution of its own: pip install strongroom-simulators\n",
    )


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_no_other_wheel_contains_a_simulator(project: Path, tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(project)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        required = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(required).decode()
    assert [name for name in names if "simulator" in name or "authenticator.py" in name] == []
    assert "strongroom-simulators" not in metadata.partition("\n\n")[0]
