"""Hashes that name their own parameters: bcrypt, Argon2, PBKDF2, WordPress, phpass and Django."""

import base64
import hashlib
import hmac
import re
from typing import Final

from strongroom.plugin_api.password_schemes import HashRejected, ImportedHash, Json, PasswordScheme
from strongroom_password_schemes import derivations
from strongroom_password_schemes.derivations import require
from strongroom_password_schemes.members import get_text, to_base64, unbase64


class Bcrypt(PasswordScheme):
    """bcrypt of the password: Laravel, Supabase, Auth0 and others. Only its first 72 bytes count."""

    name = "bcrypt"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        return ImportedHash(stored, derivations.bcrypt_cost(stored))

    def verify(self, password: str, stored: str) -> bool:
        return derivations.bcrypt_matches(password.encode(), stored)


class Argon2(PasswordScheme):
    """Argon2 in the PHC string format."""

    name = "argon2"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        return ImportedHash(stored, derivations.argon2_cost(stored))

    def verify(self, password: str, stored: str) -> bool:
        return derivations.argon2_matches(password.encode(), stored)


class Pbkdf2(PasswordScheme):
    """PBKDF2 as ``$pbkdf2-sha256$i=ITERATIONS,l=BYTES$SALT$HASH``."""

    name = "pbkdf2"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        return ImportedHash(stored, derivations.pbkdf2_cost(stored))

    def verify(self, password: str, stored: str) -> bool:
        return derivations.pbkdf2_matches(password.encode(), stored)


_ITOA64: Final = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PHPASS: Final = re.compile(r"\$[PH]\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})")
MAX_PHPASS_LOG2: Final = 16


class Phpass(PasswordScheme):
    """Iterated MD5 of phpass: WordPress before 6.8, phpBB."""

    name = "phpass"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        return ImportedHash(stored, f"phpass={_phpass_log2(stored)}")

    def verify(self, password: str, stored: str) -> bool:
        return _phpass_matches(password, stored)


def _phpass_matches(password: str, stored: str) -> bool:
    rounds, salt, secret = 2 ** _phpass_log2(stored), stored[4:12].encode(), password.encode()
    digest = _md5(salt + secret)
    for _ in range(rounds):
        digest = _md5(digest + secret)
    return hmac.compare_digest(_itoa64(digest), stored[12:])


def _md5(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()


def _phpass_log2(stored: str) -> int:
    match = _PHPASS.fullmatch(stored)
    log2 = _ITOA64.index(match[1]) if match else -1
    rule = f"phpass needs a hash like $P$B... of at most 2^{MAX_PHPASS_LOG2} rounds"
    require(holds=0 <= log2 <= MAX_PHPASS_LOG2, rule=rule)
    return log2


def _itoa64(digest: bytes) -> str:
    """Encode as phpass does: groups of three bytes, the least significant six bits first."""
    text = []
    for start in range(0, len(digest), 3):
        group = digest[start : start + 3]
        value = int.from_bytes(group, "little")
        text += [_ITOA64[value >> 6 * place & 63] for place in range(len(group) + 1)]
    return "".join(text)


# What PHP's trim() removes.
_PHP_BLANKS: Final = " \t\n\r\0\x0b"
_WORDPRESS: Final = "$wp"


class WordPress(PasswordScheme):
    """``$wp$2y$`` of WordPress 6.8, and the hashes of users who have not logged in since."""

    name = "wordpress"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        if stored.startswith(("$P$", "$H$")):
            return ImportedHash(stored, f"phpass={_phpass_log2(stored)}")
        return ImportedHash(stored, derivations.bcrypt_cost(stored.removeprefix(_WORDPRESS)))

    def verify(self, password: str, stored: str) -> bool:
        trimmed = password.strip(_PHP_BLANKS)
        if stored.startswith(("$P$", "$H$")):
            return _phpass_matches(trimmed, stored)
        if not stored.startswith(_WORDPRESS):
            return derivations.bcrypt_matches(trimmed.encode(), stored)
        prehash = hmac.digest(b"wp-sha384", trimmed.encode(), "sha384")
        return derivations.bcrypt_matches(base64.b64encode(prehash), stored.removeprefix(_WORDPRESS))


_DJANGO_PBKDF2: Final = re.compile(r"pbkdf2_(sha1|sha256)\$([0-9]+)\$([^$]+)\$([^$]+)")
_DJANGO_SCRYPT: Final = re.compile(r"scrypt\$([0-9]+)\$([^$]+)\$([0-9]+)\$([0-9]+)\$([^$]+)")


class Django(PasswordScheme):
    """The hashers of Django: PBKDF2, bcrypt, bcrypt over SHA-256, scrypt and Argon2."""

    name = "django"

    def parse(self, described: Json) -> ImportedHash:
        stored = get_text(described, "hash")
        return ImportedHash(stored, derivations.read_cost(_phc_of_django(stored)))

    def verify(self, password: str, stored: str) -> bool:
        secret = password.encode()
        if stored.startswith("bcrypt_sha256$"):
            secret = hashlib.sha256(secret).hexdigest().encode()
        return derivations.matches(secret, _phc_of_django(stored))


def _phc_of_django(stored: str) -> str:
    """Return the same hash in the PHC string format."""
    algorithm, _, rest = stored.partition("$")
    if algorithm in ("bcrypt", "bcrypt_sha256"):
        return rest
    if algorithm == "argon2":
        return f"${rest}"
    if match := _DJANGO_PBKDF2.fullmatch(stored):
        name, iterations, salt, derived = match.groups()
        return f"$pbkdf2-{name}$i={iterations}${_salt(salt)}${_b64(derived)}"
    if match := _DJANGO_SCRYPT.fullmatch(stored):
        n, salt, r, p, derived = match.groups()
        return f"$scrypt$ln={log2_of(n)},r={r},p={p}${_salt(salt)}${_b64(derived)}"
    raise HashRejected("django needs a hash like pbkdf2_sha256$600000$salt$hash")


def _salt(text: str) -> str:
    # Django's salts are text.
    return to_base64(text.encode())


def _b64(text: str) -> str:
    return to_base64(unbase64(text))


def log2_of(text: str) -> int:
    """Return the logarithm of a power of two in text.

    Raises:
        HashRejected: it is no power of two.
    """
    n = int(text) if re.fullmatch(r"[0-9]{1,10}", text) else 0
    require(holds=n > 1 and n & (n - 1) == 0, rule="scrypt needs an N that is a power of 2")
    return n.bit_length() - 1
