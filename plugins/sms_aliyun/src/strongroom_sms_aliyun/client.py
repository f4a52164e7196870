"""Typed client around the vendor's SDK, which no other module imports because it is slow to import."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from alibabacloud_dysmsapi20170525.client import Client  # type: ignore[import-untyped]
from alibabacloud_dysmsapi20170525.models import (  # type: ignore[import-untyped]
    QuerySendDetailsRequest,
    SendSmsRequest,
)
from alibabacloud_tea_openapi.exceptions import AlibabaCloudException  # type: ignore[import-untyped]
from alibabacloud_tea_openapi.utils_models import Config  # type: ignore[import-untyped]
from requests.exceptions import ConnectionError as RequestsConnectionError
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from strongroom_sms_aliyun.failures import GatewayFailure, NotAnswered, NotReached, Refused
from strongroom_sms_aliyun.options import AliyunSmsOptions

SUCCESS = "OK"
# A number receives at most 40 messages per day, so one page contains all of them.
PAGE_SIZE = 50
SERVER_ERROR = 500
SERVICE_UNAVAILABLE = 503


class AliyunSmsClient:
    """Sends messages and queries deliveries. Thread-safe."""

    def __init__(self, options: AliyunSmsOptions) -> None:
        _keep_codes_out_of_logs()
        self._client: Any = Client(
            Config(
                access_key_id=options.access_key_id,
                access_key_secret=options.access_key_secret,
                region_id=options.region,
                endpoint=options.endpoint,
                protocol=options.protocol,
                connect_timeout=round(options.connect_timeout_seconds * 1000),
                read_timeout=round(options.read_timeout_seconds * 1000),
            )
        )

    def send(
        self,
        *,
        number: str,
        sign_name: str,
        template_code: str,
        parameters: Mapping[str, str],
        out_id: str,
    ) -> str:
        """Submit one message and return the gateway's receipt, the BizId.

        Raises:
            GatewayFailure: a subclass, which states whether the message was submitted.
        """
        request = SendSmsRequest(
            phone_numbers=number,
            sign_name=sign_name,
            template_code=template_code,
            template_param=json.dumps(dict(parameters), ensure_ascii=False),
            out_id=out_id,
        )
        return str(_body(lambda: self._client.send_sms(request)).biz_id)

    def has_accepted(self, *, number: str, date: str, out_id: str) -> bool:
        """Return whether the gateway's records of a day (``yyyyMMdd``) contain a message.

        Raises:
            GatewayFailure: the records could not be read.
        """
        request = QuerySendDetailsRequest(
            phone_number=number, send_date=date, page_size=PAGE_SIZE, current_page=1
        )
        details = _body(lambda: self._client.query_send_details(request)).sms_send_detail_dtos
        records = details.sms_send_detail_dto if details else []
        return any(record.out_id == out_id for record in records)


def _body(call: Callable[[], Any]) -> Any:
    """Return the body of a successful response to an SDK call.

    The SDK's exceptions contain the whole URL, including the verification code. The replacement is
    therefore raised outside the handler, so that its context does not refer to them.
    """
    try:
        body = call().body
        if body.code == SUCCESS:
            return body
        failure: GatewayFailure = Refused(str(body.code), str(body.message), body.request_id)
    except Exception as error:  # the SDK's exceptions have no common base class
        failure = _failure(error)
    raise failure


def _failure(error: Exception) -> GatewayFailure:
    if not isinstance(error, AlibabaCloudException):
        return NotReached() if _never_connected(error) else NotAnswered()
    # No status: the SDK refused the request before sending it.
    status = error.status_code or 0
    if status >= SERVER_ERROR and status != SERVICE_UNAVAILABLE:
        return NotAnswered()
    milliseconds = error.retry_after
    retry_after = -(-milliseconds // 1000) if milliseconds else None
    return Refused(error.code, error.message, error.request_id, retry_after)


def _never_connected(error: BaseException) -> bool:
    """Return whether the connection failed before any byte of the request was sent."""
    cause = getattr(error, "inner_exception", error).__context__
    if not isinstance(cause, RequestsConnectionError):
        return False
    reason = getattr(next(iter(cause.args), None), "reason", None)
    return isinstance(reason, NewConnectionError | ConnectTimeoutError)


def _keep_codes_out_of_logs() -> None:
    """Suppress the two debug messages with a URL, because the SDK sends the code in the query."""
    for name in ("urllib3.connectionpool", "darabonba-core"):
        logging.getLogger(name).addFilter(_shows_no_parameters)


def _shows_no_parameters(record: logging.LogRecord) -> bool:
    return "TemplateParam" not in record.getMessage()
