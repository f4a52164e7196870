"""The format of objects: age v1 (https://age-encryption.org/v1) with two recipient stanzas.

The stanza ``X25519`` lets any age tool read the object with the exported key of the tenant. Strongroom
reads the stanza ``strongroom/v1`` instead: it names the tenant key, and wraps the file key together with
the key of the object, so that an object is refused in the place of another one. Every header has the
same length, so the size and the pieces of an object can be computed.
"""

import hmac
import re
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

PIECE: Final = 64 * 1024
TAG: Final = 16
SEALED_PIECE: Final = PIECE + TAG
FILE_KEY_BYTES: Final = 16
PAYLOAD_NONCE_BYTES: Final = 16
_WRAP_NONCE_BYTES: Final = 12
_X25519: Final = b"age-encryption.org/v1/X25519"

_HEADER: Final = re.compile(
    rb"(age-encryption\.org/v1\n"
    rb"-> X25519 [A-Za-z0-9+/]{43}\n[A-Za-z0-9+/]{43}\n"
    rb"-> strongroom/v1 ([0-9a-f]{32}) ([0-9a-f]{32})\n([A-Za-z0-9+/]{59})\n"
    rb"---) ([A-Za-z0-9+/]{43})\n"
)
HEADER_BYTES: Final = 22 + 10 + 44 + 44 + 17 + 33 + 33 + 60 + 4 + 44
"""The length of each header."""

PREFIX_BYTES: Final = HEADER_BYTES + PAYLOAD_NONCE_BYTES
"""The number of bytes before the first piece."""


class WrongKey(Exception):
    """A key does not open what it should, or the bytes were changed."""


@dataclass(frozen=True, slots=True)
class KeyName:
    """The name of a tenant key: random or hashed, so that it reveals no tenant. 32 digits each."""

    scope: str
    id: str


class TenantKey:
    """A key that wraps the file keys of one tenant.

    Args:
        secret: 32 random bytes.
    """

    def __init__(self, name: KeyName, secret: bytes) -> None:
        self.name = name
        self.secret = secret
        self._cipher = ChaCha20Poly1305(_derive(secret, b"strongroom/v1/wrap"))
        self.identity = X25519PrivateKey.from_private_bytes(secret)
        self._recipient = self.identity.public_key().public_bytes_raw()

    def header(self, object_key: str, file_key: bytes) -> bytes:
        """Return the header of an object."""
        nonce = secrets.token_bytes(_WRAP_NONCE_BYTES)
        bound = nonce + self._cipher.encrypt(nonce, file_key, object_key.encode())
        share, wrapped = self._wrap_for_age(file_key)
        text = (
            f"age-encryption.org/v1\n-> X25519 {_base64(share)}\n{_base64(wrapped)}\n"
            f"-> strongroom/v1 {self.name.scope} {self.name.id}\n{_base64(bound)}\n---"
        ).encode()
        return text + f" {_base64(_mac(file_key, text))}\n".encode()

    def open(self, header: "Header", object_key: str) -> bytes:
        """Return the file key of a header.

        Raises:
            WrongKey: the header was changed, or belongs to another object.
        """
        nonce, wrapped = header.bound[:_WRAP_NONCE_BYTES], header.bound[_WRAP_NONCE_BYTES:]
        try:
            file_key = self._cipher.decrypt(nonce, wrapped, object_key.encode())
        except InvalidTag as error:
            raise WrongKey("its header belongs to another object, or was changed") from error
        if not hmac.compare_digest(_mac(file_key, header.authenticated), header.mac):
            raise WrongKey("its header was changed")
        return file_key

    def _wrap_for_age(self, file_key: bytes) -> tuple[bytes, bytes]:
        ephemeral = X25519PrivateKey.generate()
        share = ephemeral.public_key().public_bytes_raw()
        shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(self._recipient))
        key = _derive(shared, _X25519, salt=share + self._recipient)
        return share, ChaCha20Poly1305(key).encrypt(bytes(12), file_key, None)


@dataclass(frozen=True, slots=True)
class Header:
    """A parsed header."""

    key_name: KeyName
    bound: bytes
    authenticated: bytes
    mac: bytes


def parse_header(content: bytes) -> Header:
    """Parse the first :data:`HEADER_BYTES` of an object.

    Raises:
        WrongKey: they are no header.
    """
    match = _HEADER.fullmatch(content)
    if match is None:
        raise WrongKey("it has no header of an encrypted object")
    name = KeyName(match[2].decode(), match[3].decode())
    return Header(name, b64decode(match[4] + b"="), match[1], b64decode(match[5] + b"="))


class Pieces:
    """Encrypts and decrypts the pieces of one object.

    The nonce of a piece is its number, and whether it is the last: so pieces cannot be reordered, and
    the end of an object cannot be cut off.
    """

    def __init__(self, file_key: bytes, payload_nonce: bytes) -> None:
        self._cipher = ChaCha20Poly1305(_derive(file_key, b"payload", salt=payload_nonce))

    def seal(self, number: int, piece: bytes | memoryview, *, is_last: bool) -> bytes:
        """Encrypt a piece of :data:`PIECE` bytes; only the last may be shorter."""
        return self._cipher.encrypt(_nonce(number, is_last), piece, None)

    def open(self, number: int, sealed: bytes | memoryview, *, is_last: bool | None) -> bytes:
        """Decrypt a piece.

        Args:
            number: its number, from 0.
            is_last: whether it must be the last; ``None``: it may be.

        Raises:
            WrongKey: it was changed, or is another piece.
        """
        for last in (False, True) if is_last is None else (is_last,):
            try:
                return self._cipher.decrypt(_nonce(number, last), sealed, None)
            except InvalidTag:
                continue
        raise WrongKey(f"its piece {number} was changed, or is not the last")


def sealed_size(size: int) -> int:
    """Return the size of an object with ``size`` bytes of content."""
    pieces = max(1, -(-size // PIECE))
    return PREFIX_BYTES + size + pieces * TAG


def content_size(sealed: int) -> int:
    """Return the size of the content of an object; the inverse of :func:`sealed_size`."""
    payload = sealed - PREFIX_BYTES
    return max(0, payload - TAG * -(-payload // SEALED_PIECE))


def _nonce(number: int, is_last: bool) -> bytes:
    return (number << 8 | is_last).to_bytes(12)


def _derive(key: bytes, info: bytes, *, salt: bytes | None = None) -> bytes:
    return HKDF(SHA256(), 32, salt, info).derive(key)


def _mac(file_key: bytes, text: bytes) -> bytes:
    return hmac.digest(_derive(file_key, b"header"), text, "sha256")


def _base64(content: bytes) -> str:
    return b64encode(content).decode().rstrip("=")


_CHARSET: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def age_identity(secret: bytes) -> str:
    """Return a tenant key as an identity of age: Bech32 (BIP 173) of the 32 bytes."""
    bits = int.from_bytes(secret) << 4  # 256 bits, padded to a multiple of 5
    data = [bits >> shift & 31 for shift in range(255, -1, -5)]
    prefix = "age-secret-key-"
    spread = [*(ord(letter) >> 5 for letter in prefix), 0, *(ord(letter) & 31 for letter in prefix)]
    checksum = _polymod([*spread, *data, 0, 0, 0, 0, 0, 0]) ^ 1
    data += [checksum >> shift & 31 for shift in range(25, -1, -5)]
    return f"{prefix}1{''.join(_CHARSET[value] for value in data)}".upper()


def _polymod(values: list[int]) -> int:
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for index, generator in enumerate(_GENERATOR):
            checksum ^= generator if top >> index & 1 else 0
    return checksum
