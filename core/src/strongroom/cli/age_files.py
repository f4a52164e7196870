"""Files that are encrypted in the format of age (https://age-encryption.org/v1)."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import BinaryIO, Final, Self

import click

_BEGINNING: Final = b"age-encryption.org/"
_EXTRA: Final = 'encrypted files need the extra "age": pip install "strongroom[age]"'


class Encryption:
    """Encrypts to recipients, or by a passphrase.

    A file for recipients is encrypted while it is written. With a passphrase it is in memory.

    Raises:
        click.ClickException: a recipient is malformed, or the extra is not installed.
    """

    def __init__(self, recipients: Sequence[str], passphrase_file: Path | None) -> None:
        self._age = _age()
        self._passphrase = None if passphrase_file is None else _passphrase(passphrase_file)
        try:
            self._recipients = [self._age.x25519.Recipient.from_str(text) for text in recipients]
        except self._age.RecipientError as error:
            raise click.ClickException(f"a recipient is not one of age: {error}") from error

    def write(self, pieces: Iterator[bytes], output: BinaryIO) -> None:
        """Write the encrypted pieces."""
        if self._passphrase is None:
            self._age.encrypt_io(_Pieces(pieces), output, self._recipients)
        else:
            output.write(self._age.passphrase.encrypt(b"".join(pieces), self._passphrase))


class _Pieces:
    """A readable file of pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes; none at the end."""
        self._rest = self._rest or next(self._pieces, b"")
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece


def is_encrypted(file: BinaryIO) -> bool:
    """Return whether a buffered file begins as one of age, without reading on."""
    peek = getattr(file, "peek", None)
    return peek is not None and peek(len(_BEGINNING)).startswith(_BEGINNING)


@contextmanager
def decrypted(
    file: BinaryIO, identity_file: Path | None, passphrase_file: Path | None
) -> Iterator["Decrypted | _Whole"]:
    """Open an encrypted file.

    Raises:
        click.ClickException: the file of the identity is malformed, or the extra is not installed.
    """
    age = _age()
    if passphrase_file is not None:
        try:
            content = age.passphrase.decrypt(file.read(), _passphrase(passphrase_file))
        except age.DecryptError as error:
            raise click.ClickException(f"the file cannot be decrypted: {error}") from error
        yield _Whole(content)
    elif identity_file is not None:
        with Decrypted(age, file, _identities(age, identity_file)) as source:
            yield source
    else:
        raise click.UsageError("the file is encrypted: give --identity or --passphrase-file")


class _Whole:
    """A decrypted file that is in memory."""

    def __init__(self, content: bytes) -> None:
        self._rest = memoryview(content)

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; none at the end."""
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)


class Decrypted:
    """A file that a thread decrypts while it is read. A pipe bounds the memory."""

    def __init__(self, age: ModuleType, file: BinaryIO, identities: Sequence[object]) -> None:
        self._age = age
        self._error: Exception | None = None
        reader, writer = os.pipe()
        self._reader, self._writer = os.fdopen(reader, "rb"), os.fdopen(writer, "wb")
        self._thread = Thread(target=self._decrypt, args=(file, identities), daemon=True)

    def read(self, size: int, /) -> bytes:
        """Return at most ``size`` bytes; none at the end.

        Raises:
            click.ClickException: the file was changed or cut off, or is for other recipients.
        """
        piece = self._reader.read(size)
        if not piece:
            self._thread.join()
            if self._error is not None:
                message = f"the file cannot be decrypted: {self._error}"
                raise click.ClickException(message) from self._error
        return piece

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        # The thread ends, because its pipe is broken.
        self._reader.close()
        self._thread.join()

    def _decrypt(self, file: BinaryIO, identities: Sequence[object]) -> None:
        try:
            with self._writer:
                self._age.decrypt_io(file, self._writer, identities)
        except (self._age.DecryptError, OSError, ValueError) as error:
            self._error = error
            with suppress(OSError):
                self._writer.close()


def _age() -> ModuleType:
    try:
        import pyrage
    except ImportError as error:
        raise click.ClickException(_EXTRA) from error
    module: ModuleType = pyrage
    return module


def _passphrase(path: Path) -> str:
    """Return the first line of a file."""
    line, *_ = [*path.read_text(encoding="utf-8").splitlines(), ""]
    if not line:
        raise click.ClickException(f"{path} has no passphrase")
    return line


def _identities(age: ModuleType, path: Path) -> list[object]:
    lines = path.read_text(encoding="utf-8").split()
    texts = [text for text in lines if text.startswith("AGE-SECRET-KEY-")]
    try:
        identities = [age.x25519.Identity.from_str(text) for text in texts]
    except age.IdentityError as error:
        raise click.ClickException(f"{path} has no identity of age: {error}") from error
    if not identities:
        raise click.ClickException(f"{path} has no identity of age")
    return identities
