"""Keys for single purposes, derived from the secret of the deployment."""

import hmac
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

MIN_SECRET_LENGTH: Final = 32


class _SealRegistry(jwe.JWERegistry):
    # The default limit, 64 KiB, is for tokens of strangers; sealed texts are of this installation.
    max_ciphertext_length = 1024 * 1024


_SEAL_REGISTRY: Final = _SealRegistry(algorithms=["dir", "A256GCM"])


class SecretKeys:
    """Derives keys, computes keyed hashes, and encrypts.

    With another secret, existing hashes do not match and sealed texts cannot be decrypted.

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
        """A hash that identifies the secret without revealing it, in hexadecimal digits."""
        return self.derive("fingerprint").hex()

    def derive(self, purpose: str) -> bytes:
        """Return the 32-byte key for a purpose."""
        # No lock: two threads may derive the same key, which is harmless.
        key = self._derived.get(purpose)
        if key is None:
            key = self._derived[purpose] = hmac.digest(self._secret, purpose.encode(), "sha256")
        return key

    def hash(self, purpose: str, text: str) -> str:
        """Return a keyed hash (HMAC-SHA-256) of ``text`` in 64 hexadecimal digits."""
        key = self._derived.get(purpose) or self.derive(purpose)
        return hmac.digest(key, text.encode(), "sha256").hex()

    def seal(self, purpose: str, text: str) -> str:
        """Encrypt ``text`` as a JWE (RFC 7516) that :meth:`unseal` decrypts for the same purpose."""
        header = {"alg": "dir", "enc": "A256GCM"}
        # The purpose is encrypted with the text, so that a text of one purpose is refused for another.
        content = json.dumps([purpose, text], ensure_ascii=False).encode("utf-8", "surrogatepass")
        return jwe.encrypt_compact(header, content, self._sealing_key, registry=_SEAL_REGISTRY)

    def unseal(self, purpose: str, sealed: str) -> str:
        """Decrypt a text from :meth:`seal`.

        Raises:
            ValueError: the text was sealed with another secret or for another purpose.
        """
        try:
            token = jwe.decrypt_compact(sealed, self._sealing_key, registry=_SEAL_REGISTRY)
        except JoseError as error:
            raise ValueError("sealed with another secret") from error
        sealed_for, text = json.loads((token.plaintext or b"[]").decode("utf-8", "surrogatepass"))
        if sealed_for != purpose:
            raise ValueError("sealed for another purpose")
        return str(text)


def load_or_create_secret(path: Path) -> str:
    """Return the secret in a file. A missing file is created, readable only by its owner."""
    create_private_file(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="ascii").strip()


def create_private_file(path: Path, content: str) -> None:
    """Create a file atomically, readable only by its owner. An existing file is left unchanged."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    # The mode is set at the creation: a file restricted afterwards could be read in between.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, link() fails if another process has created the file in the meantime.
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        temporary.unlink()


def is_readable_by_others(path: Path) -> bool:
    """Return whether other users than the server's can read a file of secrets; no if there is none."""
    if not path.exists():
        return False
    status = path.stat()
    # Kubernetes (fsGroup) hands over secrets as files of root and of the own group of the server.
    is_handed_over = status.st_uid == 0 != os.geteuid() and status.st_gid == os.getegid()
    others = stat.S_IRWXO if is_handed_over else stat.S_IRWXG | stat.S_IRWXO
    return bool(status.st_mode & others)
