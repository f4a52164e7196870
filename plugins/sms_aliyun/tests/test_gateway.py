"""The simulated gateway accepts, refuses and counts messages."""

from collections.abc import Mapping
from typing import Any

import pytest

from strongroom_simulators.sms import Account, Gateway, Template

from .conftest import OVERSEAS_TEMPLATE, Clock
from .signing import A_MESSAGE, acs3_headers, acs3_request

MINUTE, HOUR, DAY = 60, 3600, 86_400


class Api:
    """Calls a gateway at the time of its clock."""

    def __init__(self, gateway: Gateway, clock: Clock) -> None:
        self._gateway = gateway
        self._clock = clock

    def __call__(self, action: str, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        return self._gateway.handle(acs3_request(parameters, acs3_headers(self._clock(), action))).body

    def send(self, **changes: str) -> str:
        return str(self("SendSms", {**A_MESSAGE, **changes})["Code"])


@pytest.fixture
def api(gateway: Gateway, gateway_clock: Clock) -> Api:
    return Api(gateway, gateway_clock)


def test_a_delivery_is_the_text_for_the_recipient(
    api: Api, gateway: Gateway, gateway_clock: Clock
) -> None:
    answer = api("SendSms", {**A_MESSAGE, "OutId": "ours"})
    (delivery,) = gateway.deliveries
    assert (delivery.recipient, delivery.out_id) == ("+8613812345678", "ours")
    assert delivery.text == "【Strongroom】您的验证码为123456。请勿告知他人。"
    assert (delivery.biz_id, delivery.sent_at) == (answer["BizId"], gateway_clock())
    assert set(answer) == {"RequestId", "Code", "Message", "BizId"}


@pytest.mark.parametrize("prefix", ["", "+", "+86", "86", "0086"])
def test_a_mainland_number_is_one_in_all_its_forms(api: Api, gateway: Gateway, prefix: str) -> None:
    assert api.send(PhoneNumbers=f"{prefix}13812345678") == "OK"
    assert gateway.deliveries[0].recipient == "+8613812345678"
    assert api.send() == "isv.BUSINESS_LIMIT_CONTROL"


@pytest.mark.parametrize(
    "number", ["12812345678", "1381234567", "138123456789", "+1 381", "ann", "8613812"]
)
def test_other_than_mainland_numbers_are_refused(api: Api, number: str) -> None:
    assert api.send(PhoneNumbers=number) == "isv.MOBILE_NUMBER_ILLEGAL"


@pytest.mark.parametrize("number", ["85251234567", "+85251234567", "0085251234567"])
def test_overseas_numbers_want_an_overseas_template(api: Api, gateway: Gateway, number: str) -> None:
    assert api.send(PhoneNumbers=number) == "isv.MOBILE_NUMBER_ILLEGAL"
    assert api.send(PhoneNumbers=number, TemplateCode=OVERSEAS_TEMPLATE) == "OK"
    assert gateway.deliveries[0].recipient == "+85251234567"


def test_an_overseas_template_takes_no_mainland_number(api: Api) -> None:
    code = api.send(PhoneNumbers="8613812345678", TemplateCode=OVERSEAS_TEMPLATE)
    assert code == "isv.DOMESTIC_NUMBER_NOT_SUPPORTED"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"SignName": "Somebody else"}, "isv.SMS_SIGNATURE_ILLEGAL"),
        ({"TemplateCode": "SMS_404"}, "isv.SMS_TEMPLATE_ILLEGAL"),
        ({"TemplateParam": ""}, "isv.TEMPLATE_MISSING_PARAMETERS"),
        ({"TemplateParam": "{}"}, "isv.TEMPLATE_MISSING_PARAMETERS"),
        ({"TemplateParam": '{"code": 123456}'}, "isv.INVALID_JSON_PARAM"),
        ({"TemplateParam": '["123456"]'}, "isv.INVALID_JSON_PARAM"),
        ({"TemplateParam": "code=123456"}, "isv.INVALID_JSON_PARAM"),
        ({"TemplateParam": '{"code": "%s"}' % ("1" * 36)}, "isv.PARAM_LENGTH_LIMIT"),
        ({"PhoneNumbers": ""}, "MissingPhoneNumbers"),
        ({"SignName": ""}, "MissingSignName"),
        ({"TemplateCode": ""}, "MissingTemplateCode"),
    ],
)
def test_documented_refusals_are_simulated(
    api: Api, gateway: Gateway, changes: dict[str, str], code: str
) -> None:
    assert api.send(**changes) == code
    assert gateway.deliveries == ()


def test_a_refusal_counts_against_no_limit(api: Api) -> None:
    assert api.send(TemplateParam="{}") == "isv.TEMPLATE_MISSING_PARAMETERS"
    assert api.send() == "OK"


def test_an_unknown_action_and_another_version_are_refused(
    gateway: Gateway, gateway_clock: Clock
) -> None:
    unknown = gateway.handle(acs3_request({}, acs3_headers(gateway_clock(), "SendFax")))
    assert (unknown.status, unknown.body["Code"]) == (404, "InvalidAction.NotFound")
    headers = {**acs3_headers(gateway_clock()), "x-acs-version": "2016-09-27"}
    other = gateway.handle(acs3_request(A_MESSAGE, headers))
    assert (other.status, other.body["Code"]) == (400, "InvalidVersion")


def test_the_windows_of_the_limits_roll(api: Api, gateway_clock: Clock) -> None:
    assert api.send() == "OK"
    gateway_clock.advance(MINUTE - 1)
    assert api.send() == "isv.BUSINESS_LIMIT_CONTROL"
    gateway_clock.advance(1)
    assert [_send_then_wait(api, gateway_clock, MINUTE) for _ in range(5)] == [
        *["OK"] * 4,
        "isv.BUSINESS_LIMIT_CONTROL",
    ]
    gateway_clock.advance(HOUR - 6 * MINUTE)
    assert api.send() == "OK"


def test_ten_a_day_are_enough(api: Api, gateway_clock: Clock) -> None:
    codes = [_send_then_wait(api, gateway_clock, HOUR / 4) for _ in range(11)]
    assert codes == [*["OK"] * 10, "isv.BUSINESS_LIMIT_CONTROL"]
    gateway_clock.advance(DAY - 11 * HOUR / 4)
    assert api.send() == "OK"


def _send_then_wait(api: Api, clock: Clock, seconds: float) -> str:
    code = api.send()
    clock.advance(seconds)
    return code


@pytest.mark.parametrize(
    ("already", "wait", "words"),
    [
        (1, 0, "触发分钟级流控Permits:1"),
        (5, MINUTE, "触发小时级流控Permits:5"),
        (10, HOUR, "触发天级流控Permits:10"),
    ],
)
def test_the_error_says_which_limit_was_hit(
    api: Api, gateway_clock: Clock, already: int, wait: float, words: str
) -> None:
    assert [_send_then_wait(api, gateway_clock, wait) for _ in range(already)] == ["OK"] * already
    assert api("SendSms", A_MESSAGE)["Message"] == words


def test_limits_are_by_number_and_signature_and_forty_a_day_by_number(gateway_clock: Clock) -> None:
    sign_names = tuple(f"Brand {number}" for number in range(41))
    api = Api(Gateway(Account(sign_names=sign_names), clock=gateway_clock), gateway_clock)
    codes = [api.send(SignName=sign_name) for sign_name in sign_names]
    assert codes == [*["OK"] * 40, "isv.BUSINESS_LIMIT_CONTROL"]
    assert api.send(SignName=sign_names[0], PhoneNumbers="13912345678") == "OK"


def test_without_limits_nothing_is_counted(gateway_clock: Clock) -> None:
    api = Api(Gateway(clock=gateway_clock, limited=False), gateway_clock)
    assert {api.send() for _ in range(50)} == {"OK"}


def test_many_numbers_are_taken_together_or_not_at_all(api: Api, gateway: Gateway) -> None:
    assert api.send(PhoneNumbers="13812345678,13912345678,13812345678") == "OK"
    assert [delivery.recipient for delivery in gateway.deliveries] == [
        "+8613812345678",
        "+8613912345678",
    ]
    assert api.send(PhoneNumbers="13712345678,13912345678") == "isv.BUSINESS_LIMIT_CONTROL"
    assert api.send(PhoneNumbers="13712345678") == "OK"


def test_a_thousand_numbers_are_the_most(api: Api) -> None:
    numbers = [f"138{number:08}" for number in range(1001)]
    assert api.send(PhoneNumbers=",".join(numbers)) == "isv.MOBILE_COUNT_OVER_LIMIT"
    assert api.send(PhoneNumbers=",".join(numbers[1:])) == "OK"


def test_templates_may_have_any_variables(gateway_clock: Clock) -> None:
    template = Template("SMS_1", "${name}: ${code}, again ${code}")
    gateway = Gateway(Account(templates=(template,)), clock=gateway_clock)
    parameters = '{"name": "${code}", "code": "1", "unused": "x"}'
    assert Api(gateway, gateway_clock).send(TemplateCode="SMS_1", TemplateParam=parameters) == "OK"
    assert gateway.deliveries[0].text == "【Strongroom】${code}: 1, again 1"


class TestQuerySendDetails:
    @pytest.fixture
    def today(self, gateway_clock: Clock) -> str:
        gateway_clock.now = 1_790_000_000.0  # 2026-09-21 14:13:20 UTC
        return "20260921"

    def details(self, api: Api, today: str, **changes: str) -> Mapping[str, Any]:
        page = {"PhoneNumber": "13812345678", "SendDate": today, "PageSize": "50", "CurrentPage": "1"}
        return api("QuerySendDetails", {**page, **changes})

    def test_a_delivery_is_found_by_number_and_day(self, api: Api, today: str) -> None:
        api.send(OutId="ours")
        answer = self.details(api, today)
        (record,) = answer["SmsSendDetailDTOs"]["SmsSendDetailDTO"]
        assert (answer["TotalCount"], record["OutId"], record["SendStatus"]) == ("1", "ours", 3)
        assert (record["PhoneNum"], record["SendDate"]) == ("13812345678", "2026-09-21 22:13:20")

    def test_a_day_is_one_of_china(self, api: Api, today: str, gateway_clock: Clock) -> None:
        gateway_clock.advance(2 * HOUR)
        api.send()
        assert self.details(api, today)["TotalCount"] == "0"
        assert self.details(api, "20260922")["TotalCount"] == "1"

    def test_receipts_and_other_numbers_are_distinguished(self, api: Api, today: str) -> None:
        receipt = api("SendSms", A_MESSAGE)["BizId"]
        assert self.details(api, today, BizId=receipt)["TotalCount"] == "1"
        assert self.details(api, today, BizId="another")["TotalCount"] == "0"
        assert self.details(api, today, PhoneNumber="13912345678")["TotalCount"] == "0"

    def test_pages_follow_each_other(self, api: Api, today: str, gateway_clock: Clock) -> None:
        for number in range(3):
            api.send(OutId=str(number))
            gateway_clock.advance(MINUTE)
        pages = [self.details(api, today, PageSize="2", CurrentPage=page) for page in ("1", "2", "3")]
        ids = [
            [record["OutId"] for record in page["SmsSendDetailDTOs"]["SmsSendDetailDTO"]]
            for page in pages
        ]
        assert ids == [["0", "1"], ["2"], []]

    @pytest.mark.parametrize(
        "changes", [{"PageSize": "51"}, {"PageSize": "0"}, {"CurrentPage": "first"}]
    )
    def test_a_page_out_of_range_is_refused(self, api: Api, today: str, changes: dict[str, str]) -> None:
        assert self.details(api, today, **changes)["Code"] == "isv.INVALID_PARAMETERS"
