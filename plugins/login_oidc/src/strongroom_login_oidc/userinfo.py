"""Userinfo (OpenID Connect Core 1.0, section 5.3)."""

from collections.abc import Collection, Mapping
from typing import Any

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oidc.documents import Documents, media_type, parse_document
from strongroom_login_oidc.keys import ProviderKeys
from strongroom_login_oidc.tokens import open_token

Claims = Mapping[str, Any]

_NAME = "userinfo"
_SIGNED = "application/jwt"


def fetch_userinfo(
    documents: Documents,
    url: str,
    access_token: str,
    keys: ProviderKeys,
    algorithms: Collection[str],
) -> Claims:
    """Return the claims of userinfo, whose signature is verified if there is one (section 5.3.2).

    Raises:
        AnswerInvalid: it is no JSON object, or not signed by the provider.
        ProviderUnavailable: the provider is down, too slow or overloaded.
    """
    response = documents.get(_NAME, url, access_token=access_token)
    if media_type(response) != _SIGNED:
        return parse_document(_NAME, response)
    if not response.content.isascii():
        raise AnswerInvalid("the userinfo is no token")
    return open_token(response.content.decode("ascii"), keys, algorithms).claims


def check_userinfo(userinfo: Claims, subject: str, issuer: str, client_id: str) -> None:
    """Require that userinfo belongs to an ID token (section 5.3.4).

    Raises:
        AnswerInvalid: it is one of another person, issuer or client.
    """
    if userinfo.get("sub") != subject:
        raise AnswerInvalid("the userinfo is one of another person")
    if userinfo.get("iss", issuer) != issuer:
        raise AnswerInvalid("the userinfo is one of another issuer")
    audience = userinfo.get("aud", client_id)
    if client_id not in (audience if isinstance(audience, list) else [audience]):
        raise AnswerInvalid("the userinfo is one for another client")


def merge(id_token: Claims, userinfo: Claims, together: Collection[str]) -> Claims:
    """Return the claims of both; the ID token's take precedence, because they are signed.

    Args:
        together: claims that come from one of the two, such as an address and whether it is verified.
    """
    if any(name in id_token for name in together):
        userinfo = {name: value for name, value in userinfo.items() if name not in together}
    return {**userinfo, **id_token}
