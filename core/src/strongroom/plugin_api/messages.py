"""Message senders: delivery of messages through a gateway.

A sender hands one message to one gateway. The core enforces limits, retries, fails over to the next
sender and records the outcome.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strongroom.plugin_api.backoff import RETRY_AFTER_SECONDS
from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class Message:
    """A message to one recipient.

    Args:
        id: a unique id; pass it to a gateway that can detect repetitions.
        channel: ``email``, ``sms``, or another channel of a sender.
        recipient: an e-mail address, or a mobile number in E.164.
        template: the name of the occasion, for gateways with their own templates.
        parameters: the values for the template, including ``code`` if there is one.
        text: the whole message as plain text, for gateways that accept any text.
        subject: the subject, for channels that have one.
        locale: the language of the text as a BCP 47 tag, such as ``en`` or ``zh``.
        html: the same content as an HTML document, for e-mail; ``None`` on other channels.
    """

    id: str
    channel: str
    recipient: str
    template: str
    text: str = field(repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    subject: str | None = None
    locale: str = "en"
    html: str | None = field(default=None, repr=False)


class MessageNotSent(Exception):
    """The gateway did not accept the message.

    Args:
        message: a line for the operator's log; it must not contain the text of the message.
        retryable: whether sending the same message again is safe and may succeed. If not, the core
            tries the next sender, except after :class:`DeliveryUncertain`.
    """

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class DeliveryUncertain(MessageNotSent):
    """The gateway may have accepted the message, so sending it again might deliver it twice."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class RecipientRefused(MessageNotSent):
    """The gateway reports that the recipient is invalid, which is an error of the client."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class SendingThrottled(MessageNotSent):
    """The gateway's rate limit is exceeded.

    Args:
        message: a line for the operator's log; it must not contain the text of the message.
        retry_after: seconds after which the gateway may accept messages again.
    """

    def __init__(self, message: str, *, retry_after: int = RETRY_AFTER_SECONDS) -> None:
        super().__init__(message, retryable=False)
        self.retry_after = retry_after


class MessageSender(Extension[OptionsT]):
    """Hands messages to a gateway. All threads of a process share one instance."""

    channels: ClassVar[frozenset[str]]
    """The channels of this sender."""

    development_only: ClassVar[bool] = False
    """Whether a server in production mode must refuse to start with it."""

    def can_send(self, template: str, recipient: str | None = None) -> bool:  # noqa: ARG002  for overriding
        """Return whether the sender supports an occasion, for example has a gateway template for it.

        The server refuses to start if no sender supports the codes that its configuration requires, and
        refuses to issue codes that no sender can send.

        Args:
            template: the name of the occasion, as in :class:`Message`.
            recipient: an e-mail address or a number in E.164; ``None``: any recipient.
        """
        return True

    @abstractmethod
    def send(self, message: Message) -> str | None:
        """Hand over one message, within the sender's own time-out.

        Returns:
            The gateway's reference of the message, if there is one.

        Raises:
            MessageNotSent: the gateway did not accept the message; see also the subclasses.
        """
