"""Mini programs: the app sends a login code directly, without a redirect."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from strongroom.plugin_api.host import HostAPI
from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.client import Json
from strongroom_login_oauth.errors import CodeExpired, CodeInvalid, CodeUsed, ProviderUnavailable
from strongroom_login_oauth.provider import Answer, Identity, Start
from strongroom_login_oauth.strict_json import parse_object
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.app import App
from strongroom_login_wechat.crypto import check_signature, check_watermark, decrypt
from strongroom_login_wechat.errors import DataInvalid, PhoneCodeInvalid
from strongroom_login_wechat.options import WeChatApp

_E164 = re.compile(r"\+[1-9][0-9]{6,14}")


class MiniProgram(App):
    """A mini program.

    Args:
        data_max_age: maximum age of encrypted data, in seconds.
        host: returns the server, whose shared values have the app's token.
    """

    def __init__(
        self, app: WeChatApp, api: WeChatApi, *, data_max_age: float, host: Callable[[], HostAPI]
    ) -> None:
        super().__init__(app, api)
        self._data_max_age = data_max_age
        self._host = host
        self._token = AppToken(
            f"token.{app.appid}",
            lambda: api.fetch_token(app.appid, app.secret),
            renew=lambda: api.fetch_token(app.appid, app.secret, force=True),
            values=lambda: host().values,
            clock=lambda: host().clock,
        )

    def authorize_url(self, start: Start) -> NoReturn:
        """Raise ``NotImplementedError``: a mini program has no redirect."""
        raise NotImplementedError

    def identify(self, answer: Answer) -> Identity:
        """Redeem the codes, and return the identity of the person."""
        session, proof = self._session(answer.code), answer.parameters
        # Only the nickname is read from the data, never an id or a number: CBC is not authenticated,
        # so a client that knows its own plaintext can change parts of it without the key.
        nickname = self._profile(session, proof).get("nickName")
        return self.identity(
            session.text("openid"),
            session.optional_text("unionid"),
            nickname if isinstance(nickname, str) and nickname else None,
            self.phone_number(proof["phoneCode"]) if "phoneCode" in proof else None,
        )

    def _session(self, code: str) -> Json:
        """Redeem a login code; the session key in the result must never leave the server."""
        if not code:
            raise CodeInvalid("the code is missing")
        return self._api.get(
            "/sns/jscode2session",
            appid=self.appid,
            secret=self._app.secret,
            js_code=code,
            grant_type="authorization_code",
        )

    def phone_number(self, code: str) -> str:
        """Redeem a phone code; return the number that the platform has verified, in E.164.

        Raises:
            PhoneCodeInvalid: the code is wrong, used or expired.
            ProviderError: the platform could not verify it.
        """
        if not code:
            raise PhoneCodeInvalid("the phone code is missing")
        try:
            answer = self._token.use(
                lambda token: self._api.post(
                    "/wxa/business/getuserphonenumber", {"code": code}, access_token=token
                )
            )
        except (CodeInvalid, CodeUsed, CodeExpired) as error:
            raise PhoneCodeInvalid(str(error)) from error
        return self._verified_number(answer.object("phone_info"))

    def _verified_number(self, phone: Json) -> str:
        number = f"+{phone.integer('countryCode')}{phone.text('purePhoneNumber')}"
        if phone.object("watermark").text("appid") != self.appid or not _E164.fullmatch(number):
            raise ProviderUnavailable(
                "the platform returned an invalid phone number or one for another app"
            )
        return number

    def _profile(self, session: Json, proof: Mapping[str, str]) -> Mapping[str, Any]:
        if "encryptedData" in proof:
            return self._decrypted(session, proof["encryptedData"], proof.get("iv", ""))
        if "rawData" in proof:
            check_signature(proof["rawData"], proof.get("signature", ""), session.text("session_key"))
            return _object(proof["rawData"])
        return {}

    def _decrypted(self, session: Json, encrypted_data: str, iv: str) -> Mapping[str, Any]:
        members = decrypt(encrypted_data, iv, session.text("session_key"))
        check_watermark(
            members, appid=self.appid, now=self._host().clock.now() / 1000, max_age=self._data_max_age
        )
        if members.get("openId") != session.text("openid"):
            raise DataInvalid("the data belongs to another person")
        return members


def _object(text: str) -> Mapping[str, Any]:
    with suppress(ValueError):
        return parse_object(text.encode())
    # Raised outside the handler, because the parser's exception contains the data.
    raise DataInvalid("the data is no JSON object")
