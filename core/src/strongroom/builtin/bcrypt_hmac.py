"""The core's own password hashes: bcrypt of an HMAC."""

import base64
import hmac
import re
import unicodedata
from typing import Final

import bcrypt

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.password_schemes import (
    HashRejected,
    ImportedHash,
    Json,
    NewPasswordScheme,
    PasswordScheme,
)

API_VERSION = "2.0"

# The costs that the configuration accepts.
_HASH: Final = re.compile(r"\$2b\$(?:0[4-9]|1[0-8])\$[./0-9A-Za-z]{53}")


class BcryptHmac(NewPasswordScheme):
    """Hashes passwords by bcrypt.

    bcrypt reads at most 72 bytes and stops at NUL. With the pre-hash (HMAC-SHA-256, then base64), every
    character of a password counts, and a stolen table is worthless without the key.

    An import accepts its hashes, because another server with the same secret key can have made them.
    """

    name = "bcrypt_hmac"

    def parse(self, described: Json) -> ImportedHash:
        stored = described.get("hash")
        if not isinstance(stored, str) or not _HASH.fullmatch(stored):
            raise HashRejected("hash must be one of this server's, beginning with $2b$")
        return ImportedHash(stored)

    def hash(self, password: str) -> str:
        return bcrypt.hashpw(self._prehash(password), bcrypt.gensalt(self.cost)).decode()

    def verify(self, password: str, stored: str) -> bool:
        return bcrypt.checkpw(self._prehash(password), stored.encode())

    def is_outdated(self, stored: str) -> bool:
        return _read_cost(stored) != self.cost

    def pad(self, password: str, stored: str) -> None:
        # To the time of the configured cost: 2^c + (2^c + 2^(c+1) + ... + 2^(cost-1)) = 2^cost.
        for cost in range(_read_cost(stored), self.cost):
            bcrypt.hashpw(self._prehash(password), bcrypt.gensalt(cost))

    def _prehash(self, password: str) -> bytes:
        # NFC, because keyboards differ in how they compose accented characters.
        normalized = unicodedata.normalize("NFC", password).encode()
        return base64.b64encode(hmac.digest(self.key, normalized, "sha256"))


def _read_cost(stored: str) -> int:
    return int(stored.split("$")[2])


@hookimpl
def register_password_schemes() -> list[type[PasswordScheme]]:
    return [BcryptHmac]
