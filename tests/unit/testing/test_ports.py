"""Ports for servers of tests: several processes choose them at the same time."""

import subprocess
import sys

from strongroom.testing import server

RESERVE = "import sys; from strongroom.testing import server; print(server._reserve(int(sys.argv[1])))"


def reserved_elsewhere(port: int) -> bool:
    """Return whether another process gets the port."""
    command = [sys.executable, "-c", RESERVE, str(port)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_port_is_given_once_and_is_free_again_after_its_process() -> None:
    port = server.free_port()
    assert not server._reserve(port)
    assert not reserved_elsewhere(port)
    # Outside of the range, so that no other test has it. The first process has ended before the second.
    other = server._PORTS[1] + 1
    assert [reserved_elsewhere(other) for _ in range(2)] == [True, True]
