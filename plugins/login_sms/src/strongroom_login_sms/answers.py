"""What can come of a call to the Aliyun gateway, in terms that need no SDK."""

from dataclasses import dataclass, field

SUCCESS = "OK"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the gateway said, whatever the HTTP status it said it with.

    Args:
        code: ``OK`` or a documented error code.
        message: the gateway's words; they may repeat the request, so they are shown to nobody.
        request_id: what the vendor's support asks for; None when the SDK refused before asking.
        receipt: the BizId of an accepted message.
        retry_after: seconds, when the gateway gave a time.
    """

    code: str
    message: str = field(repr=False)
    request_id: str | None
    receipt: str | None = None
    retry_after: int | None = None


class NotReached(Exception):
    """No connection came about, so nothing was submitted."""


class NotAnswered(Exception):
    """The request went out and no answer came back: it may or may not have been carried out."""
