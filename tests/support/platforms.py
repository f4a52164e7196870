"""A plugin for tests of pages: any number of platforms, whose people log in by redirect.

The page of a platform is a page of the plugin, so journeys in a browser need no other server. On it, a
visitor chooses a person or one of the refusals of real platforms.
"""

import re
from pathlib import Path
from typing import Any, Final

from tests.support.distributions import register
from tests.support.page_browser import PageBrowser

PLUGIN: Final = '''
from dataclasses import dataclass
from urllib.parse import urlencode

import flask
import marshmallow as ma

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.pages import StaticFiles
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_login_oauth import errors
from strongroom_login_oauth.links import login_links
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.options import OAuthOptions
from strongroom_login_oauth.provider import Identity, Provider
from strongroom_login_oauth.routes import blueprints

API_VERSION = "2.0"

REFUSALS = {
    "outsider": errors.NotMember,
    "late": errors.CodeExpired,
    "forged": errors.AnswerInvalid,
    "stranger": errors.EmailNotAllowed,
    "unavailable": errors.ProviderUnavailable,
    "misconfigured": errors.Misconfigured,
}
PAGE = "/api/v1/town-page"
FORM = """<!doctype html><html lang="en"><title>Platform</title><main><h1>Platform</h1>
<form method="post" action="{action}"><button name="choice" value="{person}">{person}</button></form>
</main></html>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TownOptions(OAuthOptions):
    platforms: tuple[str, ...] = option(help="The names of the platforms.")
    scans: tuple[str, ...] = option((), help="Those that show a QR code.")


class Platform(Provider):
    def __init__(self, name, scans):
        self.labels = {"en": name.title(), "zh": f"{name.title()} 平台"}
        self.icon = "mark.svg"
        self.shows_qr_code = scans
        self.own_app = (f"{name.title()}App",)
        self._name = name

    def authorize_url(self, start):
        return f"{PAGE}?" + urlencode({"state": start.state, "of": self._name})

    def identify(self, answer):
        if answer.code in REFUSALS:
            raise REFUSALS[answer.code](answer.code)
        person = Credential("town", f"{self._name}:{answer.code}")
        return Identity(person, display_name=answer.code.title())


class TownLogin(OAuthLogin[TownOptions]):
    name = "town"
    platform = "Town"
    platform_labels = {"en": "Town", "zh": "小镇"}
    kinds = ("town",)
    selector = "provider"
    options_type = TownOptions

    def make_providers(self):
        options = self.options
        return {name: Platform(name, name in options.scans) for name in options.platforms}

    def get_prefix(self, name):
        return f"{name}:"


class PageQuery(ma.Schema):
    state = ma.fields.String(required=True)
    of = ma.fields.String(required=True)


@hookimpl
def register_login_methods():
    return [TownLogin]


@hookimpl
def register_errors():
    return TownLogin.error_kinds()


@hookimpl
def register_static_files():
    return [StaticFiles()]


@hookimpl
def register_login_links(host):
    return login_links(host, TownLogin)


@hookimpl
def register_blueprints(host):
    routes = Blueprint("town-page", description="The page of a platform.")
    people = ("ann", "bob", "refuse", *REFUSALS)

    @routes.operation("GET", PAGE, access=Access.PUBLIC, query=PageQuery, any_query=True)
    def show_town_page(query):
        """Show the page."""
        action = f"{PAGE}?{urlencode(query)}"
        forms = "".join(FORM.format(action=action, person=person) for person in people)
        return flask.Response(forms, content_type="text/html")

    @routes.operation("POST", PAGE, access=Access.PUBLIC, query=PageQuery)
    def choose_in_town(query):
        """Choose a person."""
        choice = flask.request.form["choice"]
        answer = {"error": "access_denied"} if choice == "refuse" else {"code": choice}
        path = f"/api/v1/town-authorizations/callback/{query['of']}"
        return flask.redirect(f"{path}?{urlencode({**answer, 'state': query['state']})}")

    return [*blueprints(host, TownLogin), routes]
'''
_MARK: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    '<circle cx="12" cy="12" r="9" fill="#7d8793"/></svg>'
)
NAVIGATION: Final = "text/html,application/xhtml+xml"
FEW: Final = ("alpha", "beta")
MANY: Final = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def install_platforms(folder: Path) -> None:
    """Install the plugin ``town`` into a folder for ``PYTHONPATH``."""
    package = folder / "acme_town"
    (package / "static").mkdir(parents=True)
    (package / "__init__.py").write_text(PLUGIN)
    (package / "static" / "mark.svg").write_text(_MARK)
    register(folder, "town", "acme_town")


def platforms_config(*names: str, scans: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the configuration of a server with platforms."""
    town = {"platforms": list(names), "scans": list(scans)}
    plugins = ["storage_local", "town", "login_pages", "factor_totp", "login_email"]
    return {
        "plugins": {"enabled": plugins},
        "login": {"methods": ["password", "town", "email_code"], "town": town},
    }


def choose(browser: PageBrowser, provider: str, choice: str, *, purpose: str = "login") -> None:
    """Press the button of a platform, and make a choice on its page."""
    begin = f"/api/v1/town-authorizations/begin?provider={provider}&purpose={purpose}"
    browser.open(begin)
    (action,) = set(re.findall(r'action="([^"]+)"', browser.page.text))
    browser.open(action.replace("&amp;", "&"), {"choice": choice}, Accept=NAVIGATION)
