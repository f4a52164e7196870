"""Runs Debian's clamd with a database of one signature."""

import hashlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from strongroom.testing.scanning import eicar

CONFIGURATION = """\
LocalSocket {folder}/clamd.ctl
DatabaseDirectory {folder}/database
TemporaryDirectory {folder}
Foreground yes
LogFile {folder}/clamd.log
StreamMaxLength {stream_max}M
MaxFileSize {file_max}M
MaxScanSize 400M
AlertExceedsMax yes
AlertEncrypted yes
ReadTimeout 30
{more}
"""

START_SECONDS = 60


def is_installed() -> bool:
    """Return whether clamd is installed."""
    return shutil.which("clamd") is not None


@dataclass
class Clamd:
    """A running clamd."""

    socket: Path
    process: "subprocess.Popen[bytes]"

    def kill(self) -> None:
        """Kill it, as a crash would."""
        self.process.kill()
        self.process.wait()


def write_database(folder: Path) -> None:
    """Write a database with the EICAR test file only; the package's own would need a download."""
    content = eicar()
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    folder.mkdir(exist_ok=True)
    (folder / "test.hdb").write_text(f"{digest}:{len(content)}:Eicar-Test-Signature\n")


@contextmanager
def running(
    folder: Path, *, stream_max: int = 100, file_max: int = 100, more: str = ""
) -> Iterator[Clamd]:
    """Run clamd until the block ends. ``folder`` must be short, because of its socket."""
    write_database(folder / "database")
    configuration = folder / "clamd.conf"
    configuration.write_text(
        CONFIGURATION.format(folder=folder, stream_max=stream_max, file_max=file_max, more=more)
    )
    path = folder / "clamd.ctl"
    path.unlink(missing_ok=True)
    process = subprocess.Popen(
        ["clamd", "--config-file", configuration], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
    )
    try:
        wait_for(path, process)
        yield Clamd(path, process)
    finally:
        process.kill()
        process.wait()


def wait_for(path: Path, process: "subprocess.Popen[bytes]") -> None:
    """Wait until clamd answers on its socket."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"clamd ended: {(path.parent / 'clamd.log').read_text()}")
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(path))
                connection.sendall(b"zPING\0")
                if connection.recv(16) == b"PONG\0":
                    return
            except OSError:
                time.sleep(0.05)
    raise AssertionError("clamd did not start")
