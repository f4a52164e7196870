"""The walk-through in the WeChat plugin's README, against its simulator and a real server."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.support.server import STRONGROOM, serving

from strongroom.testing.server import free_port

README = Path(__file__).parents[2] / "README.md"
WALK_THROUGH = README.read_text().partition("\n## Try it without WeChat\n")[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SERVER_PORT, SIMULATOR_PORT = "8000", "8090"


def blocks(language: str) -> list[str]:
    return [content for name, content in BLOCK.findall(WALK_THROUGH) if name == language]


@pytest.fixture
def ports() -> dict[str, str]:
    return {SERVER_PORT: str(free_port()), SIMULATOR_PORT: str(free_port())}


def on(ports: dict[str, str], text: str) -> str:
    for shown, taken in ports.items():
        text = re.sub(rf"\b{shown}\b", taken, text)
    return text


@contextmanager
def simulator(command: str, folder: Path) -> Iterator[str]:
    """Run the command until the block ends; yield its output before it serves."""
    arguments = [str(STRONGROOM), *command.split()[1:]]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        try:
            said = ""
            while "People:" not in said:
                line = process.stdout.readline()
                assert line, said
                said += line
            yield said
        finally:
            process.terminate()


@pytest.fixture
def printed(tmp_path: Path, ports: dict[str, str]) -> list[str]:
    """The output of each shell block, after the actions of the simulator."""
    (config,) = blocks("toml")
    path = tmp_path / "strongroom.toml"
    data_dir = f'[server]\ndata_dir = "{tmp_path / "data"}"'
    path.write_text(on(ports, config).replace("[server]", data_dir))
    simulate, serve = on(ports, *blocks("console")).splitlines()
    assert serve == "strongroom --config strongroom.toml serve"
    with ExitStack() as running:
        said = running.enter_context(simulator(simulate, tmp_path))
        running.enter_context(serving(path))
        script = "\necho; echo '-- end --'\n".join(["set -eu", *blocks("sh")])
        result = subprocess.run(
            ["bash", "-c", on(ports, script)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert result.returncode == 0, result.stderr
    return [said, *result.stdout.split("-- end --\n")[1:]]


def test_both_apps_lead_to_one_user_and_a_busy_platform_is_503(
    printed: list[str], ports: dict[str, str]
) -> None:
    said, mini_program, website, busy = printed
    user = json.loads(mini_program)["user"]
    assert json.loads(website)["user"]["id"] == user["id"]
    assert '"error.unavailable"' in busy
    # The simulator prints the configuration that the walk-through uses.
    (config,) = blocks("toml")
    wanted = config.partition("[login.wechat]\n")[2].replace(SIMULATOR_PORT, ports[SIMULATOR_PORT])
    assert wanted in said
