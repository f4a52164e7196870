"""The domains of e-mail addresses for which the login page offers a provider."""

from collections.abc import Mapping

from strongroom.plugin_api.pages import LoginRoute
from strongroom_login_oauth.links import distinct_labels, login_link
from strongroom_login_oidc.method import OIDCLogin


def domain_routes(login: OIDCLogin) -> Mapping[str, LoginRoute]:
    """Return the logins by the domains that the configuration names."""
    labels = distinct_labels(login.providers)
    routes: dict[str, LoginRoute] = {}
    for name, provider in login.providers.items():
        link = login_link(login, name, provider, labels[name])
        route = LoginRoute(link.path, link.labels)
        routes.update(dict.fromkeys(login.options.providers[name].login_domains, route))
    return routes


def find_route(routes: Mapping[str, LoginRoute], name: str) -> LoginRoute | None:
    """Return the login of the domain of an e-mail address, compared as ASCII without case."""
    return routes.get(name.strip().rpartition("@")[2].lower()) if "@" in name else None
