"""Client of the gateway: signs requests, and verifies the answers."""

import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from strongroom_login_alipay.refusals import error_for
from strongroom_login_alipay.signed_answer import Member, members
from strongroom_login_alipay.signing import is_signed, signature
from strongroom_login_oauth.client import Json, JsonClient
from strongroom_login_oauth.errors import AnswerInvalid, Misconfigured

CHINA: Final = timezone(timedelta(hours=8))
"""The time zone of all timestamps, wherever this machine is."""

_PATH: Final = "/gateway.do"
_ERROR: Final = "error_response"
_SUCCESS: Final = "10000"


@dataclass(slots=True, eq=False, repr=False)
class Gateway:
    """Calls methods of the gateway as one app. Thread-safe."""

    _client: JsonClient
    _app_id: str
    _private_key: RSAPrivateKey
    _alipay_key: RSAPublicKey
    _: KW_ONLY
    clock: Callable[[], float] = time.time

    def call(self, method: str, **parameters: str) -> Json:
        """Call a method, and return its response, whose signature is verified.

        Raises:
            ProviderError: the class for the sub code; ``AnswerInvalid`` for an answer that is forged.
        """
        request = self._request(method, parameters)
        request["sign"] = signature(self._private_key, request)
        answer = members(self._client.post_raw(_PATH, request))
        if _ERROR in answer:
            # An error needs no signature, because it never logs anyone in.
            raise error_for(method, _object(method, answer[_ERROR]))
        response = _object(method, self._verified(method, answer))
        if response.optional_text("code") not in (None, _SUCCESS):
            raise error_for(method, response)
        return response

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _request(self, method: str, parameters: Mapping[str, str]) -> dict[str, str]:
        now = datetime.fromtimestamp(self.clock(), CHINA)
        return {
            "app_id": self._app_id,
            "method": method,
            "format": "JSON",
            "charset": "utf-8",
            "sign_type": "RSA2",
            "timestamp": now.strftime("%Y-%m-%d %H:%M:%S"),
            "version": "1.0",
            **parameters,
        }

    def _verified(self, method: str, answer: Mapping[str, Member]) -> Member:
        response = answer.get(f"{method.replace('.', '_')}_response")
        sign = answer.get("sign")
        if response is None or sign is None or not isinstance(sign.value, str):
            raise AnswerInvalid(f"{method} returned no signed response")
        if not is_signed(self._alipay_key, response.content, sign.value):
            raise Misconfigured(
                f"the signature of {method} is not by alipay_public_key, which is not the app's own key"
            )
        return response


def _object(method: str, member: Member) -> Json:
    value: Any = member.value
    if not isinstance(value, dict):
        raise AnswerInvalid(f"{method} returned no object")
    return Json(method, value)
