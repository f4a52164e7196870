"""Tokens of a login, and where they are stored.

A refresh token is valid for a single use: a later second use ends the login, because it means that the
token was stolen. All threads, tasks and processes of a login therefore share one store, refresh one
after another, and store new tokens before they use them.
"""

import datetime
import os
import sys
import threading
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from .files import write_durably

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class Grant(msgspec.Struct, frozen=True, rename="camel"):
    """Where the tokens of a login by a code are refreshed and revoked (RFC 6749, RFC 7009)."""

    client_id: str
    token_endpoint: str
    revocation_endpoint: str


class Tokens(msgspec.Struct, frozen=True, rename="camel"):
    """The tokens of a login.

    Args:
        refresh_expires_at: ``None``: the server does not say.
        grant: of a login by a code; ``None``: any other login.
    """

    access_token: str
    expires_at: datetime.datetime
    refresh_token: str
    refresh_expires_at: datetime.datetime | None
    grant: Grant | None = None

    def expires_within(self, seconds: float) -> bool:
        """Return whether the access token is valid for less than a time."""
        rest = self.expires_at - datetime.datetime.now(datetime.UTC)
        return rest.total_seconds() < seconds

    def with_access(self, token: str, expires_at: datetime.datetime) -> "Tokens":
        """Return the tokens with another access token."""
        return msgspec.structs.replace(self, access_token=token, expires_at=expires_at)


class TokenStore(Protocol):
    """Stores the tokens of one login. A refresh holds the lock from reading to storing them."""

    def load(self) -> Tokens | None:
        """Return the tokens; never half-written ones."""

    def save(self, tokens: Tokens | None) -> None:
        """Replace the tokens at once; they survive a power failure after this returns."""

    def acquire(self) -> None:
        """Wait for the lock, which any thread may release."""

    def release(self) -> None:
        """Release the lock."""


@runtime_checkable
class DeviceStore(Protocol):
    """Stores the id of this device, which the server issued. A token store may be one, too.

    The id outlasts the login, so that the next login and its codes count for the same device.
    """

    def load_device(self) -> str | None:
        """Return the id."""

    def save_device(self, device_id: str) -> None:
        """Replace the id."""


class MemoryTokens:
    """Tokens that end with the process."""

    def __init__(self) -> None:
        self._tokens: Tokens | None = None
        self._device_id: str | None = None
        self._lock = threading.Lock()

    def load(self) -> Tokens | None:
        """Return the tokens."""
        return self._tokens

    def save(self, tokens: Tokens | None) -> None:
        """Replace the tokens."""
        self._tokens = tokens

    def load_device(self) -> str | None:
        """Return the id of the device."""
        return self._device_id

    def save_device(self, device_id: str) -> None:
        """Replace the id of the device."""
        self._device_id = device_id

    def acquire(self) -> None:
        """Wait for the lock."""
        self._lock.acquire()

    def release(self) -> None:
        """Release the lock."""
        self._lock.release()


class FileTokens:
    """Tokens in a file that only its owner may read. Processes may share it.

    Args:
        path: the file; next to it, ``{path}.lock`` is the lock, and ``{path}.device`` has the id of the
            device, which a logout leaves.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock_path = path.with_name(f"{path.name}.lock")
        self._device_path = path.with_name(f"{path.name}.device")
        self._within_process = threading.Lock()
        self._descriptor = -1

    def load(self) -> Tokens | None:
        """Return the tokens in the file, or ``None`` without a file."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Tokens)
        except FileNotFoundError:
            return None

    def save(self, tokens: Tokens | None) -> None:
        """Replace the file."""
        if tokens is None:
            self._path.unlink(missing_ok=True)
        else:
            write_durably(self._path, msgspec.json.encode(tokens))

    def load_device(self) -> str | None:
        """Return the id of the device in its file, or ``None`` without one."""
        try:
            return self._device_path.read_text("ascii")
        except FileNotFoundError:
            return None

    def save_device(self, device_id: str) -> None:
        """Replace the file of the device."""
        write_durably(self._device_path, device_id.encode("ascii"))

    def acquire(self) -> None:
        """Wait for the other threads, then for the other processes."""
        self._within_process.acquire()
        self._lock_path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._descriptor)

    def release(self) -> None:
        """Release the lock; closing the file does, also when the process ends."""
        os.close(self._descriptor)
        self._within_process.release()


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
