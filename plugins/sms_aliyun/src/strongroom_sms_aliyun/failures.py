"""Failures of calls to the Aliyun gateway, independent of the SDK."""


class GatewayFailure(Exception):
    """Base class of the client's exceptions."""


class Refused(GatewayFailure):
    """The gateway returned an error.

    Args:
        message: the gateway's message; it may repeat the whole request, so it must not be logged.
        request_id: the id for the vendor's support; None if the SDK refused the request.
        retry_after: the wait in seconds, if the gateway returned one.
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
    """The connection failed, so nothing was submitted."""


class NotAnswered(GatewayFailure):
    """The request was sent, but no response arrived; it may have been executed."""
