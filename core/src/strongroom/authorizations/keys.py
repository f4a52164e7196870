"""The keys that sign access tokens: a JWK Set (RFC 7517) whose first key signs and all verify."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey

from strongroom.ids import new_id
from strongroom.secret_keys import create_private_file

MIN_HMAC_BITS: Final = 256
MIN_RSA_BITS: Final = 2048

Key = OctKey | RSAKey

_TYPES: Final[Mapping[str, type[OctKey] | type[RSAKey]]] = {"HS256": OctKey, "RS256": RSAKey}


class KeyRingError(Exception):
    """The key file cannot be used. The text is one line that says what to do."""


class KeyRing:
    """The keys of one algorithm."""

    def __init__(self, algorithm: str, keys: list[Key]) -> None:
        self.algorithm = algorithm
        self._keys = {str(key.kid): key for key in keys}
        self.signing_key = keys[0]

    def find(self, key_id: str) -> Key | None:
        """Return the key of an id."""
        return self._keys.get(key_id)

    def public_set(self) -> dict[str, Any]:
        """Return the JWK Set that other services verify with; HS256 has no public half to show."""
        public = [key.as_dict(private=False) for key in self._keys.values() if isinstance(key, RSAKey)]
        return {"keys": public}


def load_keys(path: Path, algorithm: str) -> KeyRing:
    """Read a key file.

    Raises:
        KeyRingError: it is missing, no JWK Set, or holds a key too short or of another algorithm.
    """
    try:
        key_set = KeySet.import_key_set(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise KeyRingError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, JoseError) as error:
        raise KeyRingError(f"{path} is no private JWK Set (RFC 7517)") from error
    keys: list[Key] = []
    for key in key_set.keys:
        if not isinstance(key, _TYPES[algorithm]):
            raise KeyRingError(f"{path} holds a key that is not of {algorithm}")
        _check(path, key)
        keys.append(key)
    if not keys:
        raise KeyRingError(f"{path} holds no key")
    return KeyRing(algorithm, keys)


def load_or_create_keys(path: Path, algorithm: str) -> KeyRing:
    """Read a key file, after making it with one new key if it is missing."""
    if not path.exists():
        create_private_file(path, json.dumps({"keys": [generate_key(algorithm)]}))
    return load_keys(path, algorithm)


def generate_key(algorithm: str) -> dict[str, Any]:
    """Return a new private key as a JWK."""
    parameters: Any = {"kid": new_id(), "alg": algorithm, "use": "sig"}
    if algorithm == "HS256":
        return dict(OctKey.generate_key(MIN_HMAC_BITS, parameters, auto_kid=False).as_dict(private=True))
    return dict(RSAKey.generate_key(MIN_RSA_BITS, parameters, auto_kid=False).as_dict(private=True))


def _check(path: Path, key: Key) -> None:
    if not key.kid:
        raise KeyRingError(f"{path} holds a key without kid")
    if isinstance(key, OctKey) and len(key.raw_value) * 8 < MIN_HMAC_BITS:
        raise KeyRingError(f"{path} holds an HMAC key of less than {MIN_HMAC_BITS} bits")
    if isinstance(key, RSAKey):
        if not key.is_private:
            raise KeyRingError(f"{path} holds a public RSA key; a private one is wanted")
        if key.raw_value.key_size < MIN_RSA_BITS:
            raise KeyRingError(f"{path} holds an RSA key of less than {MIN_RSA_BITS} bits")
