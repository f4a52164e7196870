"""The accounts: a file with a line ``name:salt:hash`` for each, hashed by scrypt (RFC 7914)."""

import getpass
import hashlib
import hmac
import secrets
import sys
from pathlib import Path

_NOBODY = ("00" * 16, "")
"""What stands for an account that does not exist, so that the time tells nothing."""


def line(name: str, password: str) -> str:
    """Return the line of an account."""
    salt = secrets.token_hex(16)
    return f"{name}:{salt}:{_hash(password, salt)}\n"


def is_right(path: Path, name: str, password: str) -> bool:
    """Return whether there is such an account, and the password is its own."""
    lines = (text.rsplit(":", 2) for text in path.read_text().splitlines())
    accounts = {known: (salt, digest) for known, salt, digest in lines}
    salt, digest = accounts.get(name, _NOBODY)
    return hmac.compare_digest(_hash(password, salt), digest)


def _hash(password: str, salt: str) -> str:
    key = password.encode("utf-8", "replace")
    return hashlib.scrypt(key, salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()


if __name__ == "__main__":
    sys.stdout.write(line(sys.argv[1], getpass.getpass()))
