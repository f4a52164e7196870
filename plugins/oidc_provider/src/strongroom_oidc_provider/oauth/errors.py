"""Errors of the protocol that Authlib does not have."""

from typing import Final

from authlib.oauth2 import OAuth2Error


class InvalidTarget(OAuth2Error):  # type: ignore[misc]
    """The resource is unknown, or the client may not request tokens for it (RFC 8707, section 2)."""

    error: Final = "invalid_target"


class InvalidDetails(OAuth2Error):  # type: ignore[misc]
    """``authorization_details`` is no folder, or limits nothing (RFC 9396, section 5)."""

    error: Final = "invalid_authorization_details"


class ResponseTypeRefused(OAuth2Error):  # type: ignore[misc]
    """The response type is not ``code``.

    Authlib's error contains the type, and fails for characters that a description may not have.
    """

    error: Final = "unsupported_response_type"


class LoginRequired(OAuth2Error):  # type: ignore[misc]
    """``prompt=none``, but the user must log in (OpenID Connect Core, section 3.1.2.6)."""

    error: Final = "login_required"


class ConsentRequired(OAuth2Error):  # type: ignore[misc]
    """``prompt=none``, but the user must consent."""

    error: Final = "consent_required"


class RequestObjectRefused(OAuth2Error):  # type: ignore[misc]
    """The parameter ``request`` is not supported."""

    error: Final = "request_not_supported"


class RequestUriRefused(OAuth2Error):  # type: ignore[misc]
    """The parameter ``request_uri`` is not supported."""

    error: Final = "request_uri_not_supported"
