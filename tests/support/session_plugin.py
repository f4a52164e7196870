"""The plugin ``desk`` of tests: pages with a session, and a login by a badge that a redirect proves."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.config import lifted, write_api_config
from tests.support.distributions import register
from tests.support.page_browser import PageBrowser

BADGE_END: Final = "https://door.example/end?sid=door-7&to=https://files.example.com/account/login"
"""Where the platform of the badge ``door-7`` ends its login."""

PLUGIN: Final = '''
import flask
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.login import Credential, LoginMethod, LoginRejected, VerifiedCredential
from strongroom.plugin_api.pages import ConsoleSection, LoginLink, LoginRequest, MenuItem, StaticFiles
from strongroom.plugin_api.web import Access, ApiError, Blueprint, ErrorKind
from werkzeug.wrappers import Request, Response

API_VERSION = "2.0"


class Badge(LoginMethod):
    name = "badge"

    def authenticate(self, attempt):
        if attempt.method != self.name:
            return None
        badge = attempt.proof["badge"]
        if badge == "lost":
            raise LoginRejected("lost", code="error.badge-lost")
        if badge == "unknown":
            raise LoginRejected("unknown")
        session = badge if badge.startswith("door-") else None
        return VerifiedCredential(Credential("badge", badge), may_register=True, session=session)

    def logout_url(self, logout):
        door = f"https://door.example/end?sid={logout.session}&to={logout.return_url}"
        return door if logout.session else None


def seen(host, session):
    return {"id": session.user_id, "csrf": host.browser.csrf, "time": session.auth_time}


def application(host):
    app = flask.Flask("desk")
    app.register_error_handler(ApiError, host.error_response)

    @app.get("/")
    def show():
        session = host.browser.require_session()
        shown = seen(host, session)
        return {**shown, "caller": host.caller.user_id, "tenants": host.tenants.list().total}

    @app.get("/demanding")
    def demand():
        args = flask.request.args
        session = host.browser.require_session(
            proven_since=args.get("since", type=int),
            acr=args.get("acr"),
            login_hint=args.get("hint"),
        )
        return {"login": session.login_id, "acr": session.acr}

    @app.get("/perhaps")
    def perhaps():
        session = host.browser.session()
        return {"id": session and session.user_id, "caller": host.caller and host.caller.user_id}

    @app.post("/")
    def change():
        session = host.browser.require_session()
        host.browser.require_csrf()
        return session.user_id + flask.request.form.get("note", "")

    @app.get("/end")
    def end():
        host.browser.end_session()
        return ""

    @app.get("/store/<int:size>")
    def store(size):
        host.browser.store({"text": "x" * size})
        return ""

    @app.get("/values")
    def values():
        return dict(host.browser.values)

    @app.get("/links")
    def links():
        host.browser.session()
        links = host.pages.login_links()
        return {
            "links": [[link.name, link.label, link.path, link.icon] for link in links],
            "console": [
                [group.label, [[item.label, item.path] for item in group.sections]]
                for group in host.pages.sections()
            ],
            "menu": [[item.label, item.path] for item in host.pages.menu_items()],
        }

    @app.get("/page")
    def page():
        return host.pages.render("desk.html")

    return app


def plain_application(host):
    """An application without a framework, which has found its session before it reads the form."""

    @Request.application
    def serve(request):
        session = host.browser.require_session()
        host.browser.require_csrf()
        return Response(session.user_id + request.form.get("note", ""))

    return serve


@hookimpl
def register_wsgi_applications(host):
    return [("/desk", application(host)), ("/plain-desk", plain_application(host))]


@hookimpl
def register_blueprints(host):
    routes = Blueprint("desk", description="The desk.")

    @routes.operation("GET", "/api/v1/desk", access=Access.PUBLIC)
    def show_desk():
        """Show the desk."""
        return flask.jsonify(seen(host, host.browser.require_session()))

    @routes.operation("POST", "/api/v1/desk", access=Access.PUBLIC, any_query=True)
    def change_desk():
        """Change the desk."""
        session = host.browser.require_session()
        host.browser.require_csrf()
        return flask.make_response(session.user_id + flask.request.form.get("note", ""))

    @routes.operation("GET", "/api/v1/desk/begin", access=Access.PUBLIC, any_query=True)
    def begin_badge_login():
        """Begin a login."""
        resume = flask.request.args.get("resume", "")
        state = host.logins.issue_state("badge", {"resume": resume})
        return flask.redirect("/door?state=" + state.value)

    @routes.operation("GET", "/api/v1/desk/callback", access=Access.PUBLIC, any_query=True)
    def finish_badge_login():
        """Finish a login."""
        given = flask.request.args
        data = host.logins.consume_state(given.get("state", ""), "badge")
        proof = {"badge": given["badge"]}
        return host.browser.finish_login("badge", proof, resume=data["resume"] or None)

    return [routes]


@hookimpl
def register_login_methods():
    return [Badge]


@hookimpl
def register_login_links():
    labels = {"en": "Badge", "zh": "工牌"}
    return [
        LoginLink(
            "badge",
            labels,
            "/api/v1/desk/begin",
            icon="icons/badge.svg",
            kind="badge",
            platform={"en": "The door", "zh": "大门"},
            fails_in=("Bicycle",),
            request=LoginRequest("/authorizations", {"app": "front"}),
        )
    ]


@hookimpl
def register_menu_items():
    return [
        MenuItem("/desk/", {"en": "Desk", "zh": "工作台"}),
        MenuItem("/desk/perhaps", {"en": "All desks"}, order=-1, for_administrators=True),
    ]


@hookimpl
def register_console_sections():
    return [ConsoleSection("/desk/all", {"en": "Desks", "zh": "全部工作台"}, "house", "security", 15)]


@hookimpl
def register_static_files():
    return [StaticFiles()]


@hookimpl
def register_errors():
    return [ErrorKind(403, "error.badge-lost", "This badge was reported as lost.")]
'''

FILES: Final = {
    "__init__.py": PLUGIN,
    "static/icons/badge.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
    "static/desk.js": "export {};",
    "templates/desk.html": '<script src="{{ static("desk.js") }}"></script>{{ language }}',
    "messages/zh.toml": "",
}


def install_desk(folder: Path, files: dict[str, str] | None = None) -> None:
    """Install the plugin into a folder for ``PYTHONPATH``, with other files in place of its own."""
    for name, content in {**FILES, **(files or {})}.items():
        path = folder / "acme_desk" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    register(folder, "desk", "acme_desk")


@contextmanager
def desk_config(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, pages: Sequence[str]
) -> Iterator[Path]:
    """Yield the configuration of a server with the plugin and the plugins of some pages."""
    monkeypatch.syspath_prepend(folder)
    install_desk(folder)
    enabled = ["storage_local", *pages, "desk"]
    config = {"plugins": {"enabled": enabled}, "login": {"methods": ["password", "badge"]}}
    yield write_api_config(folder, database_url, config, lifted())
    del sys.modules["acme_desk"]


def log_in_by_badge(browser: PageBrowser, badge: str) -> None:
    """Log a browser in by a badge."""
    door = browser.request("/api/v1/desk/begin").headers["Location"]
    state = parse_qs(urlsplit(door).query)["state"][0]
    browser.open(f"/api/v1/desk/callback?state={state}&badge={badge}")
