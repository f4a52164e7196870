"""Message sender for Aliyun SMS."""

import logging
import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NoReturn

from strongroom.plugin_api.messages import (
    DeliveryUncertain,
    Message,
    MessageNotSent,
    MessageSender,
    RecipientRefused,
    SendingThrottled,
)
from strongroom_sms_aliyun.failures import GatewayFailure, NotAnswered, NotReached, Refused
from strongroom_sms_aliyun.options import AliyunSmsOptions

if TYPE_CHECKING:
    from strongroom_sms_aliyun.client import AliyunSmsClient

log = logging.getLogger(__name__)

MAINLAND = "+86"
CHINA_TIME = timezone(timedelta(hours=8))

RECIPIENT_ERRORS = {"isv.MOBILE_NUMBER_ILLEGAL", "isv.PHONE_NUMBER_ILLEGAL", "isv.NOT_SUPPORTED_COUNTRY"}
TRANSIENT_ERRORS = {"isp.SYSTEM_ERROR", "ServiceUnavailable", "ServiceUnavailableTemporary"}
LIMIT_ERROR = "isv.BUSINESS_LIMIT_CONTROL"
LIMIT_WINDOWS = {"分钟": 60, "小时": 3600, "天": 86_400}
API_LIMIT_ERROR = re.compile(r"Throttling(\..+)?")


class AliyunSms(MessageSender[AliyunSmsOptions]):
    """Sends a message with the Aliyun template configured for its own template."""

    name = "aliyun_sms"
    channels = frozenset({"sms"})
    options_type = AliyunSmsOptions

    def __init__(self, options: AliyunSmsOptions) -> None:
        super().__init__(options)
        self._client = _new_client(options)

    def can_send(self, template: str, recipient: str | None = None) -> bool:
        mainland, overseas = self.options.templates, self.options.overseas_templates
        if recipient is None:
            return template in mainland or template in overseas
        return template in (mainland if recipient.startswith(MAINLAND) else overseas)

    def send(self, message: Message) -> str | None:
        submitted_on = datetime.now(CHINA_TIME).strftime("%Y%m%d")
        try:
            return self._submit(message)
        except Refused as refusal:
            _raise_refusal(refusal)
        except NotReached:
            raise MessageNotSent("Aliyun SMS cannot be reached", retryable=True) from None
        except NotAnswered:
            self._require_accepted(message, submitted_on)
            return None

    def _submit(self, message: Message) -> str:
        mainland = message.recipient.startswith(MAINLAND)
        overseas_sign_name = self.options.overseas_sign_name or self.options.sign_name
        return self._client.send(
            number=_aliyun_number(message.recipient),
            sign_name=self.options.sign_name if mainland else overseas_sign_name,
            template_code=self._template_code(message.template, mainland=mainland),
            parameters=message.parameters,
            out_id=message.id,
        )

    def _template_code(self, template: str, *, mainland: bool) -> str:
        key = "templates" if mainland else "overseas_templates"
        codes: dict[str, str] = getattr(self.options, key)
        if template not in codes:
            _fail_permanently(f"messages.aliyun_sms.{key} has no TemplateCode for {template!r}")
        return codes[template]

    def _require_accepted(self, message: Message, date: str) -> None:
        """Raise unless the gateway's records contain a message whose response was lost.

        A missing record proves nothing, because records appear with a delay. Sending again could
        therefore deliver two codes, so the message is reported as uncertain instead.
        """
        number = _aliyun_number(message.recipient)
        try:
            was_accepted = self._client.has_accepted(number=number, date=date, out_id=message.id)
        except GatewayFailure:
            was_accepted = False
        if not was_accepted:
            raise DeliveryUncertain("Aliyun SMS did not respond and may have sent it")


def _new_client(options: AliyunSmsOptions) -> "AliyunSmsClient":
    # Imported here because the SDK takes half a second to import.
    from strongroom_sms_aliyun.client import AliyunSmsClient

    return AliyunSmsClient(options)


def _aliyun_number(recipient: str) -> str:
    """Return an E.164 number in Aliyun's form: mainland numbers without the country code, no plus."""
    return recipient.removeprefix(MAINLAND).removeprefix("+")


def _raise_refusal(refusal: Refused) -> NoReturn:
    reason = f"Aliyun SMS refused: {refusal.code}, request {refusal.request_id or 'not sent'}"
    if refusal.code in RECIPIENT_ERRORS:
        raise RecipientRefused(reason)
    if refusal.code == LIMIT_ERROR:
        raise SendingThrottled(reason, retry_after=_limit_window(refusal.message))
    if API_LIMIT_ERROR.fullmatch(refusal.code):
        raise SendingThrottled(reason, retry_after=refusal.retry_after or 1)
    if refusal.code in TRANSIENT_ERRORS:
        raise MessageNotSent(reason, retryable=True)
    _fail_permanently(reason)


def _limit_window(message: str) -> int:
    """Return the window in seconds of the limit named in ``message``; a day if none is recognised."""
    return next((seconds for unit, seconds in LIMIT_WINDOWS.items() if unit in message), 86_400)


def _fail_permanently(reason: str) -> NoReturn:
    """Raise and log an error that lasts until the operator fixes the account or configuration."""
    log.error("%s; operator action required", reason)
    raise MessageNotSent(reason, retryable=False)
