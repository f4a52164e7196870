"""Firebase's variant of scrypt, which encrypts the signer key of the project with the derived key."""

import hmac
import re
from typing import Final

from strongroom.plugin_api.password_schemes import HashRejected, ImportedHash, Json, PasswordScheme
from strongroom_password_schemes.derivations import (
    MAX_SALT_BYTES,
    derive_scrypt,
    require,
    require_scrypt,
)
from strongroom_password_schemes.members import get_text, read_whole, to_base64, unbase64

_KEY_BYTES: Final = 32
_PARTS: Final = ("salt", "saltSeparator", "signerKey", "hash")
_STORED: Final = re.compile(r"\$firebase\$ln=([0-9]{1,2}),r=([0-9]{1,9})((?:\$[A-Za-z0-9+/]*){4})")


class Firebase(PasswordScheme):
    """Hashes of ``firebase auth:export``, with the parameters of the project.

    Members: ``hash`` and ``salt`` of the user; ``signerKey``, ``saltSeparator``, ``rounds`` and
    ``memCost`` of the project.
    """

    name = "firebase"

    def parse(self, described: Json) -> ImportedHash:
        match = _STORED.fullmatch(get_text(described, "hash"))
        if match:
            # The text that this server stores, and exports.
            texts = zip(_PARTS, match[3].split("$")[1:], strict=True)
            described = dict(texts, rounds=match[2], memCost=match[1])
        rounds, log_n = read_whole(described, "rounds"), read_whole(described, "memCost")
        parts = [unbase64(get_text(described, name), name) for name in _PARTS]
        require(holds=max(map(len, parts)) <= MAX_SALT_BYTES, rule="firebase: a member is too long")
        rule = "firebase needs a hash as long as the signer key"
        require(holds=0 < len(parts[2]) == len(parts[3]), rule=rule)
        cost = require_scrypt(log_n, rounds, 1)
        encoded = "".join(f"${to_base64(part)}" for part in parts)
        return ImportedHash(f"$firebase$ln={log_n},r={rounds}{encoded}", f"firebase-{cost}")

    def verify(self, password: str, stored: str) -> bool:
        match = _STORED.fullmatch(stored)
        if match is None:
            raise HashRejected("firebase cannot decode the hash")
        salt, separator, signer_key, expected = map(unbase64, match[3].split("$")[1:])
        sizes = int(match[1]), int(match[2]), 1, _KEY_BYTES
        key = derive_scrypt(password.encode(), salt + separator, *sizes)
        return hmac.compare_digest(_encrypt(key, signer_key), expected)


def _encrypt(key: bytes, content: bytes) -> bytes:
    """Encrypt by AES-256-CTR whose counter begins at 0."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return encryptor.update(content) + encryptor.finalize()
