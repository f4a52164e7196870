"""Simulators are in a distribution of their own, whose plugin has the commands that run them."""

from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder
from tests.support.commands import run_command

ROOT = Path(__file__).parents[3]
PROJECTS = [ROOT, *(path.parent for path in sorted(ROOT.glob("plugins/*/pyproject.toml")))]
PLATFORMS = ("alipay", "dingtalk", "feishu", "oidc", "oss", "sms", "wechat", "wecom")


@pytest.fixture
def configuration(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / "strongroom.toml"
    path.write_text('[plugins]\nenabled = ["storage_local", "login_oidc", "simulators"]\n')
    return {"STRONGROOM_CONFIG": str(path)}


def test_a_command_for_each_platform_explains_its_options(configuration: dict[str, str]) -> None:
    for platform in PLATFORMS:
        result = run_command(platform, "simulator", "--help", env=configuration)
        assert result.returncode == 0, result.stderr
        assert result.stdout.startswith(f"Usage: strongroom {platform} simulator [OPTIONS]\n")
        assert "--port INTEGER" in result.stdout


def test_a_group_of_two_plugins_has_the_commands_of_both(configuration: dict[str, str]) -> None:
    result = run_command("oidc", "--help", env=configuration)
    _, _, commands = result.stdout.partition("Commands:\n")
    assert [line.split()[0] for line in commands.splitlines()] == ["simulator", "uris"]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_no_other_wheel_contains_a_simulator(project: Path, tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(project)).build(directory=str(tmp_path), versions=["standard"])
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        required = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(required).decode()
    assert [name for name in names if "simulator" in name or "authenticator.py" in name] == []
    assert "strongroom-simulators" not in metadata.partition("\n\n")[0]
