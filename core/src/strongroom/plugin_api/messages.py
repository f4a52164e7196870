"""Message senders: how a text reaches a person.

A sender hands one message to one gateway. Limits, retries, fail-over to the next sender and the
record of what was sent are the core's.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from strongroom.plugin_api.extension import Extension, OptionsT


@dataclass(frozen=True, slots=True)
class Message:
    """A message to one recipient.

    Args:
        id: unique; a gateway that can recognise a repetition is given it.
        channel: ``email``, ``sms``, or another that a sender serves.
        recipient: an e-mail address, or a mobile number in E.164.
        template: the name of the occasion, for gateways that know texts by template.
        parameters: what fills the template; ``code`` among them where there is one.
        text: the whole message as plain text, for gateways that take any text.
        subject: for channels that have one.
        locale: BCP 47, such as ``en`` or ``zh``.
    """

    id: str
    channel: str
    recipient: str
    template: str
    text: str = field(repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)
    subject: str | None = None
    locale: str = "en"


class MessageNotSent(Exception):
    """The gateway did not take the message.

    Args:
        message: for the operator's log; must not contain the text of the message.
        retryable: sending the same message again is safe and may succeed. Otherwise the next sender
            is tried, unless it is a :class:`DeliveryUncertain`.
    """

    def __init__(self, message: str, *, retryable: bool) -> None:
        super().__init__(message)
        self.retryable = retryable


class DeliveryUncertain(MessageNotSent):
    """The gateway may have taken the message: sending again, by whomever, might send it twice."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class RecipientRefused(MessageNotSent):
    """The gateway says that the recipient cannot be reached: the client's mistake, not ours."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class SendingThrottled(MessageNotSent):
    """The gateway's own limit is reached; ``retry_after`` is in seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, retryable=False)
        self.retry_after = retry_after


class MessageSender(Extension[OptionsT]):
    """Hands messages to a gateway. One instance serves all threads of a process at once."""

    channels: ClassVar[frozenset[str]]
    """The channels this sender serves."""

    development_only: ClassVar[bool] = False
    """Whether a server in production mode must refuse to start with it."""

    def can_send(self, template: str, recipient: str | None = None) -> bool:  # noqa: ARG002  for overriding
        """Return whether the sender has what it needs for an occasion, such as a gateway's template.

        The server refuses to start without the codes that its configuration calls for, and refuses to
        issue codes that no sender can send.

        Args:
            template: the name of the occasion, as in :class:`Message`.
            recipient: an e-mail address or a number in E.164; ``None`` stands for any that is served.
        """
        return True

    @abstractmethod
    def send(self, message: Message) -> str | None:
        """Hand over one message, within the sender's own time-out.

        Returns:
            The gateway's reference of the message, if it gives one.

        Raises:
            MessageNotSent: or one of its subclasses.
        """
