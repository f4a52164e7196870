"""Paths of the login by the providers of tenants."""

from typing import Final

from strongroom_login_oauth.routes import callback_path, make_begin_path

SSO: Final = "sso"
"""The name of the login method."""
SELECTOR: Final = "provider"
"""What its providers are called in the REST API."""


def begin_path(provider_id: str) -> str:
    """Return the path that leads a browser to a provider and back, without the base path."""
    return make_begin_path(SSO, SELECTOR, provider_id)


def redirect_path(provider_id: str) -> str:
    """Return the path of the redirect URI of a provider, without the base path."""
    return callback_path(SSO, provider_id)
