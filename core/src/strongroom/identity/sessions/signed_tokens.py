"""Signs tokens, and reads what the server has signed (RFC 7515): access tokens and statements alike."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from joserfc import jws, jwt

from strongroom.identity.sessions.signing_keys import Key, key_algorithm

_HEADER_NAMES: Final = frozenset({"alg", "kid", "typ"})


def sign_token(key: Key, typ: str, claims: Mapping[str, Any]) -> str:
    """Return a token of a type, signed by a key."""
    algorithm = key_algorithm(key)
    header = {"alg": algorithm, "kid": key.kid, "typ": typ}
    return jwt.encode(header, dict(claims), key, algorithms=[algorithm])


def read_signed(
    token: str, typ: str, find_key: Callable[[str], Key | None], *, max_length: int
) -> dict[str, Any]:
    """Return the claims of a token of a type whose signature is right; they may have expired.

    Args:
        token: the token, untrusted.
        find_key: returns the key of an id, ``None`` if no such key may have signed the token.
        max_length: in characters.

    Raises:
        JoseError, ValueError, KeyError, TypeError, RecursionError: it is no such token.
    """
    if len(token) > max_length:
        raise ValueError("too long")
    header = jws.extract_compact(token.encode("ascii")).headers()
    # Reject all other header parameters: "jwk", "jku" or "crit" could change how a token is verified.
    if set(header) != _HEADER_NAMES or header["typ"] != typ:
        raise ValueError("unusual header")
    # The header's "alg" is not trusted: each key has one algorithm, and no other is accepted below.
    key = find_key(header["kid"])
    if key is None:
        raise ValueError("unknown key")
    return jwt.decode(token, key, algorithms=[key_algorithm(key)]).claims
