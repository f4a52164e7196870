"""Password hashers of tests."""

from typing import Any

from strongroom.builtin.bcrypt_hmac import BcryptHmac
from strongroom.identity.users.password_hashing import PasswordHasher
from strongroom.plugin_api import NoOptions


def make_hasher(key: bytes = b"k" * 32, *, cost: int, **options: Any) -> PasswordHasher:
    """Return a hasher whose own scheme has a key and a cost; the options are those of the hasher."""
    return PasswordHasher(BcryptHmac(NoOptions(), key, cost), **options)
