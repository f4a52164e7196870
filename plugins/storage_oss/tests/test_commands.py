"""The simulator runs from the command line."""

import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from strongroom.testing.storage import PatternSource, new_key
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.commands import oss
from strongroom_storage_oss.options import OssOptions

# A shell that starts the tests in the background makes them ignore interrupts, and so their processes.
RUN = """
import signal
from strongroom_storage_oss.commands import oss
signal.signal(signal.SIGINT, signal.default_int_handler)
oss()
"""


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(stop: signal.Signals) -> None:
    command = [sys.executable, "-u", "-c", RUN, "simulator", "--bucket", "files", "--port", "0"]
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


@pytest.mark.parametrize("arguments", [["--help"], ["simulator", "--help"]])
def test_it_explains_itself(arguments: list[str]) -> None:
    result = CliRunner().invoke(oss, arguments)
    assert (result.exit_code, "OSS" in result.output) == (0, True)


def test_a_bucket_is_required() -> None:
    assert CliRunner().invoke(oss, ["simulator"]).exit_code == 2
