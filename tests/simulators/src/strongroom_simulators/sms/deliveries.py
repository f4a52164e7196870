"""Recorded deliveries, and the action QuerySendDetails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from strongroom_simulators.sms.messages import ApiError
from strongroom_simulators.sms.numbers import mainland_number, overseas_number

LARGEST_PAGE = 50
DELIVERED = 3


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message as its recipient would receive it.

    Args:
        recipient: the number in E.164.
        text: the signature in lenticular brackets, followed by the filled template.
        sign_name: the signature without brackets.
        template_code: the code of the template.
        parameters: the values of the template's variables.
        out_id: the sender's reference, if any.
        biz_id: the gateway's reference.
        sent_at: seconds since the Unix epoch.
    """

    recipient: str
    text: str
    sign_name: str
    template_code: str
    parameters: Mapping[str, str]
    out_id: str | None
    biz_id: str
    sent_at: float

    def record(self) -> Mapping[str, object]:
        """Return the delivery in the form of QuerySendDetails."""
        at = _china_time(self.sent_at).strftime("%Y-%m-%d %H:%M:%S")
        return {
            "PhoneNum": self.recipient.removeprefix("+86").removeprefix("+"),
            "Content": self.text,
            "TemplateCode": self.template_code,
            "OutId": self.out_id,
            "SendDate": at,
            "ReceiveDate": at,
            "SendStatus": DELIVERED,
            "ErrCode": "DELIVERED",
        }


def query(deliveries: Sequence[Delivery], given: Mapping[str, str]) -> Mapping[str, object]:
    """Return the fields of a response to QuerySendDetails.

    Raises:
        ApiError: the page is out of range.
    """
    size, number = _whole(given["PageSize"]), _whole(given["CurrentPage"])
    if not 1 <= size <= LARGEST_PAGE or number < 1:
        raise ApiError("isv.INVALID_PARAMETERS", "参数异常")
    found = [delivery for delivery in deliveries if _matches(delivery, given)]
    page = found[(number - 1) * size : number * size]
    records = [delivery.record() for delivery in page]
    return {"TotalCount": str(len(found)), "SmsSendDetailDTOs": {"SmsSendDetailDTO": records}}


def _matches(delivery: Delivery, given: Mapping[str, str]) -> bool:
    number = given["PhoneNumber"]
    return (
        delivery.recipient in (mainland_number(number), overseas_number(number))
        and given["SendDate"] == _china_time(delivery.sent_at).strftime("%Y%m%d")
        and given.get("BizId", delivery.biz_id) == delivery.biz_id
    )


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _china_time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC) + timedelta(hours=8)
