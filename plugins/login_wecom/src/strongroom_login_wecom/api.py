"""The interfaces of WeCom: JSON with status 200, errors included.

The app's token is in the query of each URL, so no URL appears in a log or a message.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom_login_oauth.app_token import Token
from strongroom_login_oauth.client import Json, JsonClient, reason
from strongroom_login_oauth.errors import (
    CodeInvalid,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)
from strongroom_login_wecom.options import WeComApp


class NotVisible(NotMember):
    """The app is not visible to the member."""


BUSY_PAUSE: Final = 60
"""``Retry-After`` in seconds after too many calls."""

_TOO_OFTEN: Final = 45009

_BY_ERRCODE: Final[Mapping[int, type[ProviderError]]] = {
    40001: TokenRefused,
    40013: Misconfigured,
    40014: TokenRefused,
    40029: CodeInvalid,
    41001: TokenRefused,
    42001: TokenRefused,
    48002: Misconfigured,
    60011: NotVisible,
    60020: Misconfigured,
    60111: NotMember,
    301002: Misconfigured,
}
_REMEDIES: Final[Mapping[int, str]] = {
    48002: "give the app the right to this interface",
    60020: "add the address of this server to the trusted addresses (企业可信IP) of the app",
    301002: "use the secret of the app with this agentid",
}


@dataclass(slots=True, eq=False, repr=False)
class WeComApi:
    """Calls the interfaces as one app. Thread-safe."""

    _client: JsonClient
    _app: WeComApp

    def fetch_token(self) -> Token:
        """Return the app's token.

        The platform returns the same token until it expires, and refuses frequent calls.

        Raises:
            Misconfigured: the corporation or the secret is wrong.
        """
        query = {"corpid": self._app.corpid, "corpsecret": self._app.secret}
        try:
            answer = _checked(self._client.get("/cgi-bin/gettoken", query), query)
        except TokenRefused as error:
            raise Misconfigured(f"check corpid and secret: {error}") from None
        return Token(answer.text("access_token"), answer.integer("expires_in"))

    def user_info(self, token: str, code: str) -> Json:
        """Redeem a code: ``userid`` of a member, ``openid`` of an outsider."""
        return self._get("/cgi-bin/auth/getuserinfo", {"access_token": token, "code": code})

    def user_detail(self, token: str, ticket: str) -> Json:
        """Return the contact data that the member has agreed to."""
        query, body = {"access_token": token}, {"user_ticket": ticket}
        answer = self._client.post("/cgi-bin/auth/getuserdetail", body, query=query)
        return _checked(answer, {**query, **body})

    def member(self, token: str, userid: str) -> Json:
        """Return a member's entry in the contacts.

        Raises:
            NotMember: there is no such member, or the app is not visible to the member.
        """
        return self._get("/cgi-bin/user/get", {"access_token": token, "userid": userid})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _get(self, path: str, query: Mapping[str, str]) -> Json:
        return _checked(self._client.get(path, query), query)


def _checked(answer: Json, request: Mapping[str, Any]) -> Json:
    errcode = answer.optional_integer("errcode")
    if errcode:
        raise _error(errcode, f"{answer.source}: {errcode} {reason(answer, 'errmsg', request)}")
    return answer


def _error(errcode: int, message: str) -> ProviderError:
    if errcode == _TOO_OFTEN:
        return ProviderUnavailable(message, retry_after=BUSY_PAUSE)
    kind: Callable[[str], ProviderError] = _BY_ERRCODE.get(errcode, ProviderUnavailable)
    remedy = _REMEDIES.get(errcode)
    return kind(f"{remedy}; {message}" if remedy else message)
