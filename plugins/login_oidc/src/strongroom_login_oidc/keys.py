"""The public keys of a provider (JWK Set, RFC 7517)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, JWKRegistry, OKPKey, RSAKey

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oidc.cached import CachedDocument

Jwk = Mapping[str, Any]
PublicKey = RSAKey | ECKey | OKPKey

MAX_KEYS: Final = 100
"""Keys of a set. Providers have 2 to 10."""

RSA_BITS: Final = range(2048, 8192 + 1)
"""Sizes of RSA keys: RFC 7518, section 3.3 requires 2048; verifying by a huge one takes seconds."""

_KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""The key type of a signature algorithm, by the first two letters (RFC 7518, RFC 8037)."""

ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Algorithms whose keys are public. With the others (``HS256``), a public key would sign tokens."""


class ProviderKeys:
    """The keys of a provider, which changes them from time to time. Thread-safe.

    Args:
        fetch: requests the members ``keys`` of the JWK Set.
        clock: returns seconds.
    """

    def __init__(self, fetch: Callable[[], Sequence[Jwk]], clock: Callable[[], float]) -> None:
        self._keys = CachedDocument("keys of the provider", fetch, clock)

    def find(self, algorithm: str, kid: str | None) -> PublicKey:
        """Return the key of a signature.

        An unknown ``kid`` is one that the provider has published since, so the set is fetched again, at
        most once a minute.

        Raises:
            AnswerInvalid: there is no such key, or there are several.
            ProviderUnavailable: the set cannot be fetched now.
        """
        fitting = _select(self._keys.get(), algorithm, kid)
        if not fitting:
            fitting = _select(self._keys.refresh(), algorithm, kid)
        if len(fitting) != 1:
            raise AnswerInvalid(f"{len(fitting)} keys of the provider fit the token; it needs one")
        return _import(fitting[0])


def parse_keys(document: Mapping[str, Any]) -> Sequence[Jwk]:
    """Return the members of a JWK Set (RFC 7517, section 5).

    Raises:
        AnswerInvalid: it is none, or has too many.
    """
    keys = document.get("keys")
    if not isinstance(keys, list) or len(keys) > MAX_KEYS:
        raise AnswerInvalid(f"the provider's key set has no list of at most {MAX_KEYS} keys")
    return [key for key in keys if isinstance(key, dict)]


def _select(keys: Sequence[Jwk], algorithm: str, kid: str | None) -> list[Jwk]:
    return [key for key in keys if (kid is None or key.get("kid") == kid) and _fits(key, algorithm)]


def _fits(key: Jwk, algorithm: str) -> bool:
    """Return whether a key is published for signatures by an algorithm (RFC 7517, section 4)."""
    operations = key.get("key_ops", ["verify"])
    return (
        key.get("kty") == _KEY_TYPES.get(algorithm[:2])
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and isinstance(operations, list)
        and "verify" in operations
    )


def _import(jwk: Jwk) -> PublicKey:
    try:
        key = JWKRegistry.import_key(dict(jwk))
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise AnswerInvalid("the key of the provider is invalid") from error
    if isinstance(key, RSAKey) and key.public_key.key_size not in RSA_BITS:
        raise AnswerInvalid("the RSA key of the provider has fewer than 2048 or more than 8192 bits")
    if not isinstance(key, RSAKey | ECKey | OKPKey):
        raise AnswerInvalid("the key of the provider is not public")
    return key
