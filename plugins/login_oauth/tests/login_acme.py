"""A one-file plugin of a made-up provider, as a plugin of a few lines looks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.login import Credential, LoginMethod
from strongroom.plugin_api.pages import LoginLink
from strongroom.plugin_api.web import Blueprint, ErrorKind
from strongroom_login_oauth.answer import Json
from strongroom_login_oauth.client import JsonClient
from strongroom_login_oauth.errors import NotMember
from strongroom_login_oauth.links import login_links
from strongroom_login_oauth.members import member_jobs
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.oauth2 import Endpoints, OAuth2Provider
from strongroom_login_oauth.options import OAuthOptions
from strongroom_login_oauth.provider import Identity, Provider
from strongroom_login_oauth.routes import blueprints

API_VERSION = "2.0"
LABELS: Final[Mapping[str, str]] = {"en": "Acme", "zh": "艾克米"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeApp:
    """The keys of ``[login.acme.apps.NAME]``."""

    url: str = option(help="URL of the provider.")
    client_id: str = option(help="Id of this server at the provider.")
    client_secret: str = option(secret=True, help="Secret of this server at the provider.")
    company: str = option("", help="The company whose members may log in; empty: everyone.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeOptions(OAuthOptions):
    """The keys of ``[login.acme]``."""

    apps: dict[str, AcmeApp] = option(help="The apps for login.")


class AcmeProvider(OAuth2Provider):
    """Acme."""

    labels = LABELS
    scope = "profile"

    def __init__(self, app: AcmeApp, options: AcmeOptions) -> None:
        endpoints = Endpoints(f"{app.url}/authorize", f"{app.url}/token", f"{app.url}/me")
        super().__init__(app.client_id, app.client_secret, options, endpoints=endpoints)
        self._company = app.company
        self._client_of_members = JsonClient.of(app.url, options)

    def identity(self, person: Json) -> Identity:
        if self._company and person.optional_text("company") != self._company:
            raise NotMember("a person of another company")
        return Identity(Credential("acme", person.text("id")), display_name=person.text("name"))

    def is_member(self, credential: Credential) -> bool | None:
        return self._client_of_members.get("/members", {"id": credential.value}).boolean("member")

    def close(self) -> None:
        self._client_of_members.close()
        super().close()


class AcmeLogin(OAuthLogin[AcmeOptions]):
    """Logs in with Acme."""

    name = "acme"
    platform = "Acme"
    platform_labels = LABELS
    kinds = ("acme",)
    options_type = AcmeOptions

    def make_providers(self) -> Mapping[str, Provider]:
        return {name: AcmeProvider(app, self.options) for name, app in self.options.apps.items()}


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [AcmeLogin]


@hookimpl
def register_errors() -> Iterable[ErrorKind]:
    return AcmeLogin.error_kinds()


@hookimpl
def register_blueprints(host: HostAPI) -> list[Blueprint]:
    return blueprints(host, AcmeLogin)


@hookimpl
def register_login_links(host: HostAPI) -> list[LoginLink]:
    return login_links(host, AcmeLogin)


@hookimpl
def register_jobs(host: HostAPI) -> list[Job]:
    return member_jobs(host, AcmeLogin)
