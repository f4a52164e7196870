"""The Aliyun sender: the vendor's own SDK against the simulated gateway, over HTTP."""

import logging
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.endpoints import Received

from strongroom.plugin_api.messages import (
    Message,
    MessageNotSent,
    RecipientRefused,
    SendingThrottled,
)
from strongroom.testing.messages import (
    Arrival,
    Delivered,
    MessageSenderContract,
    get_trace,
    new_message,
    shows_code,
)
from strongroom_simulators.sms import Account, ApiError, Gateway, Line, SmsSimulator
from strongroom_sms_aliyun.sender import AliyunSms

from .conftest import MAINLAND_TEMPLATE, OVERSEAS_TEMPLATE, Clock, aliyun_options

# The SDK reads the time in a way that Python 3.12 deprecates.
pytestmark = pytest.mark.filterwarnings(r"ignore:datetime.datetime.utcnow\(\) is deprecated")


def logged(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return what the plugin logged, without threads of the server that end with an earlier test."""
    return [record for record in caplog.records if record.name.startswith("strongroom_sms_aliyun")]


class TestAliyunSms(MessageSenderContract):
    @pytest.fixture
    def sender(self, aliyun: AliyunSms) -> AliyunSms:
        return aliyun

    @pytest.fixture
    def unreachable_sender(self, dead_endpoint: str) -> AliyunSms:
        return AliyunSms(aliyun_options(dead_endpoint))

    @pytest.fixture
    def delivered(self, gateway: Gateway) -> Delivered:
        def arrivals() -> Sequence[Arrival]:
            return [Arrival(delivery.recipient, delivery.text) for delivery in gateway.deliveries]

        return arrivals


@pytest.fixture
def message() -> Message:
    return new_message("sms")


def test_the_gateway_knows_the_message_by_our_id_and_we_know_it_by_its_receipt(
    aliyun: AliyunSms, gateway: Gateway, message: Message
) -> None:
    receipt = aliyun.send(message)
    (delivery,) = gateway.deliveries
    assert (delivery.out_id, delivery.biz_id) == (message.id, receipt)


@pytest.mark.parametrize(
    ("recipient", "template_code"),
    [("+8613812345678", MAINLAND_TEMPLATE), ("+85251234567", OVERSEAS_TEMPLATE)],
)
def test_the_template_depends_on_where_the_number_is(
    aliyun: AliyunSms, gateway: Gateway, recipient: str, template_code: str
) -> None:
    aliyun.send(new_message("sms", recipient=recipient))
    (delivery,) = gateway.deliveries
    assert (delivery.recipient, delivery.template_code) == (recipient, template_code)


@pytest.mark.parametrize(
    ("recipient", "sign_name"), [("+8613812345678", "Strongroom"), ("+85251234567", "Strongroom HK")]
)
def test_the_signature_may_depend_on_it_too(
    gateway_clock: Clock, recipient: str, sign_name: str
) -> None:
    account = Account(sign_names=("Strongroom", "Strongroom HK"))
    with SmsSimulator(Gateway(account, clock=gateway_clock)) as simulator:
        options = aliyun_options(simulator.endpoint, overseas_sign_name="Strongroom HK")
        AliyunSms(options).send(new_message("sms", recipient=recipient))
    assert [delivery.sign_name for delivery in simulator.gateway.deliveries] == [sign_name]


def test_an_overseas_number_that_looks_like_a_mainland_one_stays_overseas(
    aliyun: AliyunSms, gateway: Gateway
) -> None:
    aliyun.send(new_message("sms", recipient="+13105550123"))
    assert [delivery.recipient for delivery in gateway.deliveries] == ["+13105550123"]


def test_a_template_without_a_code_is_the_operators_to_mend(
    aliyun: AliyunSms, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(
        MessageNotSent, match=r"messages\.aliyun_sms\.templates .*'unheard-of'"
    ) as failure:
        aliyun.send(new_message("sms", template="unheard-of"))
    assert not failure.value.retryable
    assert [record.levelno for record in logged(caplog)] == [logging.ERROR]
    assert gateway.deliveries == ()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"sign_name": "Somebody else"}, "isv.SMS_SIGNATURE_ILLEGAL"),
        ({"templates": {"login": "SMS_404"}}, "isv.SMS_TEMPLATE_ILLEGAL"),
        ({"access_key_id": "nobody"}, "InvalidAccessKeyId.NotFound"),
        ({"access_key_secret": "wrong"}, "SignatureDoesNotMatch"),
    ],
)
def test_a_refusal_names_the_gateways_code_and_may_not_be_repeated(
    simulator: SmsSimulator, changes: dict[str, object], code: str
) -> None:
    sender = AliyunSms(aliyun_options(simulator.endpoint, **changes))
    with pytest.raises(MessageNotSent, match=re.escape(code)) as failure:
        sender.send(new_message("sms"))
    assert not failure.value.retryable


def test_a_refused_signature_shows_neither_code_nor_secret(
    simulator: SmsSimulator, message: Message, caplog: pytest.LogCaptureFixture
) -> None:
    """The gateway's answer repeats the whole request, so this is where it could leak."""
    caplog.set_level("DEBUG")
    sender = AliyunSms(aliyun_options(simulator.endpoint, access_key_secret="planted-secret"))
    with pytest.raises(MessageNotSent) as failure:
        sender.send(message)
    shown = get_trace(failure.value) + caplog.text + repr(sender.options)
    assert "SignatureDoesNotMatch" in shown
    assert "planted-secret" not in shown
    assert not shows_code(shown, message.parameters["code"])


def test_limits_of_minute_and_hour_say_how_long_to_wait(
    aliyun: AliyunSms, gateway_clock: Clock, gateway: Gateway
) -> None:
    aliyun.send(new_message("sms"))
    with pytest.raises(SendingThrottled) as minute:
        aliyun.send(new_message("sms"))
    for _ in range(4):
        gateway_clock.advance(60)
        aliyun.send(new_message("sms"))
    gateway_clock.advance(60)
    with pytest.raises(SendingThrottled) as hour:
        aliyun.send(new_message("sms"))
    assert (minute.value.retry_after, hour.value.retry_after) == (60, 3600)
    assert len(gateway.deliveries) == 5


def test_of_threads_at_once_one_gets_through_a_limit(aliyun: AliyunSms, gateway: Gateway) -> None:
    def send(_: int) -> bool:
        try:
            return bool(aliyun.send(new_message("sms")))
        except SendingThrottled:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(8))) == 1
    assert len(gateway.deliveries) == 1


@pytest.mark.parametrize(
    ("words", "retry_after"), [("触发天级流控Permits:10", 86_400), ("what it never said before", 86_400)]
)
def test_the_limit_of_a_day_and_one_unheard_of_wait_a_day(
    aliyun: AliyunSms, gateway: Gateway, message: Message, words: str, retry_after: int
) -> None:
    gateway.refusal = ApiError("isv.BUSINESS_LIMIT_CONTROL", words)
    with pytest.raises(SendingThrottled) as failure:
        aliyun.send(message)
    assert failure.value.retry_after == retry_after


@pytest.mark.parametrize(
    ("code", "status"), [("isv.MOBILE_NUMBER_ILLEGAL", 200), ("isv.MOBILE_NUMBER_ILLEGAL", 400)]
)
def test_a_refused_number_is_the_clients_mistake_with_any_status(
    aliyun: AliyunSms, gateway: Gateway, message: Message, code: str, status: int
) -> None:
    gateway.refusal = ApiError(code, "", status=status)
    with pytest.raises(RecipientRefused, match=code):
        aliyun.send(message)


@pytest.mark.parametrize(
    "code",
    [
        "isv.DAY_LIMIT_CONTROL",
        "isv.MONTH_LIMIT_CONTROL",
        "isv.OUT_OF_SERVICE",
        "isv.AMOUNT_NOT_ENOUGH",
        "isv.TEMPLATE_MISSING_PARAMETERS",
        "isp.RAM_PERMISSION_DENY",
        "isv.DENY_IP_RANGE",
    ],
)
def test_trouble_with_account_or_configuration_calls_the_operator(
    aliyun: AliyunSms, gateway: Gateway, message: Message, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    gateway.refusal = ApiError(code, "")
    with pytest.raises(MessageNotSent, match=code) as failure:
        aliyun.send(message)
    assert type(failure.value) is MessageNotSent
    assert not failure.value.retryable
    assert [code in record.getMessage() for record in logged(caplog)] == [True]


@pytest.mark.parametrize(("code", "status"), [("isp.SYSTEM_ERROR", 200), ("ServiceUnavailable", 503)])
def test_a_passing_fault_that_the_gateway_reports_may_be_retried(
    aliyun: AliyunSms, gateway: Gateway, message: Message, code: str, status: int
) -> None:
    gateway.refusal = ApiError(code, "", status=status)
    with pytest.raises(MessageNotSent) as failure:
        aliyun.send(message)
    assert failure.value.retryable


def test_too_many_calls_of_the_api_throttle_for_a_moment(
    aliyun: AliyunSms, gateway: Gateway, message: Message
) -> None:
    gateway.refusal = ApiError("Throttling.User", "", status=400)
    with pytest.raises(SendingThrottled) as failure:
        aliyun.send(message)
    assert failure.value.retry_after == 1


def test_too_many_calls_wait_as_long_as_the_gateway_says(received: Received, message: Message) -> None:
    received.status = 400
    received.headers = {"x-acs-retry-after": "2500"}
    received.body = b'{"RequestId": "R", "Code": "Throttling.User", "Message": "slow down"}'
    with pytest.raises(SendingThrottled) as failure:
        AliyunSms(aliyun_options(received.endpoint)).send(message)
    assert failure.value.retry_after == 3


def test_an_answer_lost_on_the_way_is_found_in_the_gateways_records(
    aliyun: AliyunSms, simulator: SmsSimulator, message: Message
) -> None:
    simulator.line = Line.LOSES_ANSWERS
    assert aliyun.send(message) is None
    assert [delivery.out_id for delivery in simulator.gateway.deliveries] == [message.id]


def test_an_answer_lost_for_an_overseas_number_is_found_too(
    aliyun: AliyunSms, simulator: SmsSimulator
) -> None:
    simulator.line = Line.LOSES_ANSWERS
    aliyun.send(new_message("sms", recipient="+85251234567"))
    assert len(simulator.gateway.deliveries) == 1


def test_a_request_lost_on_the_way_is_never_sent_again_blindly(
    aliyun: AliyunSms, simulator: SmsSimulator, message: Message
) -> None:
    aliyun.send(new_message("sms"))
    simulator.line = Line.LOSES_REQUESTS
    with pytest.raises(MessageNotSent) as failure:
        aliyun.send(message)
    assert not failure.value.retryable
    assert message.id not in [delivery.out_id for delivery in simulator.gateway.deliveries]


def test_records_that_cannot_be_read_leave_it_open(received: Received, message: Message) -> None:
    received.status = 0
    with pytest.raises(MessageNotSent, match="may have sent it") as failure:
        AliyunSms(aliyun_options(received.endpoint)).send(message)
    assert not failure.value.retryable
    assert [headers["x-acs-action"] for _, headers, _ in received.requests] == [
        "SendSms",
        "QuerySendDetails",
    ]


def test_an_internal_error_leaves_it_open_whether_the_message_was_taken(
    aliyun: AliyunSms, gateway: Gateway, message: Message
) -> None:
    gateway.refusal = ApiError("InternalError", "", status=500)
    with pytest.raises(MessageNotSent, match="may have sent it") as failure:
        aliyun.send(message)
    assert not failure.value.retryable


def test_a_time_out_is_not_retryable_and_shows_nothing(mute_endpoint: str, message: Message) -> None:
    sender = AliyunSms(aliyun_options(mute_endpoint, read_timeout_seconds=0.05))
    with pytest.raises(MessageNotSent) as failure:
        sender.send(message)
    assert not failure.value.retryable
    assert not shows_code(get_trace(failure.value), message.parameters["code"])


def test_a_connection_that_never_comes_about_may_be_tried_again(
    full_endpoint: str, message: Message
) -> None:
    sender = AliyunSms(aliyun_options(full_endpoint, connect_timeout_seconds=0.05))
    with pytest.raises(MessageNotSent, match="cannot be reached") as failure:
        sender.send(message)
    assert failure.value.retryable


def test_a_refusal_of_the_sdk_itself_calls_the_operator(
    simulator: SmsSimulator, message: Message, caplog: pytest.LogCaptureFixture
) -> None:
    sender = AliyunSms(aliyun_options(simulator.endpoint, access_key_id=""))
    with pytest.raises(MessageNotSent, match="InvalidCredentials, request not sent") as failure:
        sender.send(message)
    assert not failure.value.retryable
    assert [record.levelno for record in logged(caplog)] == [logging.ERROR]


def test_an_answer_that_is_not_the_gateways_leaves_it_open(received: Received, message: Message) -> None:
    received.status = 200
    with pytest.raises(MessageNotSent, match="may have sent it") as failure:
        AliyunSms(aliyun_options(received.endpoint)).send(message)
    assert not failure.value.retryable
