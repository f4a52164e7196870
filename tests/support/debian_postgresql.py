"""The PostgreSQL server of a distribution, which compiles statements; that of the other tests cannot."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from uuid import uuid4

import psycopg
import pytest

from strongroom.testing.server import free_port

_PROGRAMS: Final = Path("/usr/lib/postgresql")
_USER: Final = "postgres"


@contextmanager
def debian_postgresql(*settings: str) -> Iterator[str]:
    """Yield the URL of an empty database of a server with JIT; skips the test where there is none.

    Args:
        settings: settings of the server, such as ``jit_above_cost=0``.
    """
    libraries = sorted(_PROGRAMS.glob("*/lib/llvmjit.so"))
    if not libraries:
        pytest.skip("no PostgreSQL with JIT is installed; see .ci/run")
    programs = libraries[-1].parents[1] / "bin"
    # The server refuses to run as root, and its user cannot enter pytest's folders.
    with TemporaryDirectory(prefix="strongroom-pg-") as name:
        folder, port = Path(name), free_port()
        shutil.chown(folder, _USER)
        _run(folder, [programs / "initdb", "-D", folder / "data", "-A", "trust", "--no-sync"])
        options = " ".join(
            f"-c {setting}" for setting in (*settings, "fsync=off", "listen_addresses=127.0.0.1")
        )
        control = [programs / "pg_ctl", "-D", folder / "data", "-w", "-m", "immediate"]
        started = [*control, "-l", folder / "log", "-o", f"-p {port} -k {folder} {options}", "start"]
        _run(folder, started)
        try:
            yield _new_database(port)
        finally:
            _run(folder, [*control, "stop"])


def _run(folder: Path, command: Sequence[object]) -> None:
    # A file and no pipe: the server keeps what it inherits open.
    with (folder / "output").open("w") as output:
        arguments = [str(part) for part in command]
        subprocess.run(arguments, user=_USER, cwd=folder, stdout=output, stderr=output, check=True)


def _new_database(port: int) -> str:
    name, address = f"test_{uuid4().hex}", f"{_USER}@127.0.0.1:{port}"
    with psycopg.connect(f"postgresql://{address}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql+psycopg://{address}/{name}"
