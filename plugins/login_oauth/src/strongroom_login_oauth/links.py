"""The buttons of a login method on the login page, and how users connect their accounts."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import Connection, LoginLink, LoginRequest
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.provider import Provider
from strongroom_login_oauth.routes import begin_path, connection_name, link_name
from strongroom_login_oauth.schemas import BIND

_LABELS: Final = {"en": "Log in with {}", "zh": "{}登录"}
_FURTHER: Final = {"en": "{} ({})", "zh": "{}（{}）"}


def login_links(host: HostAPI, kind: type[OAuthLogin[Any]]) -> list[LoginLink]:
    """Return a button per provider, for the hook ``register_login_links``; none if it is disabled."""
    login = host.extension(kind)
    if login is None:
        return []
    labels = distinct_labels(login.providers)
    return [
        login_link(login, name, provider, labels[name]) for name, provider in login.providers.items()
    ]


def distinct_labels(providers: Mapping[str, Provider]) -> dict[str, Mapping[str, str]]:
    """Return the platform of each provider; a further app adds its own name."""
    labels: dict[str, Mapping[str, str]] = {}
    for name, provider in providers.items():
        is_further = provider.labels in labels.values()
        labels[name] = _with_name(provider.labels, name) if is_further else provider.labels
    return labels


def _with_name(labels: Mapping[str, str], name: str) -> Mapping[str, str]:
    return {
        language: _FURTHER.get(language, _FURTHER["en"]).format(label, name)
        for language, label in labels.items()
    }


def login_link(
    login: OAuthLogin[Any], name: str, provider: Provider, platform: Mapping[str, str]
) -> LoginLink:
    """Return the button of a provider, with the name of its platform by language."""
    return LoginLink(
        link_name(login, name),
        button_labels(platform),
        begin_path(login, name),
        icon=provider.icon,
        works_in=provider.works_in,
        fails_in=provider.fails_in,
        connection=_connection(login, name, platform),
        kind=login.name,
        platform=platform,
        shows_qr_code=provider.shows_qr_code,
        own_app=provider.own_app,
        request=LoginRequest(login.request_path(), {login.selector: name}),
    )


def button_labels(platform: Mapping[str, str]) -> dict[str, str]:
    """Return the text of the button of a platform by language, with the platform's name in it."""
    return {
        language: text.format(platform.get(language, platform["en"]))
        for language, text in _LABELS.items()
    }


def _connection(login: OAuthLogin[Any], name: str, platform: Mapping[str, str]) -> Connection:
    path, prefix = login.ids_path(), login.get_prefix(name)
    return Connection(
        connection_name(login, name),
        platform if prefix else login.platform_labels,
        begin_path(login, name, purpose=BIND),
        method=login.name,
        kinds=login.kinds,
        rest_path=f"{path}?{urlencode({login.selector: name})}" if prefix else path,
        replaced=login.replaced,
        prefix=prefix,
    )
