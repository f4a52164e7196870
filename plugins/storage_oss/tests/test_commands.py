"""The simulator runs from the command line."""

import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from strongroom.testing.storage import PatternSource, new_key
from strongroom_simulators.oss.commands import simulator
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions

# A shell that starts the tests in the background makes them ignore interrupts, and so their processes.
RUN = """
import signal
from strongroom_simulators.oss.commands import simulator
signal.signal(signal.SIGINT, signal.default_int_handler)
simulator()
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(stop: signal.Signals) -> None:
    command = [sys.executable, "-u", "-c", RUN, "--bucket", "files", "--port", "0"]
    command += ["--region", "cn-beijing", "--access-key-id", "me", "--access-key-secret", "mine"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        endpoint = next(word for word in process.stdout.readline().split() if "://" in word).strip(",")
        backend = OssBackend(OssOptions("files", "cn-beijing", "me", "mine", endpoint=endpoint))
        key = new_key()
        backend.put(key, PatternSource(1000))
        assert backend.stat(key).size == 1000
        backend.close()
        process.send_signal(stop)
        assert process.stdout.read() == "Stopped.\n"
    assert process.returncode == 0


def test_it_explains_itself() -> None:
    result = CliRunner().invoke(simulator, ["--help"])
    assert (result.exit_code, "OSS" in result.output) == (0, True)


def test_a_bucket_is_required() -> None:
    assert CliRunner().invoke(simulator, []).exit_code == 2
