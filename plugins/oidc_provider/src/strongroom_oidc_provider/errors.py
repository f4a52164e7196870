"""Kinds of error responses."""

from typing import Final

from strongroom.plugin_api.web import ErrorKind

UNKNOWN: Final = ErrorKind(404, "error.client-not-found", "No such client.")
OUTDATED: Final = ErrorKind(409, "error.client-conflict", "The client has another revision.")
TOO_MANY: Final = ErrorKind(409, "error.client-limit", "The server has its maximum of clients.")
URI_REFUSED: Final = ErrorKind(
    400, "error.client-redirect-uri-refused", "A redirect URI is not acceptable."
)
SECRETLESS: Final = ErrorKind(409, "error.client-public", "A public client has no secret.")
LOGO_REFUSED: Final = ErrorKind(400, "error.client-logo-refused", "The logo is not acceptable.")
LOGO_UNKNOWN: Final = ErrorKind(404, "error.client-logo-not-found", "No such logo.")
CONSENT_UNKNOWN: Final = ErrorKind(
    404, "error.consent-not-found", "The user has not consented to this client."
)
ACCOUNT_REFUSED: Final = ErrorKind(
    400, "error.client-service-account-refused", "The client may not act as this account."
)

KINDS: Final = (
    UNKNOWN,
    OUTDATED,
    TOO_MANY,
    URI_REFUSED,
    SECRETLESS,
    LOGO_REFUSED,
    LOGO_UNKNOWN,
    CONSENT_UNKNOWN,
    ACCOUNT_REFUSED,
)
