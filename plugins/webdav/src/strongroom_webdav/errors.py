"""Errors of WebDAV that the REST API does not have."""

from http import HTTPStatus


class DavError(Exception):
    """A request that is refused.

    Args:
        status: the HTTP status.
        condition: the element in DAV: that the body of the response has (RFC 4918, section 16).
        text: what is wrong, for people who read the log of their program.
    """

    def __init__(self, status: HTTPStatus, text: str = "", *, condition: str | None = None) -> None:
        super().__init__(text or status.phrase)
        self.status = status
        self.condition = condition
