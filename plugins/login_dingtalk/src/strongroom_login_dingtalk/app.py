"""An app of DingTalk: its login page, and the identity of a person."""

import re
from typing import Final
from urllib.parse import quote, urlencode

from strongroom.plugin_api.login import Contact, Credential
from strongroom_login_dingtalk.accounts import require_owned, with_proof
from strongroom_login_dingtalk.client import DingTalkClient, MakeToken
from strongroom_login_dingtalk.options import DingTalkApp, DingTalkOptions
from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.errors import NotMember
from strongroom_login_oauth.provider import Answer, Identity, Provider, Start

UNIONID: Final = "dingtalk"
"""The kind of credentials with the value ``organization:unionId``."""

IN_APP: Final = "inApp"
"""The parameter that says that a code is of ``dd.getAuthCode``."""

LABELS: Final = {"en": "DingTalk", "zh": "钉钉"}

_E164 = re.compile(r"\+[1-9][0-9]{6,14}")
_UNION_ID = re.compile(r"[!-~]{1,128}")


class App(Provider):
    """An internal app of a company."""

    labels = LABELS
    icon = "dingtalk.svg"
    shows_qr_code = True
    own_app = ("DingTalk",)

    def __init__(self, app: DingTalkApp, options: DingTalkOptions, make_token: MakeToken) -> None:
        self._app = app
        self.shared_redirect_uri = app.shared_redirect_uri
        self._login_url = options.login_url.rstrip("/")
        self._client = DingTalkClient(app, options, make_token)

    def authorize_url(self, start: Start) -> str:
        """Return the URL of the page with the QR code, which in DingTalk itself has none."""
        query = {
            "redirect_uri": start.redirect_uri,
            "response_type": "code",
            "client_id": self._app.client_id,
            "scope": "openid",
            "state": start.state,
            "prompt": "consent",
        }
        if corp_id := self._app.exclusive_corp_id:
            exclusive = {"corpId": corp_id, "exclusiveLogin": "true", "exclusiveCorpId": corp_id}
            query |= {"scope": "openid corpid", **exclusive}
        return f"{self._login_url}/oauth2/auth?{urlencode(query, quote_via=quote)}"

    def identify(self, answer: Answer) -> Identity:
        """Return the identity of a code, which is of the login page or of ``dd.getAuthCode``."""
        is_in_app = answer.parameters.get(IN_APP) == "true"
        identity = self._visitor(answer.code) if is_in_app else self._person(answer.code)
        if self._app.members_only:
            self._require_member(identity.credential)
        if self._app.exclusive_corp_id is not None:
            # Only the answer decides: the browser can leave out what asks for such an account.
            require_owned(self._account(identity), self._app.exclusive_corp_id)
        return with_proof(identity, lambda: self._account(identity))

    def is_member(self, credential: Credential) -> bool | None:
        """Return whether a person is a member of the company of the app."""
        if not self._app.members_only or self._union_id(credential) is None:
            return None
        try:
            self._require_member(credential)
        except NotMember:
            return False
        return True

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _person(self, code: str) -> Identity:
        tokens = self._client.exchange(code)
        # The URL that asks for the company passes through the browser, which can change it.
        if self._app.exclusive_corp_id not in (None, tokens.optional_text("corpId")):
            raise NotMember("the person chose another company")
        profile = self._client.profile(tokens.text("accessToken"))
        name = profile.optional_text("nick")
        credential = self._credential(profile, "unionId")
        return Identity(credential, contacts=self._mobile(profile), display_name=name)

    def _visitor(self, code: str) -> Identity:
        visitor = self._client.visitor(code)
        return Identity(self._credential(visitor, "unionid"), display_name=visitor.optional_text("name"))

    def _credential(self, members: Json, key: str) -> Credential:
        union_id = members.text(key)
        if not _UNION_ID.fullmatch(union_id):
            raise members.unexpected(key)
        return Credential(UNIONID, f"{self._app.organization}:{union_id}")

    def _union_id(self, credential: Credential) -> str | None:
        organization, _, union_id = credential.value.partition(":")
        return union_id if organization == self._app.organization else None

    def _mobile(self, profile: Json) -> tuple[Contact, ...]:
        number = f"+{profile.optional_text('stateCode')}{profile.optional_text('mobile')}"
        if not _E164.fullmatch(number):
            return ()
        return (Contact(Credential("mobile", number), is_trusted=self._app.trust_mobile),)

    def _account(self, identity: Identity) -> Json:
        return self._client.account(self._union_id(identity.credential) or "")

    def _require_member(self, credential: Credential) -> None:
        contact = self._client.contact(self._union_id(credential) or "")
        # 1 is an external contact of the company.
        if contact.optional_integer("contact_type") != 0 or not contact.optional_text("userid"):
            raise NotMember("the person is no member of the company")
