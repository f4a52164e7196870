"""Discovery documents (OpenID Connect Discovery 1.0, RFC 8414)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from strongroom_login_oauth.errors import AnswerInvalid

WELL_KNOWN: Final = "/.well-known/openid-configuration"

# A fragment or user information has no place in an endpoint (RFC 6749, section 3.1).
_URL: Final = re.compile(r"https?://[^/?#@\s\\]+(/[!-\"$-\[\]-~]*)?", re.ASCII)
_MAX_URL: Final = 2048

AllowsUrl = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a provider says of itself.

    Args:
        issuer: its identifier; a template at Microsoft.
        returns_issuer: whether each answer has ``iss`` (RFC 9207, section 3).
        end_session_endpoint: for OpenID Connect RP-Initiated Logout 1.0.
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    returns_issuer: bool = False


def discovery_url(issuer: str) -> str:
    """Return the URL of the document (OpenID Connect Discovery 1.0, section 4)."""
    return issuer.rstrip("/") + WELL_KNOWN


def parse_metadata(document: Mapping[str, Any], issuer: str, is_allowed: AllowsUrl) -> Metadata:
    """Check a discovery document.

    Args:
        issuer: what its ``issuer`` must be, as text (section 4.3).
        is_allowed: whether requests may be sent to a URL.

    Raises:
        AnswerInvalid: it is one of another issuer, or has no such endpoints.
    """
    if document.get("issuer") != issuer:
        raise AnswerInvalid("the discovery document is one of another issuer")

    def endpoint(name: str) -> str:
        url = document.get(name)
        if not isinstance(url, str) or not _is_url(url) or not is_allowed(url):
            raise AnswerInvalid(f"{name} of the discovery document must be an https URL")
        return url

    def optional(name: str) -> str | None:
        return endpoint(name) if document.get(name) is not None else None

    return Metadata(
        issuer,
        endpoint("authorization_endpoint"),
        endpoint("token_endpoint"),
        endpoint("jwks_uri"),
        optional("userinfo_endpoint"),
        optional("end_session_endpoint"),
        document.get("authorization_response_iss_parameter_supported") is True,
    )


def check_issuer_parameter(metadata: Metadata, parameters: Mapping[str, str]) -> None:
    """Check the parameter ``iss`` of an answer, against mix-up (RFC 9207, section 2.4).

    Raises:
        AnswerInvalid: another provider has answered.
    """
    issuer = parameters.get("iss")
    if issuer is None and metadata.returns_issuer:
        raise AnswerInvalid("the answer has no iss, and the provider sends it always")
    if issuer is not None and issuer != metadata.issuer:
        raise AnswerInvalid("the answer is one of another issuer")


def _is_url(url: str) -> bool:
    if len(url) > _MAX_URL or _URL.fullmatch(url) is None:
        return False
    try:
        # Parsers refuse other hosts and ports when a request is sent, in errors of their own.
        parts = urlsplit(url)
        return parts.hostname is not None and parts.port != 0
    except ValueError:
        return False
