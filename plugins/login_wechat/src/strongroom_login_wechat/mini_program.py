"""Mini programs: the app sends a login code directly, without a redirect."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strongroom_login_wechat.answer import Answer
from strongroom_login_wechat.app import App, Identity
from strongroom_login_wechat.app_token import AppToken
from strongroom_login_wechat.client import PlatformClient
from strongroom_login_wechat.crypto import check_signature, check_watermark, decrypt
from strongroom_login_wechat.errors import (
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    DataInvalid,
    PhoneCodeInvalid,
    PlatformUnavailable,
)
from strongroom_login_wechat.timing import Clock

_E164 = re.compile(r"\+[1-9][0-9]{6,14}")


@dataclass(frozen=True, slots=True)
class Session:
    """The result of exchanging a login code. The session key must never leave the server."""

    openid: str
    session_key: str = field(repr=False)
    unionid: str | None = None


class MiniProgram(App):
    """A mini program.

    Args:
        account: the open-platform account of the app.
        data_max_age: maximum age of encrypted data, in seconds.
        clock: the time in seconds since the Unix epoch.
    """

    def __init__(
        self,
        client: PlatformClient,
        *,
        appid: str,
        account: str,
        secret: str,
        data_max_age: float,
        clock: Clock,
    ) -> None:
        super().__init__(appid, account)
        self._client = client
        self._secret = secret
        self._data_max_age = data_max_age
        self._clock = clock
        self._token = AppToken(client, appid, secret, clock=clock)

    def identify(self, proof: Mapping[str, str]) -> Identity:
        session = self.exchange(proof.get("code", ""))
        # Only the nickname is read from the data, never an id or a number: CBC is not authenticated,
        # so a client that knows its own plaintext can change parts of it without the key.
        nickname = self._profile(session, proof).get("nickName")
        return Identity(
            session.openid,
            unionid=session.unionid,
            mobile=self.phone_number(proof["phoneCode"]) if "phoneCode" in proof else None,
            nickname=nickname if isinstance(nickname, str) and nickname else None,
        )

    def exchange(self, code: str) -> Session:
        """Redeem a login code.

        Raises:
            ClientFault: the code is wrong, used or expired, or the person is blocked.
            WeChatError: the platform could not verify it.
        """
        if not code:
            raise CodeInvalid("the code is missing")
        answer = self._client.get(
            "/sns/jscode2session",
            appid=self.appid,
            secret=self._secret,
            js_code=code,
            grant_type="authorization_code",
        )
        return Session(
            answer.text("openid"), answer.text("session_key"), unionid=answer.optional_text("unionid")
        )

    def phone_number(self, code: str) -> str:
        """Redeem a phone code; return the number that the platform has verified, in E.164.

        Raises:
            PhoneCodeInvalid: the code is wrong, used or expired.
            WeChatError: the platform could not verify it.
        """
        if not code:
            raise PhoneCodeInvalid("the phone code is missing")
        try:
            answer = self._token.use(
                lambda token: self._client.post(
                    "/wxa/business/getuserphonenumber", {"code": code}, access_token=token
                )
            )
        except (CodeInvalid, CodeUsed, CodeExpired) as error:
            raise PhoneCodeInvalid(str(error), errcode=error.errcode) from error
        return self._verified_number(answer.object("phone_info"))

    def _verified_number(self, phone: Answer) -> str:
        number = f"+{phone.integer('countryCode')}{phone.text('purePhoneNumber')}"
        if phone.object("watermark").text("appid") != self.appid or not _E164.fullmatch(number):
            raise PlatformUnavailable(
                "the platform returned an invalid phone number or one for another app"
            )
        return number

    def _profile(self, session: Session, proof: Mapping[str, str]) -> Mapping[str, Any]:
        if "encryptedData" in proof:
            return self._decrypted(session, proof["encryptedData"], proof.get("iv", ""))
        if "rawData" in proof:
            check_signature(proof["rawData"], proof.get("signature", ""), session.session_key)
            members: Mapping[str, Any] = json.loads(proof["rawData"])
            return members
        return {}

    def _decrypted(self, session: Session, encrypted_data: str, iv: str) -> Mapping[str, Any]:
        members = decrypt(encrypted_data, iv, session.session_key)
        check_watermark(members, appid=self.appid, now=self._clock(), max_age=self._data_max_age)
        if members.get("openId") != session.openid:
            raise DataInvalid("the data belongs to another person")
        return members
