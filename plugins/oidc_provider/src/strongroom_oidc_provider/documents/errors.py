"""Why there is no client for a document."""

from typing import Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidClientError


class DocumentRefused(InvalidClientError):  # type: ignore[misc]
    """The document, or its URL, is not acceptable."""


class DocumentUnavailable(OAuth2Error):  # type: ignore[misc]
    """The document cannot be fetched at the moment."""

    error: Final = "temporarily_unavailable"
    status_code: Final = 503
