"""The text of access keys: ``srk_``, an id, a secret and a checksum.

The checksum and the prefix let scanners find leaked keys without false alarms, as
``srk_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{49}``.
"""

import hashlib
import re
import secrets
import string
import zlib
from dataclasses import dataclass, field
from typing import Final

from strongroom.plugin_api.authentication import ACCESS_KEY_PREFIX

_ALPHABET: Final = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ID_LENGTH: Final = 8
_SECRET_BYTES: Final = 32
_CHECKSUM_LENGTH: Final = 6
_FORM: Final = re.compile(
    ACCESS_KEY_PREFIX + r"(?P<id>[A-Za-z0-9]{8})_(?P<secret>[A-Za-z0-9_-]{43})(?P<sum>[A-Za-z0-9]{6})"
)


@dataclass(frozen=True, slots=True)
class KeyText:
    """The id and the secret of an access key."""

    id: str
    secret: str = field(repr=False)

    @property
    def hash(self) -> str:
        """SHA-256 of the secret, in hexadecimal digits."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    @property
    def text(self) -> str:
        """The whole key, as clients present it."""
        body = f"{ACCESS_KEY_PREFIX}{self.id}_{self.secret}"
        return body + _checksum(body)


def new_id() -> str:
    """Return a random id of an access key."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_ID_LENGTH))


def new_key(key_id: str) -> KeyText:
    """Return a key with a new secret of 256 bits."""
    return KeyText(key_id, secrets.token_urlsafe(_SECRET_BYTES))


def parse_key(text: str) -> KeyText | None:
    """Parse an access key; return ``None`` if its form or its checksum is wrong."""
    match = _FORM.fullmatch(text)
    if match is None or _checksum(text[:-_CHECKSUM_LENGTH]) != match["sum"]:
        return None
    return KeyText(match["id"], match["secret"])


def _checksum(body: str) -> str:
    """Return the CRC-32 of a text in base 62, padded with zeros."""
    value, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        value, digit = divmod(value, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
