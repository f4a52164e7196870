"""Kinds of error responses."""

from typing import Final

from strongroom.plugin_api.web import ErrorKind

UNKNOWN: Final = ErrorKind(404, "error.webhook-endpoint-not-found", "No such endpoint or delivery.")
FORBIDDEN: Final = ErrorKind(
    403, "error.webhook-endpoint-forbidden", "Only administrators may manage webhooks."
)
URL_REFUSED: Final = ErrorKind(400, "error.webhook-url-refused", "The URL cannot be called.")
TYPES_UNKNOWN: Final = ErrorKind(
    400, "error.webhook-event-type-unknown", "An event type does not exist; see the list of events."
)
TENANT_UNKNOWN: Final = ErrorKind(400, "error.webhook-tenant-unknown", "There is no such tenant.")
TOO_MANY: Final = ErrorKind(
    409, "error.webhook-endpoint-limit", "The tenant has its maximum of endpoints."
)
DISABLED: Final = ErrorKind(
    409, "error.webhook-endpoint-disabled", "The endpoint is disabled; enable it first."
)
OWNERLESS: Final = ErrorKind(
    409, "error.webhook-endpoint-ownerless", "Its owner no longer administers this; take it over first."
)
STREAM_REFUSED: Final = ErrorKind(
    400, "error.webhook-stream-refused", "The endpoint receives no events of this stream."
)
OUTDATED: Final = ErrorKind(409, "error.webhook-endpoint-conflict", "The endpoint has another revision.")

KINDS: Final = (
    UNKNOWN,
    FORBIDDEN,
    URL_REFUSED,
    TYPES_UNKNOWN,
    TENANT_UNKNOWN,
    TOO_MANY,
    DISABLED,
    OUTDATED,
    OWNERLESS,
    STREAM_REFUSED,
)
