"""The number of files that a server may open."""

import subprocess
import sys

import pytest

COMMAND = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
from strongroom.cli.startup import raise_file_limit
raise_file_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("soft", "hard", "warning"),
    [(256, 5000, ""), (128, 1000, "strongroom: warning: a process may open 1000 files, ")],
)
def test_a_server_uses_the_limit_of_the_system_and_warns_if_it_is_low(
    soft: int, hard: int, warning: str
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", COMMAND, str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(result.stdout) == hard
    assert result.stderr.startswith(warning)
    assert bool(result.stderr) == bool(warning)
