"""The buttons of a login method on the login page, and how users connect their accounts."""

from typing import Any
from urllib.parse import urlencode

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import Connection, LoginLink, LoginRequest
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.provider import Provider
from strongroom_login_oauth.routes import begin_path, connection_name, link_name
from strongroom_login_oauth.schemas import BIND

_LABELS = {"en": "Log in with {}", "zh": "{}登录"}


def login_links(host: HostAPI, kind: type[OAuthLogin[Any]]) -> list[LoginLink]:
    """Return a button per provider, for the hook ``register_login_links``; none if it is disabled."""
    login = host.extension(kind)
    if login is None:
        return []
    return [login_link(login, name, provider) for name, provider in login.providers.items()]


def login_link(login: OAuthLogin[Any], name: str, provider: Provider) -> LoginLink:
    """Return the button of a provider."""
    labels = {
        language: text.format(provider.labels.get(language, provider.labels["en"]))
        for language, text in _LABELS.items()
    }
    return LoginLink(
        link_name(login, name),
        labels,
        begin_path(login, name),
        icon=provider.icon,
        works_in=provider.works_in,
        fails_in=provider.fails_in,
        connection=_connection(login, name, provider),
        kind=login.name,
        platform=provider.labels,
        shows_qr_code=provider.shows_qr_code,
        own_app=provider.own_app,
        request=LoginRequest(login.request_path(), {login.selector: name}),
    )


def _connection(login: OAuthLogin[Any], name: str, provider: Provider) -> Connection:
    path, prefix = login.ids_path(), login.get_prefix(name)
    return Connection(
        connection_name(login, name),
        provider.labels if prefix else login.platform_labels,
        begin_path(login, name, purpose=BIND),
        method=login.name,
        kinds=login.kinds,
        rest_path=f"{path}?{urlencode({login.selector: name})}" if prefix else path,
        replaced=login.replaced,
        prefix=prefix,
    )
