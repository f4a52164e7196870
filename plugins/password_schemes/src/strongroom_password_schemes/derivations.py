"""Slow hashes with caps on what they cost; each text is checked before anything is computed.

A stored text is in the PHC string format: ``$argon2id$v=19$m=,t=,p=$salt$hash``,
``$pbkdf2-sha256$i=,l=$salt$hash``, ``$scrypt$ln=,r=,p=$salt$hash``, or bcrypt's ``$2b$10$...``.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

from strongroom.plugin_api.password_schemes import HashRejected
from strongroom_password_schemes.members import unbase64

MIN_BCRYPT_COST, MAX_BCRYPT_COST = 4, 14
MAX_ARGON2_KIB: Final = 256 * 1024
MAX_ARGON2_PASSES: Final = 10
MAX_ARGON2_LANES: Final = 8
MIN_ARGON2_SALT: Final = 8
MAX_PBKDF2_ITERATIONS: Final = 2_000_000
MAX_SCRYPT_BYTES: Final = 256 * 1024 * 1024
MIN_DERIVED_BYTES, MAX_DERIVED_BYTES = 8, 128
MAX_SALT_BYTES: Final = 1024

BCRYPT_BYTES: Final = 72
"""What bcrypt reads of a password. bcrypt 5 refuses longer ones, which other libraries cut."""

_BCRYPT: Final = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_B64: Final = r"([A-Za-z0-9+/._-]+={0,2})"
_ARGON2: Final = re.compile(
    rf"\$(argon2(?:id|i|d))\$(?:v=(?:16|19)\$)?m=([0-9]{{1,10}}),t=([0-9]{{1,10}}),p=([0-9]{{1,10}})"
    rf"\${_B64}\${_B64}"
)
_PBKDF2: Final = re.compile(
    rf"\$pbkdf2-(sha1|sha224|sha256|sha384|sha512)\$i=([0-9]{{1,10}})(?:,l=([0-9]{{1,4}}))?"
    rf"\${_B64}\${_B64}"
)
_SCRYPT: Final = re.compile(
    rf"\$scrypt\$ln=([0-9]{{1,2}}),r=([0-9]{{1,9}}),p=([0-9]{{1,9}})\${_B64}\${_B64}"
)


def require(*, holds: bool, rule: str) -> None:
    """Require that a parameter is within its cap.

    Raises:
        HashRejected: it is not; ``rule`` is the message.
    """
    if not holds:
        raise HashRejected(rule)


def bcrypt_cost(stored: str) -> str:
    """Return the cost of a hash by bcrypt.

    Raises:
        HashRejected: it is malformed, or its cost is not 4 to 14.
    """
    match = _BCRYPT.fullmatch(stored)
    cost = int(match[1]) if match else 0
    rule = f"bcrypt needs a hash like $2b$10$... with a cost of {MIN_BCRYPT_COST} to {MAX_BCRYPT_COST}"
    require(holds=MIN_BCRYPT_COST <= cost <= MAX_BCRYPT_COST, rule=rule)
    return f"bcrypt={cost}"


def bcrypt_matches(secret: bytes, stored: str) -> bool:
    """Return whether the first 72 bytes of a secret match a hash by bcrypt.

    Raises:
        HashRejected: the hash is malformed or too expensive.
    """
    import bcrypt

    bcrypt_cost(stored)
    return bcrypt.checkpw(secret[:BCRYPT_BYTES], stored.encode())


def argon2_cost(stored: str) -> str:
    """Return the parameters of a hash by Argon2.

    Raises:
        HashRejected: it is malformed, or needs more than 256 MiB, 10 passes or 8 lanes.
    """
    match = _ARGON2.fullmatch(stored)
    if match is None:
        raise HashRejected("argon2 needs a hash like $argon2id$v=19$m=65536,t=3,p=4$salt$hash")
    memory, passes, lanes = (int(match[group]) for group in (2, 3, 4))
    require(holds=8 * lanes <= memory <= MAX_ARGON2_KIB, rule=f"argon2 m: at most {MAX_ARGON2_KIB}")
    require(holds=1 <= passes <= MAX_ARGON2_PASSES, rule=f"argon2 t: 1 to {MAX_ARGON2_PASSES}")
    require(holds=1 <= lanes <= MAX_ARGON2_LANES, rule=f"argon2 p: 1 to {MAX_ARGON2_LANES}")
    salt = unbase64(match[5])
    require(holds=len(salt) >= MIN_ARGON2_SALT, rule=f"argon2 salt: at least {MIN_ARGON2_SALT} bytes")
    _require_sizes(salt, unbase64(match[6]))
    return f"{match[1]},m={memory},t={passes},p={lanes}"


def argon2_matches(secret: bytes, stored: str) -> bool:
    """Return whether a secret matches a hash by Argon2.

    Raises:
        HashRejected: the hash is malformed or too expensive.
    """
    from argon2.exceptions import VerificationError, VerifyMismatchError
    from argon2.low_level import Type, verify_secret

    argon2_cost(stored)
    kind = {"argon2id": Type.ID, "argon2i": Type.I, "argon2d": Type.D}[stored.split("$")[1]]
    try:
        return verify_secret(stored.encode(), secret, kind)
    except VerifyMismatchError:
        return False
    except VerificationError as error:
        raise HashRejected("argon2 cannot decode the hash") from error


def pbkdf2_cost(stored: str) -> str:
    """Return the parameters of a hash by PBKDF2.

    Raises:
        HashRejected: it is malformed, or needs more than 2,000,000 iterations.
    """
    match = _PBKDF2.fullmatch(stored)
    if match is None:
        raise HashRejected("pbkdf2 needs a hash like $pbkdf2-sha256$i=600000,l=32$salt$hash")
    salt, derived = unbase64(match[4]), unbase64(match[5])
    _require_sizes(salt, derived)
    require(holds=match[3] is None or int(match[3]) == len(derived), rule="l: the bytes of the hash")
    # Each block of the derived key takes all iterations.
    blocks = -(-len(derived) // hashlib.new(match[1]).digest_size)
    iterations = int(match[2])
    rule = f"pbkdf2 needs 1 to {MAX_PBKDF2_ITERATIONS} iterations, of all blocks together"
    require(holds=iterations >= 1 and iterations * blocks <= MAX_PBKDF2_ITERATIONS, rule=rule)
    return f"pbkdf2-{match[1]},i={iterations},l={len(derived)}"


def pbkdf2_matches(secret: bytes, stored: str) -> bool:
    """Return whether a secret matches a hash by PBKDF2.

    Raises:
        HashRejected: the hash is malformed or too expensive.
    """
    pbkdf2_cost(stored)
    _, name, parameters, salt, text = stored.split("$")
    iterations = int(parameters.partition(",")[0].removeprefix("i="))
    derived = unbase64(text)
    computed = hashlib.pbkdf2_hmac(
        name.removeprefix("pbkdf2-"), secret, unbase64(salt), iterations, len(derived)
    )
    return hmac.compare_digest(computed, derived)


def require_scrypt(log_n: int, r: int, p: int) -> str:
    """Return the parameters of scrypt as text.

    Raises:
        HashRejected: they need more than 256 MiB.
    """
    size = 128 * 2**log_n * r * p
    rule = f"scrypt needs N >= 2 and 128*N*r*p of at most {MAX_SCRYPT_BYTES}"
    require(holds=log_n >= 1 and r >= 1 and p >= 1 and size <= MAX_SCRYPT_BYTES, rule=rule)
    return f"scrypt,ln={log_n},r={r},p={p}"


def derive_scrypt(secret: bytes, salt: bytes, log_n: int, r: int, p: int, length: int) -> bytes:
    """Return the key that scrypt derives.

    Raises:
        HashRejected: the parameters need more than 256 MiB.
    """
    require_scrypt(log_n, r, p)
    # Without maxmem, OpenSSL refuses more than 32 MiB, such as N = 2^15 with r = 8.
    maxmem = 128 * r * (2**log_n + p + 2)
    return hashlib.scrypt(secret, salt=salt, n=2**log_n, r=r, p=p, maxmem=maxmem, dklen=length)


def scrypt_cost(stored: str) -> str:
    """Return the parameters of a hash by scrypt.

    Raises:
        HashRejected: it is malformed, or needs more than 256 MiB.
    """
    match = _SCRYPT.fullmatch(stored)
    if match is None:
        raise HashRejected("scrypt needs a hash like $scrypt$ln=14,r=8,p=1$salt$hash")
    _require_sizes(unbase64(match[4]), unbase64(match[5]))
    return require_scrypt(int(match[1]), int(match[2]), int(match[3]))


def scrypt_matches(secret: bytes, stored: str) -> bool:
    """Return whether a secret matches a hash by scrypt.

    Raises:
        HashRejected: the hash is malformed or too expensive.
    """
    scrypt_cost(stored)
    log_n, r, p, salt, text = _SCRYPT.fullmatch(stored).groups()  # type: ignore[union-attr]
    derived = unbase64(text)
    sizes = int(log_n), int(r), int(p), len(derived)
    return hmac.compare_digest(derive_scrypt(secret, unbase64(salt), *sizes), derived)


def _require_sizes(salt: bytes, derived: bytes) -> None:
    require(holds=len(salt) <= MAX_SALT_BYTES, rule=f"the salt may have at most {MAX_SALT_BYTES} bytes")
    rule = f"the hash needs {MIN_DERIVED_BYTES} to {MAX_DERIVED_BYTES} bytes"
    require(holds=MIN_DERIVED_BYTES <= len(derived) <= MAX_DERIVED_BYTES, rule=rule)


_KINDS: Final[Mapping[str, str]] = {"$2": "bcrypt", "$a": "argon2", "$p": "pbkdf2", "$s": "scrypt"}
_COSTS: Final = {
    "bcrypt": bcrypt_cost,
    "argon2": argon2_cost,
    "pbkdf2": pbkdf2_cost,
    "scrypt": scrypt_cost,
}
_MATCHES: Final = {
    "bcrypt": bcrypt_matches,
    "argon2": argon2_matches,
    "pbkdf2": pbkdf2_matches,
    "scrypt": scrypt_matches,
}


def read_cost(stored: str) -> str:
    """Return the parameters of a hash by any of the functions.

    Raises:
        HashRejected: it is malformed or too expensive.
    """
    return _COSTS[_find_kind(stored)](stored)


def matches(secret: bytes, stored: str) -> bool:
    """Return whether a secret matches a hash by any of the functions.

    Raises:
        HashRejected: the hash is malformed or too expensive.
    """
    return _MATCHES[_find_kind(stored)](secret, stored)


def _find_kind(stored: str) -> str:
    kind = _KINDS.get(stored[:2])
    if kind is None:
        raise HashRejected("hash must begin with $2, $argon2, $pbkdf2 or $scrypt")
    return kind
