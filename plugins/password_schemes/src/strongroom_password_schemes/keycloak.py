"""Credentials of a Keycloak export, rewritten in the PHC string format."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.password_schemes import HashRejected, ImportedHash, Json, PasswordScheme
from strongroom_password_schemes import derivations
from strongroom_password_schemes.members import (
    get_text,
    is_exported,
    read_object,
    read_whole,
    to_base64,
    unbase64,
)

_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}
_ARGON2_VERSIONS: Final = {"1.0": 16, "1.3": 19}


class Keycloak(PasswordScheme):
    """PBKDF2 and Argon2 of Keycloak.

    Members: ``credentialData`` and ``secretData`` of the credential, as objects or as JSON text.
    """

    name = "keycloak"

    def parse(self, described: Json) -> ImportedHash:
        if is_exported(described):
            stored = get_text(described, "hash")
        else:
            stored = _make_phc(
                read_object(described, "credentialData"), read_object(described, "secretData")
            )
        return ImportedHash(stored, derivations.read_cost(stored))

    def verify(self, password: str, stored: str) -> bool:
        return derivations.matches(password.encode(), stored)


def _make_phc(data: Mapping[str, Any], secret: Mapping[str, Any]) -> str:
    algorithm, iterations = get_text(data, "algorithm"), read_whole(data, "hashIterations")
    salt, value = (unbase64(get_text(secret, name), name) for name in ("salt", "value"))
    texts = f"${to_base64(salt)}${to_base64(value)}"
    if algorithm in _DIGESTS:
        return f"$pbkdf2-{_DIGESTS[algorithm]}$i={iterations},l={len(value)}{texts}"
    if algorithm != "argon2":
        raise HashRejected(f"algorithm must be argon2 or one of: {', '.join(_DIGESTS)}")
    parameters = {
        name: _first(values) for name, values in read_object(data, "additionalParameters").items()
    }
    version = _ARGON2_VERSIONS.get(get_text(parameters, "version", "1.3"), 0)
    memory, lanes = read_whole(parameters, "memory"), read_whole(parameters, "parallelism")
    kind = get_text(parameters, "type", "id")
    return f"$argon2{kind}$v={version}$m={memory},t={iterations},p={lanes}{texts}"


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, list) and values else values
