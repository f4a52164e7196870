"""Signatures of exports of the audit record, with the keys that sign access tokens."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from strongroom.identity.sessions.signing_keys import ALGORITHMS, Key, KeyRing, key_algorithm

_TYPE: Final = "strongroom-audit-checkpoint"
"""The type in the header, so that a checkpoint is never taken for an access token (RFC 8725, 3.11)."""


def sign_checkpoint(ring: KeyRing, content: Mapping[str, Any]) -> str:
    """Return a JSON Web Signature (RFC 7515) of a checkpoint."""
    header = {"alg": ring.algorithm, "kid": ring.signing_key.kid, "typ": _TYPE}
    payload = json.dumps(content, separators=(",", ":"))
    return jws.serialize_compact(header, payload, ring.signing_key, algorithms=[ring.algorithm])


def read_checkpoint(keys: Sequence[Key], signed: str) -> Mapping[str, Any]:
    """Verify a signature, and return the checkpoint.

    Raises:
        ValueError: none of the keys has signed it.
    """
    try:
        header = jws.extract_compact(signed.encode("ascii")).headers()
        if header.get("typ") != _TYPE or set(header) != {"alg", "kid", "typ"}:
            raise ValueError("the signature is not a checkpoint's")
        key = next((key for key in keys if key.kid == header["kid"]), None)
        if key is None:
            raise ValueError(f"there is no key {header['kid']!r}; name the JWK Set of that time")
        # The algorithm of the header is not trusted: each type of key has one.
        verified = jws.deserialize_compact(signed, key, algorithms=[key_algorithm(key)])
        content: Mapping[str, Any] = json.loads(verified.payload)
    except (JoseError, UnicodeError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("the signature of the checkpoint is not valid") from error
    return content


def parse_key_set(text: str) -> list[Key]:
    """Return the keys of a JWK Set (RFC 7517), public or private.

    Raises:
        ValueError: the text is no JWK Set.
    """
    try:
        keys = KeySet.import_key_set(json.loads(text)).keys
    except (KeyError, TypeError, JoseError) as error:
        raise ValueError("not a JWK Set") from error
    return [key for key in keys if key.key_type in ALGORITHMS]  # type: ignore[misc]  # by its type
