"""The sender for any HTTP gateway, against real servers."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import parse_qs

import pytest
from tests.support.endpoints import Received

from strongroom.plugin_api.messages import Message, MessageNotSent, SendingThrottled
from strongroom.testing.messages import Arrival, Delivered, MessageSenderContract, get_trace, new_message
from strongroom_login_sms.http import HttpSms
from strongroom_login_sms.options import HttpSmsOptions

JSON_BODY = '{"to": ["{recipient}"], "message": "{text}", "ref": "{id}", "ttl": 300}'
FORM_BODY = "to={recipient}&message={text}&ref={id}&key=k%26y"


MakeSender = Callable[..., HttpSms]


@pytest.fixture
def make_sender(received: Received) -> Iterator[MakeSender]:
    made: list[HttpSms] = []

    def make(**changes: Any) -> HttpSms:
        options = HttpSmsOptions(url=received.url, body=JSON_BODY, headers={"X-Key": "planted-secret"})
        made.append(HttpSms(replace(options, **changes)))
        return made[-1]

    yield make
    for sender in made:
        sender.close()


@pytest.fixture
def message() -> Message:
    return new_message("sms")


class TestHttpSms(MessageSenderContract):
    @pytest.fixture
    def sender(self, make_sender: MakeSender) -> HttpSms:
        return make_sender()

    @pytest.fixture
    def unreachable_sender(self, make_sender: MakeSender, dead_endpoint: str) -> HttpSms:
        return make_sender(url=f"http://{dead_endpoint}/")

    @pytest.fixture
    def delivered(self, received: Received) -> Delivered:
        def arrivals() -> Sequence[Arrival]:
            bodies = [json.loads(body) for _, _, body in received.requests]
            return [Arrival(body["to"][0], body["message"]) for body in bodies]

        return arrivals


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_method_headers_and_media_type_are_as_configured(
    make_sender: MakeSender, received: Received, message: Message, method: str
) -> None:
    make_sender(method=method).send(message)
    ((used, headers, _),) = received.requests
    assert (used, headers["X-Key"], headers["Content-Type"]) == (
        method,
        "planted-secret",
        "application/json",
    )


def test_a_json_body_keeps_its_structure_with_any_values(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    hostile = 'quote " brace } {code} \\ \n 验证码'
    make_sender().send(replace(message, text=hostile))
    ((_, _, body),) = received.requests
    expected = {"to": [message.recipient], "message": hostile, "ref": message.id, "ttl": 300}
    assert json.loads(body) == expected


def test_a_form_keeps_its_fields_with_any_values(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    hostile = "a&to=+10000000000&b=%26 {code} 验证码"
    make_sender(body=FORM_BODY, encoding="form").send(replace(message, text=hostile))
    ((_, headers, body),) = received.requests
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert parse_qs(body.decode()) == {
        "to": [message.recipient],
        "message": [hostile],
        "ref": [message.id],
        "key": ["k&y"],
    }


def test_gateways_with_templates_get_template_and_code(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    make_sender(body='{"template": "{template}", "values": {"c": "{code}"}}').send(message)
    ((_, _, body),) = received.requests
    assert json.loads(body) == {"template": "login", "values": {"c": message.parameters["code"]}}


def test_a_message_without_a_code_leaves_its_place_empty(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    make_sender(body='["{code}"]').send(replace(message, parameters={}))
    assert received.requests[0][2] == b'[""]'


@pytest.mark.parametrize(
    ("accepted", "status"),
    [(("2xx",), 204), (("202",), 202), (("202", "409"), 409)],
)
def test_a_configured_status_means_that_it_was_taken(
    make_sender: MakeSender, received: Received, message: Message, accepted: tuple[str, ...], status: int
) -> None:
    received.status = status
    make_sender(accepted=accepted).send(message)
    assert len(received.requests) == 1


@pytest.mark.parametrize(
    ("accepted", "status"), [(("2xx",), 302), (("202",), 200), (("202", "409"), 404)]
)
def test_any_other_status_means_that_it_was_not(
    make_sender: MakeSender, received: Received, message: Message, accepted: tuple[str, ...], status: int
) -> None:
    received.status = status
    received.headers = {"Location": received.url}
    with pytest.raises(MessageNotSent, match=f"returned {status}"):
        make_sender(accepted=accepted).send(message)
    assert len(received.requests) == 1


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (500, False), (503, True)]
)
def test_only_an_unavailable_gateway_is_called_again(
    make_sender: MakeSender, received: Received, message: Message, status: int, retryable: bool
) -> None:
    received.status = status
    with pytest.raises(MessageNotSent) as failure:
        make_sender().send(message)
    assert failure.value.retryable is retryable


@pytest.mark.parametrize(("header", "seconds"), [("17", 17), ("0", 1), ("soon", 60), (None, 60)])
def test_a_throttling_gateway_says_how_long_to_wait(
    make_sender: MakeSender, received: Received, message: Message, header: str | None, seconds: int
) -> None:
    received.status = 429
    received.headers = {"Retry-After": header} if header else {}
    with pytest.raises(SendingThrottled) as failure:
        make_sender().send(message)
    assert failure.value.retry_after == seconds


def test_a_throttling_gateway_may_name_a_date(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    received.status = 429
    received.headers = {
        "Retry-After": format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    }
    with pytest.raises(SendingThrottled) as failure:
        make_sender().send(message)
    assert 3590 <= failure.value.retry_after <= 3600


def test_a_broken_answer_may_mean_that_it_was_taken(
    make_sender: MakeSender, received: Received, message: Message
) -> None:
    received.status = 0
    with pytest.raises(MessageNotSent) as failure:
        make_sender().send(message)
    assert not failure.value.retryable
    assert len(received.requests) == 1


def test_a_time_out_is_not_retryable_and_shows_nothing(
    make_sender: MakeSender, mute_endpoint: str, message: Message
) -> None:
    sender = make_sender(url=f"http://{mute_endpoint}/", timeout_seconds=0.05)
    with pytest.raises(MessageNotSent) as failure:
        sender.send(message)
    assert not failure.value.retryable
    shown = get_trace(failure.value) + repr(sender.options)
    assert message.text not in shown
    assert "planted-secret" not in shown


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"body": "{recipient}"}, "body: is not JSON"),
        (
            {"body": '{"key": "planted-secret", "to": "{receiver}"}'},
            "unknown placeholder 'receiver'",
        ),
        ({"body": "to", "encoding": "form"}, "body: is not a form"),
        ({"body": "to=%7Breceiver%7D", "encoding": "form"}, "unknown placeholder 'receiver'"),
        ({"accepted": ("OK",)}, "accepted: 'OK' is not a status"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(
    make_sender: MakeSender, changes: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        make_sender(**changes)
    assert "planted-secret" not in get_trace(refusal.value)


def test_a_connection_that_never_comes_about_may_be_tried_again(
    make_sender: MakeSender, full_endpoint: str, message: Message
) -> None:
    sender = make_sender(url=f"http://{full_endpoint}/", timeout_seconds=0.05)
    with pytest.raises(MessageNotSent, match="cannot be reached") as failure:
        sender.send(message)
    assert failure.value.retryable


def test_closing_releases_the_connections(make_sender: MakeSender, message: Message) -> None:
    sender = make_sender()
    sender.send(message)
    assert len(sender._pool.pools) == 1
    sender.close()
    assert len(sender._pool.pools) == 0
