"""Small disks, which a test can fill."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(size: int) -> Iterator[Path]:
    """Mount a disk of so many bytes until the block ends; skips the test unless that is possible."""
    with tempfile.TemporaryDirectory(prefix="strongroom-disk-") as folder:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", folder]
        if os.geteuid() or not shutil.which("mount") or subprocess.run(command, check=False).returncode:
            pytest.skip("only root may mount a small disk")
        yield Path(folder)
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """Fill a disk, and return the file to remove again."""
    path, statistics = disk / "filler", os.statvfs(disk)
    # Others may write at the same time, so the last bytes may be missing.
    with path.open("wb", buffering=0) as file, suppress(OSError):
        for _ in range(statistics.f_bfree):
            file.write(bytes(statistics.f_bsize))
    return path
