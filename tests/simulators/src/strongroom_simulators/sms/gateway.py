"""The SMS service: validation, limits and deliveries."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from strongroom_simulators.sms.account import Account
from strongroom_simulators.sms.authentication import Authenticator, Call
from strongroom_simulators.sms.deliveries import Delivery, query
from strongroom_simulators.sms.limits import PER_NUMBER, PER_SIGNATURE_AND_NUMBER, RollingLimits
from strongroom_simulators.sms.messages import ApiError, ApiRequest, ApiResponse, new_request_id
from strongroom_simulators.sms.numbers import (
    is_mainland_with_code,
    mainland_number,
    overseas_number,
)
from strongroom_simulators.sms.templates import Template, parse_parameters

API_VERSION = "2017-05-25"
MOST_NUMBERS = 1000


class Gateway:
    """Implements the actions SendSms and QuerySendDetails for one account.

    Args:
        account: the key, signatures and templates.
        clock: the time in seconds since the Unix epoch.
        limited: whether the carriers' limits apply.
    """

    def __init__(
        self,
        account: Account | None = None,
        *,
        clock: Callable[[], float] = time.time,
        limited: bool = True,
    ) -> None:
        self.account = account or Account()
        self.refusal: ApiError | None = None
        """The error of every SendSms while it is set."""
        self._clock = clock
        self._authenticator = Authenticator(
            {self.account.access_key_id: self.account.access_key_secret}, clock
        )
        self._by_signature = RollingLimits(PER_SIGNATURE_AND_NUMBER if limited else ())
        self._by_number = RollingLimits(PER_NUMBER if limited else ())
        self._deliveries: list[Delivery] = []
        self._serial = itertools.count(1)
        self._lock = Lock()

    @property
    def deliveries(self) -> Sequence[Delivery]:
        """All deliveries, in order."""
        return tuple(self._deliveries)

    def clear(self) -> None:
        """Remove the deliveries; the counts of the limits are not reset."""
        self._deliveries.clear()

    def handle(self, request: ApiRequest) -> ApiResponse:
        """Execute a request and return its response."""
        try:
            fields = self._act(self._authenticator.authenticate(request))
        except ApiError as error:
            return error.response()
        return ApiResponse(200, {"RequestId": new_request_id(), "Code": "OK", "Message": "OK", **fields})

    def _act(self, call: Call) -> Mapping[str, object]:
        if call.version != API_VERSION:
            raise ApiError("InvalidVersion", "Specified parameter Version is not valid.", status=400)
        if call.action == "SendSms":
            return {"BizId": self._send(call.parameters)}
        if call.action == "QuerySendDetails":
            _require(call.parameters, "PhoneNumber", "SendDate", "PageSize", "CurrentPage")
            return query(self.deliveries, call.parameters)
        message = "Specified api is not found, please check your url and method."
        raise ApiError("InvalidAction.NotFound", message, status=404)

    def _send(self, given: Mapping[str, str]) -> str:
        _require(given, "PhoneNumbers", "SignName", "TemplateCode")
        if self.refusal:
            raise self.refusal
        sign_name = given["SignName"]
        if sign_name not in self.account.sign_names:
            raise ApiError("isv.SMS_SIGNATURE_ILLEGAL", "短信签名不合法")
        template = self._template(given["TemplateCode"])
        recipients = _recipients(given["PhoneNumbers"], template)
        parameters = parse_parameters(given.get("TemplateParam", ""))
        text = f"【{sign_name}】{template.fill(parameters)}"
        with self._lock:
            now = self._clock()
            self._count(recipients, sign_name, now)
            biz_id = f"{round(now * 1000)}{next(self._serial):06}^0"
            self._deliveries += [
                Delivery(
                    recipient,
                    text,
                    sign_name,
                    template.code,
                    parameters,
                    given.get("OutId"),
                    biz_id,
                    now,
                )
                for recipient in recipients
            ]
        return biz_id

    def _template(self, code: str) -> Template:
        for template in self.account.templates:
            if template.code == code:
                return template
        raise ApiError("isv.SMS_TEMPLATE_ILLEGAL", "模版不合法(不存在或被拉黑)")

    def _count(self, recipients: Sequence[str], sign_name: str, now: float) -> None:
        """Count a submission against every limit, or against none if one of them is exceeded."""
        for recipient in recipients:
            exceeded = self._by_signature.exceeded((sign_name, recipient), now)
            exceeded = exceeded or self._by_number.exceeded(recipient, now)
            if exceeded:
                message = f"触发{exceeded.level}流控Permits:{exceeded.permits}"
                raise ApiError("isv.BUSINESS_LIMIT_CONTROL", message)
        for recipient in recipients:
            self._by_signature.record((sign_name, recipient), now)
            self._by_number.record(recipient, now)


def _require(given: Mapping[str, str], *names: str) -> None:
    for name in names:
        if not given.get(name):
            raise ApiError(f"Missing{name}", f"{name} is mandatory for this action.", status=400)


def _recipients(text: str, template: Template) -> list[str]:
    """Return the distinct numbers of a list, in E.164."""
    written = text.split(",")
    if len(written) > MOST_NUMBERS:
        raise ApiError("isv.MOBILE_COUNT_OVER_LIMIT", "手机号码数量超过限制")
    if template.overseas and any(map(is_mainland_with_code, written)):
        raise ApiError("isv.DOMESTIC_NUMBER_NOT_SUPPORTED", "国际/港澳台消息模板不支持发送境内号码")
    read = overseas_number if template.overseas else mainland_number
    numbers = [read(number) for number in written]
    recipients = [number for number in numbers if number]
    if len(recipients) < len(numbers):
        raise ApiError("isv.MOBILE_NUMBER_ILLEGAL", "非法手机号")
    return list(dict.fromkeys(recipients))
