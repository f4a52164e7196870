"""What can become of a call to the Aliyun gateway, in terms that need no SDK."""


class GatewayFailure(Exception):
    """The root of what the client raises."""


class Refused(GatewayFailure):
    """The gateway answered, and not with success.

    Args:
        code: the documented error code.
        message: the gateway's words; they may repeat the whole request, so they are shown to nobody.
        request_id: what the vendor's support asks for; None when the SDK refused by itself.
        retry_after: seconds, when the gateway gave a time.
    """

    def __init__(
        self, code: str, message: str, request_id: str | None, retry_after: int | None = None
    ) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after


class NotReached(GatewayFailure):
    """No connection came about, so nothing was submitted."""


class NotAnswered(GatewayFailure):
    """The request went out and no answer came back: it may or may not have been carried out."""
