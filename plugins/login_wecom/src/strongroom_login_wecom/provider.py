"""One app of a corporation: leads browsers to WeCom, and verifies who comes back."""

from contextlib import suppress
from typing import Final
from urllib.parse import quote, urlencode

from strongroom.plugin_api.login import Contact, Credential, Proofs
from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.client import Json
from strongroom_login_oauth.errors import CodeInvalid, NotMember
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start
from strongroom_login_wecom.api import NotVisible, WeComApi
from strongroom_login_wecom.options import WeComApp, WeComOptions
from strongroom_login_wecom.people import KIND, member_credential, verified_contacts

LABELS: Final = {"en": "WeCom", "zh": "企业微信"}

_IN_APP: Final = "wxwork"
_MAX_CODE: Final = 512  # bytes
_GONE: Final = (2, 5)  # disabled by the administrator; has left the corporation


class WeComProvider(Provider):
    """Logs in by one app, in browsers by a QR code and in WeCom without one."""

    labels = LABELS
    icon = "wecom.svg"
    own_app = (_IN_APP,)
    shows_qr_code = True

    def __init__(
        self, options: WeComOptions, app: WeComApp, api: WeComApi, token: AppToken, proofs: Proofs
    ) -> None:
        self._options = options
        self._app = app
        self.shared_redirect_uri = app.shared_redirect_uri
        self._api = api
        self._token = token
        self._proofs = proofs

    def authorize_url(self, start: Start) -> str:
        """Return the page for the browser: WeCom's own cannot scan its screen."""
        app, agentid = self._app, str(self._app.agentid)
        common = {"appid": app.corpid, "agentid": agentid, "redirect_uri": start.redirect_uri}
        if _IN_APP not in start.user_agent:
            query = {"login_type": "CorpApp", **common, "state": start.state}
            query |= {"lang": start.language} if start.language else {}
            return _url(self._options.login_url, "/wwlogin/sso/login", query)
        scope = "snsapi_privateinfo" if app.contact_data else "snsapi_base"
        query = {**common, "response_type": "code", "scope": scope, "state": start.state}
        return _url(self._options.open_url, "/connect/oauth2/authorize", query) + "#wechat_redirect"

    def identify(self, answer: Answer) -> Identity:
        """Redeem the code; a member of the corporation has a ``userid``."""
        if len(answer.code.encode()) > _MAX_CODE:
            raise CodeInvalid("the code is too long")
        info = self._token.use(lambda token: self._api.user_info(token, answer.code))
        userid = info.optional_text("userid") or ""
        if not userid or "/" in userid:
            return self._outsider(info, userid)
        credential, name = member_credential(info, self._app.corpid, userid), self._name(userid)
        contacts = self._contacts(userid, info.optional_text("user_ticket"))
        return Identity(credential, contacts=contacts, display_name=name)

    def is_member(self, credential: Credential) -> bool | None:
        """Return whether a member of this corporation is in its contacts, and enabled."""
        corpid, _, userid = credential.value.partition(":")
        if credential.kind != KIND or corpid != self._app.corpid or ":" in userid:
            return None
        try:
            self._name(userid)
        except NotMember:
            return False
        return True

    def check(self) -> None:
        """Look up a member who does not exist."""
        with suppress(NotMember):
            self._name("strongroom-doctor")

    def close(self) -> None:
        """Close the connections."""
        self._api.close()

    def _outsider(self, info: Json, linked: str) -> Identity:
        """Identify a member of a linked corporation by ``corpid/userid``, and others by an openid."""
        if self._app.members_only:
            raise NotMember("not a member of the corporation")
        if linked:
            corpid, _, userid = linked.partition("/")
            return Identity(member_credential(info, corpid, userid))
        return Identity(Credential(KIND, f"{self._app.corpid}:openid:{info.text('openid')}"))

    def _name(self, userid: str) -> str | None:
        """Return the name of a member.

        Raises:
            NotMember: has left, is disabled, or may not see the app, with ``members_only``.
        """
        try:
            entry = self._token.use(lambda token: self._api.member(token, userid))
        except NotVisible:
            if self._app.members_only:
                raise
            return None
        if entry.optional_integer("status", 1) in _GONE:
            raise NotMember("disabled, or has left the corporation")
        name: str | None = entry.optional_text("name")
        return name

    def _contacts(self, userid: str, ticket: str | None) -> tuple[Contact, ...]:
        if ticket is None or not self._app.contact_data:
            return ()
        detail = self._token.use(lambda token: self._api.user_detail(token, ticket))
        if detail.text("userid").lower() != userid.lower():
            raise detail.unexpected("userid")
        return tuple(verified_contacts(detail, self._proofs))


def _url(base: str, path: str, query: dict[str, str]) -> str:
    return f"{base.rstrip('/')}{path}?{urlencode(query, quote_via=quote)}"
