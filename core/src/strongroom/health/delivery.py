"""Tests message senders by sending a message with each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from strongroom.health.findings import Finding, failed, ok
from strongroom.ids import new_id
from strongroom.notifications.templates import DEFAULT_LOCALE, TEMPLATES, text_of
from strongroom.plugin_api.messages import DeliveryUncertain, Message, MessageNotSent, MessageSender

_TEMPLATE: Final = "login"
_PARAMETERS: Final = {"code": "000000", "minutes": "5"}


def try_senders(
    recipient: str, senders: Mapping[str, Sequence[MessageSender[Any]]]
) -> Iterator[Finding]:
    """Send a test message, with a dummy code, by every sender of the recipient's channel.

    Args:
        recipient: an e-mail address, or a mobile number in E.164.
        senders: the senders by channel.
    """
    channel = "email" if "@" in recipient else "sms"
    if not senders.get(channel):
        yield failed(
            f"messages.{channel}", "no sender is configured", f"configure one in messages.{channel}"
        )
    for sender in senders.get(channel, ()):
        yield _try(sender, channel, recipient)


def _try(sender: MessageSender[Any], channel: str, recipient: str) -> Finding:
    subject, text = text_of(TEMPLATES, _TEMPLATE, DEFAULT_LOCALE).fill(_PARAMETERS)
    message = Message(
        new_id(), channel, recipient, _TEMPLATE, text, _PARAMETERS, subject, DEFAULT_LOCALE
    )
    part = f"messages.{sender.name}"
    try:
        reference = sender.send(message)
    except DeliveryUncertain as error:
        return failed(part, f"delivery is uncertain: {error}", "check the log of the gateway")
    except MessageNotSent as error:
        return failed(part, f"not sent: {error}", f"correct [{part}]")
    return ok(part, f"accepted by the gateway{f' as {reference}' if reference else ''}")
