"""Contract tests for message senders."""

import re
import secrets
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pytest

from strongroom.plugin_api.messages import Message, MessageNotSent, MessageSender

RECIPIENTS = {"email": "ann{}@example.org", "sms": "+861381234567{}"}
"""Recipients of the test messages, by channel. The placeholder is a digit."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message that the gateway has received.

    Args:
        recipient: an e-mail address, or a mobile number in E.164.
        text: the text that the recipient reads.
    """

    recipient: str
    text: str


Delivered = Callable[[], Sequence[Arrival]]


def shows_code(text: str, code: str) -> bool:
    """Return whether a text contains a code as a word, also in a URL.

    A port, an address of an object or a random id may contain its digits by chance.
    """
    return re.search(rf"\b{code}\b", unquote(text)) is not None


def new_message(channel: str, *, recipient: str | None = None, template: str = "login") -> Message:
    """Return a message with a random code, like the core's."""
    code = f"{secrets.randbelow(10**6):06}"
    return Message(
        id=secrets.token_hex(16),
        channel=channel,
        recipient=recipient or RECIPIENTS[channel].format(8),
        template=template,
        parameters={"code": code},
        text=f"{code} is your verification code {secrets.token_hex(4)}.",
        subject="Your verification code" if channel == "email" else None,
    )


def get_trace(error: BaseException | None) -> str:
    """Return all texts that a log could contain of an error, including suppressed causes."""
    shown: list[str] = []
    while error:
        shown += [repr(error), *traceback.format_exception(error)]
        # "raise ... from None" hides the context from tracebacks, but not from all log handlers.
        error = error.__cause__ or error.__context__
    return "".join(shown)


class MessageSenderContract:
    """The contract of message senders.

    Provide the fixtures ``sender``, ``unreachable_sender`` and ``delivered``. Override ``messages`` for
    a channel that is neither e-mail nor SMS.
    """

    @pytest.fixture
    def sender(self) -> MessageSender[Any]:
        """A sender whose gateway accepts messages."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def unreachable_sender(self) -> MessageSender[Any]:
        """The same kind of sender, configured with an address where no server listens."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def delivered(self) -> Delivered:
        """A function that returns the messages received so far, in order."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def messages(self, sender: MessageSender[Any]) -> Sequence[Message]:
        """Valid messages to eight recipients."""
        channel = min(sender.channels)
        return [new_message(channel, recipient=RECIPIENTS[channel].format(digit)) for digit in range(8)]

    @pytest.fixture
    def message(self, messages: Sequence[Message]) -> Message:
        return messages[0]

    @pytest.fixture(autouse=True)
    def closed_at_the_end(
        self, sender: MessageSender[Any], unreachable_sender: MessageSender[Any]
    ) -> Iterator[None]:
        yield
        sender.close()
        unreachable_sender.close()

    def test_it_has_a_name_and_serves_a_channel(self, sender: MessageSender[Any]) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", sender.name)
        assert sender.channels
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", channel) for channel in sender.channels)

    def test_a_good_message_arrives_once_and_whole(
        self, sender: MessageSender[Any], message: Message, delivered: Delivered
    ) -> None:
        sender.send(message)
        (arrival,) = delivered()
        assert arrival.recipient == message.recipient
        assert message.parameters["code"] in arrival.text

    def test_a_reference_is_text_or_none(self, sender: MessageSender[Any], message: Message) -> None:
        reference: object = sender.send(message)
        assert reference is None or (isinstance(reference, str) and reference)

    def test_threads_do_not_disturb_each_other(
        self, sender: MessageSender[Any], messages: Sequence[Message], delivered: Delivered
    ) -> None:
        # All threads start at the same time, so that shared state of the sender shows.
        barrier = threading.Barrier(len(messages))

        def send(message: Message) -> None:
            barrier.wait(timeout=30)
            sender.send(message)

        with ThreadPoolExecutor(len(messages)) as pool:
            list(pool.map(send, messages))
        texts = {arrival.recipient: arrival.text for arrival in delivered()}
        assert len(delivered()) == len(messages)
        assert all(message.parameters["code"] in texts[message.recipient] for message in messages)

    def test_an_unreachable_gateway_is_message_not_sent(
        self, unreachable_sender: MessageSender[Any], message: Message, delivered: Delivered
    ) -> None:
        with pytest.raises(MessageNotSent):
            unreachable_sender.send(message)
        assert delivered() == []

    def test_what_never_left_may_be_sent_again(
        self, unreachable_sender: MessageSender[Any], message: Message
    ) -> None:
        with pytest.raises(MessageNotSent) as failure:
            unreachable_sender.send(message)
        assert failure.value.retryable

    def test_a_failure_does_not_contain_the_message(
        self, unreachable_sender: MessageSender[Any], message: Message
    ) -> None:
        with pytest.raises(MessageNotSent) as failure:
            unreachable_sender.send(message)
        assert str(failure.value)
        shown = get_trace(failure.value)
        assert message.text not in shown
        assert not shows_code(shown, message.parameters["code"])

    def test_sending_does_not_log_the_message(
        self,
        sender: MessageSender[Any],
        unreachable_sender: MessageSender[Any],
        message: Message,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level("DEBUG")
        sender.send(message)
        with pytest.raises(MessageNotSent):
            unreachable_sender.send(message)
        assert message.text not in caplog.text
        assert not shows_code(caplog.text, message.parameters["code"])
