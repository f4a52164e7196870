"""The sender for any HTTP gateway, against real servers."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs

import pytest

from strongroom.plugin_api.messages import Message, MessageNotSent, SendingThrottled
from strongroom.testing.messages import Arrival, Delivered, MessageSenderContract, new_message, trace_of
from strongroom_login_sms.http import HttpSms
from strongroom_login_sms.options import HttpSmsOptions

JSON_BODY = '{"to": ["{recipient}"], "message": "{text}", "ref": "{id}", "ttl": 300}'
FORM_BODY = "to={recipient}&message={text}&ref={id}&key=k%26y"


@dataclass
class Received:
    """A server that notes requests, and answers as it is told."""

    port: int = 0
    status: int = 202
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/send"


@pytest.fixture
def server() -> Iterator[Received]:
    received = Received()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.requests.append((self.command, dict(self.headers), body))
            if received.status:
                self.send_response(received.status)
                for name, value in received.headers.items():
                    self.send_header(name, value)
                self.end_headers()

        do_PUT = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        received.port = listening.server_address[1]
        thread = Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        yield received
        listening.shutdown()
        thread.join()


MakeSender = Callable[..., HttpSms]


@pytest.fixture
def make_sender(server: Received) -> Iterator[MakeSender]:
    made: list[HttpSms] = []

    def make(**changes: object) -> HttpSms:
        options = HttpSmsOptions(url=server.url, body=JSON_BODY, headers={"X-Key": "planted-secret"})
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
    def delivered(self, server: Received) -> Delivered:
        def arrivals() -> Sequence[Arrival]:
            bodies = [json.loads(body) for _, _, body in server.requests]
            return [Arrival(body["to"][0], body["message"]) for body in bodies]

        return arrivals


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_method_headers_and_media_type_are_as_configured(
    make_sender: MakeSender, server: Received, message: Message, method: str
) -> None:
    make_sender(method=method).send(message)
    ((used, headers, _),) = server.requests
    assert (used, headers["X-Key"], headers["Content-Type"]) == (
        method,
        "planted-secret",
        "application/json",
    )


def test_a_json_body_keeps_its_structure_whatever_the_values_hold(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    hostile = 'quote " brace } {code} \\ \n 验证码'
    make_sender().send(replace(message, text=hostile))
    ((_, _, body),) = server.requests
    expected = {"to": [message.recipient], "message": hostile, "ref": message.id, "ttl": 300}
    assert json.loads(body) == expected


def test_a_form_keeps_its_fields_whatever_the_values_hold(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    hostile = "a&to=+10000000000&b=%26 {code} 验证码"
    make_sender(body=FORM_BODY, encoding="form").send(replace(message, text=hostile))
    ((_, headers, body),) = server.requests
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert parse_qs(body.decode()) == {
        "to": [message.recipient],
        "message": [hostile],
        "ref": [message.id],
        "key": ["k&y"],
    }


def test_gateways_with_templates_get_template_and_code(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    make_sender(body='{"template": "{template}", "values": {"c": "{code}"}}').send(message)
    ((_, _, body),) = server.requests
    assert json.loads(body) == {"template": "login", "values": {"c": message.parameters["code"]}}


def test_a_message_without_a_code_leaves_its_place_empty(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    make_sender(body='["{code}"]').send(replace(message, parameters={}))
    assert server.requests[0][2] == b'[""]'


@pytest.mark.parametrize(
    ("accepted", "status", "taken"),
    [(("2xx",), 204, True), (("2xx",), 302, False), (("202",), 200, False), (("202", "409"), 409, True)],
)
def test_the_configured_statuses_alone_mean_that_it_was_taken(
    make_sender: MakeSender,
    server: Received,
    message: Message,
    accepted: tuple[str, ...],
    status: int,
    taken: bool,
) -> None:
    server.status = status
    sender = make_sender(accepted=accepted)
    if taken:
        sender.send(message)
    else:
        with pytest.raises(MessageNotSent, match=str(status)):
            sender.send(message)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "retryable"), [(400, False), (401, False), (500, False), (503, True)]
)
def test_only_a_gateway_that_is_away_is_asked_again(
    make_sender: MakeSender, server: Received, message: Message, status: int, retryable: bool
) -> None:
    server.status = status
    with pytest.raises(MessageNotSent) as failure:
        make_sender().send(message)
    assert failure.value.retryable is retryable


@pytest.mark.parametrize(("header", "seconds"), [("17", 17), ("0", 1), ("soon", 60), (None, 60)])
def test_a_throttling_gateway_says_how_long_to_wait(
    make_sender: MakeSender, server: Received, message: Message, header: str | None, seconds: int
) -> None:
    server.status = 429
    server.headers = {"Retry-After": header} if header else {}
    with pytest.raises(SendingThrottled) as failure:
        make_sender().send(message)
    assert failure.value.retry_after == seconds


def test_a_throttling_gateway_may_name_a_date(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    server.status = 429
    server.headers = {
        "Retry-After": format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    }
    with pytest.raises(SendingThrottled) as failure:
        make_sender().send(message)
    assert 3590 <= failure.value.retry_after <= 3600


def test_a_broken_answer_may_mean_that_it_was_taken(
    make_sender: MakeSender, server: Received, message: Message
) -> None:
    server.status = 0
    with pytest.raises(MessageNotSent) as failure:
        make_sender().send(message)
    assert not failure.value.retryable
    assert len(server.requests) == 1


def test_a_time_out_is_not_retryable_and_shows_nothing(
    make_sender: MakeSender, mute_endpoint: str, message: Message
) -> None:
    sender = make_sender(url=f"http://{mute_endpoint}/", timeout_seconds=0.05)
    with pytest.raises(MessageNotSent) as failure:
        sender.send(message)
    assert not failure.value.retryable
    shown = trace_of(failure.value) + repr(sender.options)
    assert message.text not in shown
    assert "planted-secret" not in shown


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"body": "{recipient}"}, "body: is not JSON"),
        (
            {"body": '{"key": "planted-secret", "to": "{receiver}"}'},
            "no placeholder is called 'receiver'",
        ),
        ({"body": "to", "encoding": "form"}, "body: is not a form"),
        ({"body": "to=%7Breceiver%7D", "encoding": "form"}, "no placeholder is called 'receiver'"),
        ({"accepted": ("OK",)}, "accepted: 'OK' is not a status"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(
    make_sender: MakeSender, changes: dict[str, object], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint) as refusal:
        make_sender(**changes)
    assert "planted-secret" not in trace_of(refusal.value)
