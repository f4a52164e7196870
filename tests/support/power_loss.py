"""A file system that loses its power: only synced changes survive.

Operations are recorded by strace. The model is that of POSIX with an ordered journal: bytes of a file
are durable once the file is synced, entries of a folder once the folder is synced. Of all else any part
may be lost: any of the writes, and of the changes of folders any number of the last.
"""

import ast
import os
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE_SECONDS, wait_until

CALLS = (
    "openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,rmdir,link,linkat,"
    "write,pwrite64,writev,pwritev,ftruncate,fallocate,fsync,fdatasync"
)
_ON_DESCRIPTORS = {*CALLS.split(",")[CALLS.split(",").index("write") :]}
_LINE = re.compile(r"(\d+\.\d+) (\w+)\((.*)\) += (-?\d+)(?:<[^>]*>)?(?: .*)? <(\d+\.\d+)>$")
_DESCRIPTOR = re.compile(r"-?\w+<((?:[^<>\\]|\\.)*)>")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NUMBER = re.compile(r"(?<![\w<])(\d+)$")


@dataclass(frozen=True, slots=True)
class Operation:
    """A system call that has changed the file system.

    Args:
        ended: when it had returned, in seconds since the epoch.
        call: its name.
        paths: the paths that it names.
        data: the bytes it wrote.
        offset: where; ``None`` after the bytes written before.
    """

    ended: float
    call: str
    paths: tuple[str, ...]
    data: bytes = b""
    offset: int | None = None


@contextmanager
def recording(pids: Sequence[int], folder: Path) -> Iterator[None]:
    """Record what processes do to files until the block is left."""
    command = ["strace", "-f", "-ff", "-ttt", "-T", "-y", "-xx", "-s", "4194304", "-e", f"trace={CALLS}"]
    attach = [option for pid in pids for option in ("-p", str(pid))]
    log = (folder / "messages").open("w+b")
    tracer = subprocess.Popen([*command, "-o", str(folder / "trace"), *attach], stderr=log)
    try:
        _wait_until_attached(tracer, folder / "messages", len(pids))
        yield
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait(PATIENCE_SECONDS)
        log.close()


def _wait_until_attached(tracer: "subprocess.Popen[bytes]", messages: Path, count: int) -> None:
    wait_until(lambda: messages.read_text().count("attached") >= count or tracer.poll() is not None)
    if tracer.poll() is not None:
        pytest.skip(f"strace may not attach here: {messages.read_text()}")


def operations(folder: Path, root: Path) -> list[Operation]:
    """Return the recorded operations below a folder, in order."""
    found = [
        operation
        for file in folder.glob("trace.*")
        for line in file.read_text(encoding="ascii", errors="replace").splitlines()
        if (operation := _parsed(line)) and any(path.startswith(f"{root}/") for path in operation.paths)
    ]
    return sorted(found, key=lambda operation: operation.ended)


def _parsed(line: str) -> Operation | None:
    match = _LINE.match(line)
    if match is None or int(match[4]) < 0:
        return None
    begun, call, arguments, result, took = match.groups()
    ended = float(begun) + float(took)
    if call in ("openat", "creat") and "O_CREAT" not in arguments and "O_TRUNC" not in arguments:
        return None
    if call in (
        "write",
        "pwrite64",
        "fsync",
        "fdatasync",
        "ftruncate",
        "fallocate",
        "writev",
        "pwritev",
    ):
        described = _DESCRIPTOR.match(arguments)
        path = _unescaped(described[1]) if described else ""
        if not path.startswith("/") or path.endswith(("(deleted)", "-shm")):
            return None
        return _on_descriptor(ended, call, path, arguments, int(result))
    names = [_unescaped(text) for text in _TEXT.findall(arguments)]
    if call == "openat" and "O_TRUNC" in arguments:
        call = "truncate"
    folders = [_unescaped(text) for text in _DESCRIPTOR.findall(arguments)]
    base = Path(folders[0] if folders else "/")
    return Operation(ended, call, tuple(os.path.normpath(base / name) for name in names))


def _on_descriptor(ended: float, call: str, path: str, arguments: str, result: int) -> Operation:
    number = _NUMBER.search(arguments)
    has_offset = call in ("pwrite64", "pwritev", "ftruncate")
    offset = int(number[1]) if number and has_offset else None
    # A partial write has returned the number of bytes.
    data = b"".join(map(_bytes, _TEXT.findall(arguments)))[:result] if "write" in call else b""
    return Operation(ended, call, (path,), data, offset)


def _bytes(text: str) -> bytes:
    value = ast.literal_eval(f'b"{text}"')
    assert isinstance(value, bytes)
    return value


def _unescaped(text: str) -> str:
    return _bytes(text).decode()


@dataclass
class _File:
    """A file: its bytes that are durable, and the writes since."""

    durable: bytes = b""
    pending: list[tuple[int | None, bytes]] = field(default_factory=list)
    end: int = 0

    def current(self, kept: Iterable[tuple[int | None, bytes]]) -> bytes:
        """Return the bytes with some of the pending writes; a write of ``None`` is a new length."""
        content = bytearray(self.durable)
        for offset, data in kept:
            if offset is None:
                size = int.from_bytes(data)
                content[size:] = bytes(max(0, size - len(content)))
                continue
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        return bytes(content)


_Change = dict[str, tuple[_File | None, bool]]
"""Entries that appear, or with ``False`` disappear, atomically."""


class Disk:
    """The state of a folder, to which operations are done one after the other.

    Args:
        root: the folder, whose initial content is durable.
        copy: its content at the beginning of the recording.
    """

    def __init__(self, root: Path, copy: Path) -> None:
        self._root = str(root)
        self._entries: dict[str, _File | None] = {}
        for path in copy.rglob("*"):
            name = f"{root}/{path.relative_to(copy)}"
            content = b"" if path.is_dir() else path.read_bytes()
            self._entries[name] = None if path.is_dir() else _File(content, [], len(content))
        self._durable = dict(self._entries)
        self._changes: list[_Change] = []

    def do(self, operation: Operation) -> None:
        """Do an operation."""
        call, paths = operation.call, operation.paths
        if call in ("fsync", "fdatasync"):
            self._sync(paths[0])
        elif call.startswith("rename"):
            self._rename(*paths)
        elif call.startswith(("unlink", "rmdir")):
            self._change({paths[0]: (None, False)})
        elif call.startswith("link"):
            self._change({paths[1]: (self._entries.get(paths[0]), True)})
        elif call.startswith("mkdir"):
            self._change({paths[0]: (None, True)})
        else:
            self._write(operation)

    def image(self, target: Path, source: random.Random | None) -> None:
        """Write a disk as after a power failure: all durable data, and by chance some of the rest."""
        entries = dict(self._durable)
        kept = self._changes[: source.randrange(len(self._changes) + 1)] if source else []
        for change in kept:
            _apply(entries, change)
        for path, file in sorted(entries.items()):
            place = target / Path(path).relative_to(self._root)
            if file is None:
                place.mkdir(parents=True, exist_ok=True)
                continue
            writes = [write for write in file.pending if source and source.random() < 0.5]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.current(writes))

    def _write(self, operation: Operation) -> None:
        path = operation.paths[0]
        if not path.startswith(f"{self._root}/"):
            return
        if path not in self._entries:
            self._change({path: (_File(), True)})
        file = self._entries[path]
        assert file is not None, path
        if operation.call in ("ftruncate", "truncate"):
            size = operation.offset or 0
            file.pending.append((None, size.to_bytes(8)))
            file.end = min(file.end, size)
        elif operation.data:
            offset = file.end if operation.offset is None else operation.offset
            file.pending.append((offset, operation.data))
            file.end = max(file.end, offset + len(operation.data))

    def _sync(self, path: str) -> None:
        file = self._entries.get(path)
        if file is not None:
            file.durable, file.pending = file.current(file.pending), []
            return
        # A folder: its entries, and with the journal all changes before the last of them.
        changes = [number for number, change in enumerate(self._changes) if _is_in(path, change)]
        last = changes[-1] + 1 if changes else 0
        for change in self._changes[:last]:
            _apply(self._durable, change)
        del self._changes[:last]

    def _rename(self, old: str, new: str) -> None:
        self._change({old: (None, False), new: (self._entries.get(old), True)})

    def _change(self, change: _Change) -> None:
        self._changes.append(change)
        _apply(self._entries, change)


def _is_in(folder: str, change: _Change) -> bool:
    return any(path.rpartition("/")[0] == folder for path in change)


def _apply(entries: dict[str, _File | None], change: _Change) -> None:
    for path, (file, is_there) in change.items():
        if is_there:
            entries[path] = file
        else:
            entries.pop(path, None)


def copy_quietly(source: Path, target: Path) -> None:
    """Copy a folder of a server that is idle; SQLite's shared memory is no part of it."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*-shm"))
