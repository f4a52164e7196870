"""Keys for single purposes, derived from the one secret of the deployment."""

import hmac
import json
import os
import secrets
from pathlib import Path
from typing import Final

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

MIN_SECRET_LENGTH: Final = 32

_SEAL_ALGORITHMS: Final = ["dir", "A256GCM"]


class SecretKeys:
    """Derives, hashes and seals. Everything here is void without the secret.

    Args:
        secret: at least :data:`MIN_SECRET_LENGTH` characters.

    Raises:
        ValueError: the secret is shorter.
    """

    def __init__(self, secret: str) -> None:
        if len(secret) < MIN_SECRET_LENGTH:
            raise ValueError(f"must have at least {MIN_SECRET_LENGTH} characters")
        self._secret = secret.encode()
        self._derived: dict[str, bytes] = {}
        self._sealing_key = OctKey.import_key(self.derive("sealing"))

    @property
    def fingerprint(self) -> str:
        """A hash by which a secret is recognized, and from which it cannot be computed."""
        return self.derive("fingerprint").hex()

    def derive(self, purpose: str) -> bytes:
        """Return the 32-byte key of a purpose."""
        key = self._derived.get(purpose)
        if key is None:
            key = self._derived[purpose] = hmac.digest(self._secret, purpose.encode(), "sha256")
        return key

    def hash(self, purpose: str, text: str) -> str:
        """Return a keyed hash of ``text``, in 64 hexadecimal digits."""
        return hmac.digest(self.derive(purpose), text.encode(), "sha256").hex()

    def seal(self, purpose: str, text: str) -> str:
        """Encrypt ``text``, so that :meth:`unseal` gives it back for the same purpose (RFC 7516)."""
        header = {"alg": "dir", "enc": "A256GCM"}
        content = json.dumps([purpose, text]).encode()
        return jwe.encrypt_compact(header, content, self._sealing_key, algorithms=_SEAL_ALGORITHMS)

    def unseal(self, purpose: str, sealed: str) -> str:
        """Decrypt what :meth:`seal` made.

        Raises:
            ValueError: it was made with another secret or for another purpose.
        """
        try:
            token = jwe.decrypt_compact(sealed, self._sealing_key, algorithms=_SEAL_ALGORITHMS)
        except JoseError as error:
            raise ValueError("sealed with another secret") from error
        found, text = json.loads(token.plaintext or b"[]")
        if found != purpose:
            raise ValueError("sealed for another purpose")
        return str(text)


def load_or_create_secret(path: Path) -> str:
    """Return the secret kept in a file, which is made, readable by its owner alone, if it is missing."""
    create_private_file(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="ascii").strip()


def create_private_file(path: Path, content: str) -> None:
    """Write a file that only its owner can read, unless it exists; it is never seen half written."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        temporary.unlink()
