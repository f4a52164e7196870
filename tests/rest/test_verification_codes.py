"""POST /verification-codes: section 5 of the specification (login rules) and the contract's limits."""

import re
from pathlib import Path

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.config import SMS_LOGIN, Table, change_config, merged

from strongroom.assembly.app import create_app, get_container
from strongroom.foundation.config import ConfigurationError, load
from strongroom.testing.clock import HOUR, MINUTE, ManualClock


def request_registration_code(
    api: Api, recipient: str, *, device: str | None = None, address: str = "192.0.2.1"
) -> Answer:
    """Request a code, from a device at an address."""
    headers = {"X-Device-Id": device} if device else {}
    return api.request_code(
        recipient, "register", headers=headers, environ_overrides={"REMOTE_ADDR": address}
    )


@pytest.mark.parametrize(
    ("recipient", "channel", "canonical"),
    [("Alice@Example.com", "email", "Alice@example.com"), ("13800138000", "sms", "+8613800138000")],
)
def test_a_code_is_sent_to_the_recipient(api: Api, recipient: str, channel: str, canonical: str) -> None:
    response = request_registration_code(api, recipient)
    assert response.status_code == 201
    assert set(response.json) == {"id", "expiresAt", "retryAfterSeconds"}
    assert response.json["retryAfterSeconds"] == 60
    (message,) = api.outbox()
    assert (message["channel"], message["recipient"]) == (channel, canonical)
    assert message["code"] in message["text"]
    assert len(message["code"]) == 6


def test_a_mail_with_a_code_names_who_has_requested_it(api: Api) -> None:
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko/20100101 Firefox/133.0"
    for recipient in ("a@example.com", "13800138000"):
        headers = {"User-Agent": agent, "X-Device-Id": f"device-of-{recipient}"}
        api.request_code(recipient, "register", headers=headers)
    mail, sms = api.outbox()
    assert "Requested from: Firefox, Windows, 127.0.0.1" in mail["text"]
    assert "Firefox" not in sms["text"]


def test_messages_speak_the_language_of_the_request(api: Api) -> None:
    headers = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}
    assert api.request_code("a@example.com", "register", headers=headers).status_code == 201
    assert "验证码" in api.outbox()[-1]["text"]


@pytest.mark.rule("5 login 3", "5 binding 2")
def test_sending_requires_a_captcha(api: Api) -> None:
    response = api.post("/verification-codes", {"recipient": "a@example.com", "purpose": "register"})
    assert (response.status_code, error_code(response)) == (400, "error.captcha-required")
    captcha = {"id": api.captcha()["id"], "answer": "41"}
    body = {"recipient": "a@example.com", "purpose": "register", "captcha": captcha}
    assert error_code(api.post("/verification-codes", body)) == "error.captcha-invalid"
    assert api.outbox() == []


def test_a_login_code_without_a_user_is_not_sent(api: Api) -> None:
    for recipient in ("a@example.com", "13800138000"):
        response = api.request_code(recipient, "login")
        assert (response.status_code, error_code(response)) == (501, "error.not-implemented")
    assert api.outbox() == []
    # Nothing was counted.
    assert request_registration_code(api, "a@example.com").status_code == 201


@pytest.mark.config(SMS_LOGIN)
class TestSmsLogin:
    """Login codes where only mobile numbers log in by them."""

    def test_numbers_are_sent_login_codes_and_addresses_are_not(self, api: Api) -> None:
        response = api.request_code("a@example.com", "login")
        assert (response.status_code, error_code(response)) == (400, "error.validation-failed")
        assert response.json["error"]["details"][0]["field"] == "recipient"
        assert api.request_code("13800138000", "login").status_code == 201


class TestGatewayTemplates:
    """A gateway that knows texts by template, and has none for some purposes."""

    @pytest.fixture
    def templates(self) -> dict[str, str]:
        return {"login": "SMS_1", "register": "SMS_2"}

    @pytest.fixture
    def config_changes(self, templates: dict[str, str]) -> Table:
        gateway = {
            "access_key_id": "id",
            "access_key_secret": "secret",
            "sign_name": "Strongroom",
            "endpoint": "127.0.0.1:9",
            "protocol": "http",
            "templates": templates,
        }
        return merged(
            SMS_LOGIN,
            {
                "plugins": {"enabled": ["storage_local", "login_sms", "sms_aliyun"]},
                "login": {"sms_regions": ["CN", "US"]},
                "messages": {"sms": ["aliyun_sms"], "aliyun_sms": gateway},
            },
        )

    @pytest.mark.parametrize("purpose", ["bind", "unbind", "reset-password"])
    def test_a_code_without_a_template_is_refused(self, api: Api, purpose: str) -> None:
        response = api.request_code("13800138000", purpose)
        assert (response.status_code, error_code(response)) == (501, "error.not-implemented")

    def test_a_number_without_a_template_of_its_region_is_refused(self, api: Api) -> None:
        assert api.request_code("+12025550123", "register").status_code == 501

    def test_the_server_does_not_start_without_the_codes_that_it_offers(self, config: Path) -> None:
        change_config(config, {"messages": {"aliyun_sms": {"templates": {"register": None}}}})
        with pytest.raises(ConfigurationError, match=r"messages\.sms: .*codes for register"):
            create_app(load(config, {}), ManualClock())
        change_config(config, {"users": {"registration": "closed"}})
        get_container(create_app(load(config, {}), ManualClock())).close()


def test_a_captcha_sends_one_code(api: Api, clock: ManualClock) -> None:
    body = {"recipient": "a@example.com", "purpose": "register", "captcha": api.captcha()}
    assert api.post("/verification-codes", body).status_code == 201
    clock.advance(2 * MINUTE)
    assert error_code(api.post("/verification-codes", body)) == "error.captcha-invalid"


@pytest.mark.parametrize("recipient", ["alice", "", "a@b", "12"])
def test_only_addresses_and_numbers_receive_codes(api: Api, recipient: str) -> None:
    response = request_registration_code(api, recipient)
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


@pytest.mark.rule("5 login 3", "8 SMS code sending rate")
def test_one_code_a_minute_to_a_device(api: Api, clock: ManualClock) -> None:
    assert request_registration_code(api, "a@example.com", device="phone").status_code == 201
    response = request_registration_code(api, "b@example.com", device="phone", address="192.0.2.2")
    assert (response.status_code, error_code(response)) == (429, "error.too-many-requests")
    assert response.headers["Retry-After"] == "60"
    clock.advance(MINUTE)
    assert request_registration_code(api, "b@example.com", device="phone").status_code == 201


@pytest.mark.rule("8 SMS code sending rate")
def test_without_a_device_id_address_and_user_agent_are_the_device(api: Api) -> None:
    assert request_registration_code(api, "a@example.com").status_code == 201
    assert request_registration_code(api, "b@example.com").status_code == 429
    assert request_registration_code(api, "b@example.com", address="192.0.2.2").status_code == 201


def test_two_clients_of_one_address_with_the_ids_that_they_got_are_two_devices(api: Api) -> None:
    devices = [api.post("/captchas", {}).headers["X-Device-Id"] for _ in range(2)]
    for number, device in enumerate(devices):
        recipient = f"{number}@example.com"
        assert request_registration_code(api, recipient, device=device).status_code == 201
    assert request_registration_code(api, "other@example.com", device=devices[0]).status_code == 429


def test_only_a_client_without_a_device_id_gets_one(api: Api) -> None:
    without = request_registration_code(api, "a@example.com")
    assert without.headers["X-Device-Id"]
    assert "X-Device-Id" not in request_registration_code(api, "b@example.com", device="mine").headers
    captcha = api.post("/captchas", {}, headers={"X-Device-Id": "mine"})
    assert "X-Device-Id" not in captcha.headers


def test_new_device_ids_gain_nothing_beyond_the_limit_of_an_address(api: Api) -> None:
    def request(number: int) -> int:
        device = api.post("/captchas", {}).headers["X-Device-Id"]
        return request_registration_code(api, f"{number}@example.com", device=device).status_code

    assert [request(number) for number in range(31)] == [201] * 30 + [429]


def test_a_rotated_device_id_gains_nothing_for_one_recipient(api: Api) -> None:
    assert request_registration_code(api, "a@example.com", device="one").status_code == 201
    for number in range(3):
        response = request_registration_code(
            api, "A@EXAMPLE.com", device=f"other{number}", address=f"192.0.2.{number + 5}"
        )
        assert response.status_code == 429


def test_five_codes_an_hour_and_ten_a_day_to_a_recipient(api: Api, clock: ManualClock) -> None:
    sent = []
    for number in range(60):
        sent.append(
            request_registration_code(
                api, "a@example.com", device=f"{number}", address=f"192.0.2.{number}"
            ).status_code
        )
        clock.advance(MINUTE)
    assert sent.count(201) == 5
    for number in range(12):
        clock.advance(HOUR)
        sent.append(
            request_registration_code(
                api, "a@example.com", device=f"x{number}", address=f"192.0.2.{number}"
            ).status_code
        )
    assert sent.count(201) == 10


def test_thirty_codes_an_hour_from_an_address(api: Api, clock: ManualClock) -> None:
    statuses = [
        request_registration_code(api, f"a{number}@example.com", device=f"{number}").status_code
        for number in range(32)
    ]
    assert statuses == [201] * 30 + [429] * 2
    clock.advance(HOUR)
    assert request_registration_code(api, "b@example.com", device="x").status_code == 201


def test_the_answer_is_the_same_whether_or_not_the_recipient_is_known(api: Api) -> None:
    api.person(email="known@example.com")
    for number, recipient in enumerate(("known@example.com", "unknown@example.com")):
        options = {"headers": {"X-Device-Id": f"{number}"}}
        response = api.request_code(recipient, "reset-password", **options)
        assert response.status_code == 201
        assert set(response.json) == {"id", "expiresAt", "retryAfterSeconds"}
    assert [message["recipient"] for message in api.outbox()] == ["known@example.com"]


def test_no_code_and_no_captcha_answer_stands_in_the_database(api: Api) -> None:
    code = api.code("a@example.com", "register")["code"]
    with api.container.database.read() as connection:
        for table in ("verification_codes", "captchas", "sent_messages", "rate_events", "counters"):
            rows = connection.exec_driver_sql(f"SELECT * FROM {table}").all()
            # As a word, because a longer number or a hash may contain its digits.
            assert re.search(rf"\b{code}\b", str(rows)) is None
