"""Imports of users, and hashes of six systems for them."""

import base64
import hashlib
import hmac
import io
import json
from collections.abc import Iterable
from typing import Any, Final

import bcrypt
from argon2.low_level import Type, hash_secret

from strongroom.assembly.container import Container
from strongroom.extensions.user_imports.models import LineError, OnTakenUser, UserImport
from strongroom.extensions.user_imports.service import UserImports
from strongroom.extensions.user_imports.store import ImportOptions
from strongroom.extensions.user_imports.worker import ImportWorker
from strongroom.foundation.caller import Origin

IMPORTED_PASSWORD: Final = "OtherSystem7"
_SECRET: Final = IMPORTED_PASSWORD.encode()
_SALT: Final = b"0123456789abcdef"


def _b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bcrypt(secret: bytes) -> str:
    return bcrypt.hashpw(secret, bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$")


_PBKDF2: Final = hashlib.pbkdf2_hmac("sha256", _SECRET, _SALT, 1000)
SIX_SCHEMES: Final[tuple[dict[str, Any], ...]] = (
    {"algorithm": "bcrypt", "hash": _bcrypt(_SECRET)},
    {"algorithm": "argon2", "hash": hash_secret(_SECRET, _SALT, 1, 64, 1, 32, Type.ID).decode()},
    {
        "algorithm": "wordpress",
        "hash": "$wp"
        + _bcrypt(base64.b64encode(hmac.digest(b"wp-sha384", _SECRET, "sha384"))).replace(
            "$2b$", "$2y$"
        ),
    },
    {"algorithm": "django", "hash": f"pbkdf2_sha256$1000${_SALT.decode()}${_b64(_PBKDF2)}"},
    {
        "algorithm": "keycloak",
        "credentialData": json.dumps({"algorithm": "pbkdf2-sha256", "hashIterations": 1000}),
        "secretData": json.dumps({"value": _b64(_PBKDF2), "salt": _b64(_SALT)}),
    },
    {
        "algorithm": "auth0",
        "custom_password_hash": {
            "algorithm": "md5",
            "hash": {"value": hashlib.md5(_SECRET).hexdigest(), "encoding": "hex"},
        },
    },
)
"""The hashes of :data:`IMPORTED_PASSWORD`."""

Lines = Iterable[dict[str, Any] | bytes]


def ndjson(lines: Lines) -> bytes:
    """Return lines as the body of an import."""
    return b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )


def receive_import(
    container: Container, lines: Lines, on_conflict: str = "fail", **options: bool
) -> UserImport:
    """Create an import, without processing it."""
    chosen = ImportOptions(OnTakenUser(on_conflict), **options)
    return container.get(UserImports).create(io.BytesIO(ndjson(lines)), chosen, None, Origin())


def import_users(
    container: Container, lines: Lines, on_conflict: str = "fail", **options: bool
) -> UserImport:
    """Import users, and return the import when it has ended."""
    job = receive_import(container, lines, on_conflict, **options)
    container.get(ImportWorker).run_due()
    return container.get(UserImports).get(job.id)


def errors_of(container: Container, job: UserImport) -> list[LineError]:
    """Return why lines of an import were refused."""
    return list(container.get(UserImports).errors(job.id))
