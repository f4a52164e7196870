"""Signed tokens of a provider: the signature, by the configured algorithms only (RFC 7515, RFC 8725)."""

import base64
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oauth.strict_json import parse_object
from strongroom_login_oidc.keys import ProviderKeys

MAX_TOKEN: Final = 32 * 1024
"""Bytes of a token. Those with groups have a few kilobytes."""

_COMPACT: Final = re.compile(r"([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)


class _Registry(jws.JWSRegistry):
    max_header_length = MAX_TOKEN


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token whose signature is verified, and nothing else.

    Args:
        algorithm: the algorithm of the signature, which is one of the configuration.
        type: the member ``typ`` of the header, in lowercase.
    """

    algorithm: str
    type: str | None
    claims: dict[str, Any]


def open_token(token: str, keys: ProviderKeys, algorithms: Collection[str]) -> SignedToken:
    """Verify the signature of a token (JWS Compact Serialization, RFC 7515, section 7.1).

    The header chooses among the configured algorithms and the published keys only. A key or a URL in it
    counts nothing (RFC 8725, sections 3.1 and 3.10).

    Args:
        algorithms: the algorithms of the configuration.

    Raises:
        AnswerInvalid: the provider has not signed the token.
        ProviderUnavailable: its keys cannot be fetched now.
    """
    try:
        header = _header(token)
        algorithm, kid = _checked(header, algorithms)
        registry = _Registry(algorithms=[algorithm], strict_check_header=False)
        signed = jws.deserialize_compact(token, keys.find(algorithm, kid), registry=registry)
        claims = parse_object(signed.payload)
    except (JoseError, ValueError) as error:
        raise AnswerInvalid(f"the token is invalid: {error}") from error
    kind = header.get("typ")
    return SignedToken(algorithm, str(kind).lower() if kind is not None else None, claims)


def _header(token: str) -> dict[str, Any]:
    """Return the header, which joserfc parses again: it has one meaning in every parser."""
    parts = _COMPACT.fullmatch(token) if len(token) <= MAX_TOKEN else None
    if parts is None:
        raise ValueError("it is too long, or not in three parts")
    encoded = parts[1]
    return parse_object(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))


def _checked(header: dict[str, Any], algorithms: Collection[str]) -> tuple[str, str | None]:
    """Return the algorithm and the id of the key."""
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in algorithms:
        raise ValueError("its algorithm is none of the configuration")
    if kid is not None and not isinstance(kid, str):
        raise ValueError("its kid is no text")
    # No extension is supported, such as unencoded payloads (RFC 7797).
    if "crit" in header or "b64" in header:
        raise ValueError("its header has extensions")
    return algorithm, kid
