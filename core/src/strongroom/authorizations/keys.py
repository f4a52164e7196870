"""The keys of access tokens: a JWK Set (RFC 7517). The first key signs; all keys verify."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import KeySet, OctKey, RSAKey

from strongroom.ids import new_id

MIN_HMAC_BITS: Final = 256
MIN_RSA_BITS: Final = 2048

_REPLACE: Final = "move the file away, and run: strongroom keys rotate"

Key = OctKey | RSAKey

CREATED: Final = "iat"
"""Member with the creation time of a key, in seconds since the Unix epoch (OpenID Federation 1.0)."""

# An allow-list: a new private member of the library's keys cannot leak into the public set.
_PUBLIC_MEMBERS: Final = ("kty", "kid", "n", "e")

# An RSA key must never be used as an HMAC key (algorithm confusion), so each algorithm has one type.
_TYPES: Final[Mapping[str, type[OctKey] | type[RSAKey]]] = {"HS256": OctKey, "RS256": RSAKey}


class KeyRingError(Exception):
    """The key file cannot be used. The message is one line and names the remedy."""


class KeyRing:
    """The keys of one algorithm."""

    def __init__(self, algorithm: str, keys: Sequence[Key]) -> None:
        self.algorithm = algorithm
        self.keys = tuple(keys)
        self._by_id = {str(key.kid): key for key in keys}

    @property
    def signing_key(self) -> Key:
        """The signing key, which is the first."""
        return self.keys[0]

    def find(self, key_id: str) -> Key | None:
        """Return the key with an id."""
        return self._by_id.get(key_id)

    def public_set(self) -> dict[str, Any]:
        """Return the JWK Set that other services verify with. Empty for HS256, whose keys are secret."""
        return {"keys": [self._public(key) for key in self.keys if isinstance(key, RSAKey)]}

    def _public(self, key: RSAKey) -> dict[str, Any]:
        members = key.as_dict(private=False)
        return {name: members[name] for name in _PUBLIC_MEMBERS} | {"alg": self.algorithm, "use": "sig"}


def created_at(key: Key) -> int | None:
    """Return the creation time of a key in seconds since the Unix epoch, if the key has one."""
    moment: Any = key.get(CREATED)
    return moment if isinstance(moment, int) else None


def load_keys(path: Path, algorithm: str) -> KeyRing:
    """Read a key file. A key without ``kid`` is identified by its thumbprint (RFC 7638).

    Raises:
        KeyRingError: the file is missing or not a JWK Set, or has a key that is too short or of
            another algorithm.
    """
    try:
        key_set = KeySet.import_key_set(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise KeyRingError(f"{path} does not exist; run: strongroom keys rotate") from error
    except OSError as error:
        raise KeyRingError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, JoseError) as error:
        raise KeyRingError(f"{path} is no private JWK Set (RFC 7517); {_REPLACE}") from error
    if not key_set.keys:
        raise KeyRingError(f"{path} holds no key; {_REPLACE}")
    return KeyRing(algorithm, _checked(path, algorithm, key_set))


def generate_key(algorithm: str, now: int) -> Key:
    """Generate a private key. ``now``, its creation time, is in milliseconds since the Unix epoch."""
    parameters: Any = {"kid": new_id(), "alg": algorithm, "use": "sig", CREATED: now // 1000}
    if algorithm == "HS256":
        return OctKey.generate_key(MIN_HMAC_BITS, parameters, auto_kid=False)
    return RSAKey.generate_key(MIN_RSA_BITS, parameters, auto_kid=False)


def dump_keys(keys: Sequence[Key]) -> str:
    """Return the content of a key file."""
    return json.dumps({"keys": [key.as_dict(private=True) for key in keys]}, indent=2)


def _checked(path: Path, algorithm: str, key_set: KeySet) -> list[Key]:
    keys: dict[str, Key] = {}
    for key in key_set.keys:
        if not isinstance(key, _TYPES[algorithm]):
            raise KeyRingError(
                f"{path} holds a key that is not of {algorithm}; correct tokens.algorithm, or {_REPLACE}"
            )
        _check(path, key)
        if keys.setdefault(str(key.kid), key) is not key:
            raise KeyRingError(f"{path} holds two keys with the same kid")
    return list(keys.values())


def _check(path: Path, key: Key) -> None:
    if isinstance(key, OctKey) and len(key.raw_value) * 8 < MIN_HMAC_BITS:
        raise KeyRingError(f"{path} holds an HMAC key of less than {MIN_HMAC_BITS} bits")
    if isinstance(key, RSAKey):
        if not key.is_private:
            raise KeyRingError(f"{path} holds a public RSA key; expected a private one")
        if key.raw_value.key_size < MIN_RSA_BITS:
            raise KeyRingError(f"{path} holds an RSA key of less than {MIN_RSA_BITS} bits")
