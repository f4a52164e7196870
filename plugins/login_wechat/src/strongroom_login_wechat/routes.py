"""The plugin's routes: login with both kinds of app, binding, and the QR code pages."""

from dataclasses import replace
from typing import Any, Final, TypeVar

from flask import Response, redirect

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.pages import LoginLink
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import Access, ApiError, Blueprint, HostAPI, State, prefix_of_state
from strongroom_login_oauth.links import login_link
from strongroom_login_oauth.provider import Start
from strongroom_login_oauth.routes import (
    BROWSER,
    CODE_PARAMETER,
    CONNECT,
    begin_path,
    bind_account,
    callback_path,
    choose,
)
from strongroom_login_oauth.schemas import BIND, LOGIN
from strongroom_login_wechat.app import App
from strongroom_login_wechat.errors import APP_UNKNOWN, FAULTS, PhoneCodeInvalid, refusal
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.pages import Pages, leads_back
from strongroom_login_wechat.schemas import (
    BeginQuery,
    CallbackQuery,
    MiniProgramLoginSchema,
    NewQrCodeSchema,
    NewWeChatIdSchema,
    QrCodeSchema,
    ScanPageQuery,
    WebsiteLoginSchema,
)
from strongroom_login_wechat.website import OfficialAccount, WebApp, Website

AppT = TypeVar("AppT", bound=App)

Json = dict[str, Any]

_MINI_PROGRAM_REFUSALS = [refusal(fault) for fault in FAULTS]
_CODE_REFUSALS = [refusal(fault) for fault in FAULTS if fault is not PhoneCodeInvalid]


def make_routes(host: HostAPI, login: WeChatLogin) -> Blueprint:
    """Return the routes of an enabled login method."""
    login.attach(host)
    routes = host.blueprint("wechat", description="Log in with WeChat.")
    _add_qr_codes(routes, host, login)
    _add_logins(routes, host, login)
    _add_bindings(routes, host, login)
    _add_pages(routes, host, login)
    _add_login_link(routes, host, login)
    return routes


def _add_qr_codes(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "POST",
        login.request_path(),
        access=Access.OPTIONAL,
        body=NewQrCodeSchema,
        returns=QrCodeSchema,
        status=201,
        errors=(APP_UNKNOWN, *host.state_errors),
    )
    def create_wechat_qr_code(body: Json) -> Json:
        """Get the URL of a QR code page, for this browser and one use.

        The purpose `bind` requires a token, and the resulting state is valid only for this user.
        """
        name, website = _choose(login, Website, body.get("app"))
        purpose = body["purpose"]
        state = host.logins.issue_state(purpose, {"app": name}, for_user=purpose == BIND)
        url = _page_url(website, state, body.get("language"))
        return {"url": url, "state": state.value, "app": name, "expiresAt": iso_format(state.expires_at)}


def _add_logins(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "POST",
        "/api/v1/wechat-authorizations",
        access=Access.PUBLIC,
        body=WebsiteLoginSchema,
        returns=host.tokens_schema,
        errors=(*host.login_errors, *host.state_errors, *_CODE_REFUSALS),
    )
    def create_wechat_authorization(body: Json) -> Any:
        """Log in with the code and state of WeChat's redirect, and get tokens.

        The state is redeemed even if the code is invalid.
        """
        data = host.logins.consume_state(body["state"], LOGIN)
        return host.logins.log_in(login.name, {"app": data["app"], "code": body["code"]})

    @routes.operation(
        "POST",
        "/api/v1/miniProgram-authorization",
        access=Access.PUBLIC,
        body=MiniProgramLoginSchema,
        returns=host.tokens_schema,
        errors=(*host.login_errors, APP_UNKNOWN, *_MINI_PROGRAM_REFUSALS),
    )
    def create_mini_program_authorization(body: Json) -> Any:
        """Log in with the code of a mini program, and get tokens.

        A `phoneCode` also verifies the phone number, and logs in the user who is bound to it.
        """
        name, _ = _choose(login, MiniProgram, body.get("app"))
        return host.logins.log_in(login.name, {**body, "app": name})


def _add_bindings(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "POST",
        login.ids_path("<user_id>"),
        access=Access.USER,
        sensitive=Sensitive.CREDENTIALS,
        body=NewWeChatIdSchema,
        returns=host.credential_schema,
        status=201,
        errors=(*host.bind_errors, *host.state_errors, APP_UNKNOWN, *_CODE_REFUSALS),
    )
    def bind_wechat_id(user_id: str, body: Json) -> Any:
        """Bind the caller's WeChat account; it replaces the one bound before.

        Requires a code sent to a bound contact; without contacts, the current password; without a
        password, a login within the last 5 minutes.
        """
        if "state" in body:
            name = host.logins.consume_state(body["state"], BIND, for_user=True)["app"]
        else:
            name, _ = _choose(login, MiniProgram, body.get("app"))
        proof = {"app": name, "code": body["code"]}
        return bind_account(host, login, user_id, proof, body)

    @routes.operation(
        "DELETE",
        login.ids_path("<user_id>"),
        access=Access.USER,
        sensitive=Sensitive.CREDENTIALS,
        returns=host.done_schema,
        errors=host.unbind_errors,
        document={"parameters": [CODE_PARAMETER]},
    )
    def unbind_wechat_ids(user_id: str) -> Any:
        """Unbind the caller's WeChat account in all apps.

        Requires a code of the purpose `unbind`, and an e-mail address or mobile number that remains.
        """
        return host.logins.unbind(user_id, login.kinds)


def _add_pages(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    pages, links = Pages(host, login), login_links(host, login)

    @routes.operation(
        "GET",
        "/api/v1/wechat-authorizations/scan",
        access=Access.PUBLIC,
        query=ScanPageQuery,
        errors=(APP_UNKNOWN,),
        document=_PAGE,
    )
    def show_wechat_scan_page(query: Json) -> Response:
        """Get a page with the QR code, to embed or open.

        No token is needed. After the scan, WeChat leads the browser to the callback page, which logs in
        and notifies the embedding page.
        """
        return pages.scan(*_choose(login, Website, query.get("app")))

    @routes.operation(
        "GET",
        callback_path(login.name),
        access=Access.PUBLIC,
        query=CallbackQuery,
        any_query=True,
        errors=host.state_errors,
        document=_PAGE,
    )
    def show_wechat_callback_page(query: Json) -> Any:
        """Get the page for WeChat's redirect: it logs in and notifies the embedding page.

        What began on the login page or on a page of the account is finished here instead, and the
        browser is redirected.
        """
        state = query.get("state", "")
        if state.startswith(prefix_of_state(CONNECT)):
            return _finish_connection(host, login, state, query.get("code"))
        if not state.startswith(prefix_of_state(BROWSER)):
            # The page reads the query.
            return pages.callback()
        try:
            app = host.logins.consume_state(state, BROWSER)["app"]
        except ApiError as error:
            return host.browser.refuse_login(error)
        # A person who has denied comes back without a code, which the app rejects.
        proof = {"app": app, "code": query.get("code", "")}
        link = next((link.name for link in links if link.path == begin_path(login, app)), None)
        return host.browser.finish_login(login.name, proof, link=link)


def _finish_connection(host: HostAPI, login: WeChatLogin, state: str, code: str | None) -> Any:
    # Another login may have begun in this browser meanwhile, so the state is for its user only.
    host.browser.require_session()
    app = host.logins.consume_state(state, CONNECT, for_user=True)["app"]
    # A person who has denied comes back without a code.
    return host.browser.finish_connection(login.name, {"app": app, "code": code} if code else None)


def _add_login_link(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "GET",
        f"/api/v1/{login.name}-authorizations/begin",
        access=Access.PUBLIC,
        query=BeginQuery,
        status=302,
        errors=(APP_UNKNOWN, *host.state_errors),
        # Each request stores a state.
        limit="public_per_address",
        document={"responses": {"302": {"description": "The page of WeChat"}}},
    )
    def begin_wechat_login(query: Json) -> Any:
        """Lead a browser from a button of the login page or the account to the page of WeChat.

        The purpose `bind` requires that the browser is logged in.
        """
        name, app = _choose(login, WebApp, query.get("app"))
        is_binding = query["purpose"] == BIND
        if is_binding:
            host.browser.require_session()
        purpose = CONNECT if is_binding else BROWSER
        state = host.logins.issue_state(purpose, {"app": name}, for_user=is_binding)
        return redirect(_page_url(app, state))


def _page_url(app: WebApp, state: State, language: str | None = None) -> str:
    """Return the URL of the page of WeChat; the language is ``cn`` or ``en``."""
    start = Start(state.value, app.redirect_uri, language="zh" if language == "cn" else language)
    return app.authorize_url(start)


def login_links(host: HostAPI, login: WeChatLogin) -> list[LoginLink]:
    """Return a button for each app whose redirects lead to the callback of this server."""
    accounts = _links(host, login, OfficialAccount, "wechat_account")
    # The REST API has QR codes only.
    return [
        *_links(host, login, Website, "wechat"),
        *(replace(link, request=None) for link in accounts),
    ]


def _links(host: HostAPI, login: WeChatLogin, kind: type[WebApp], label: str) -> list[LoginLink]:
    """Return the buttons of the apps of a kind; the names of several are numbered."""
    apps = {name: app for name, app in _apps(login, kind).items() if leads_back(host, app)}
    return [
        replace(login_link(login, name, app), name=label if len(apps) == 1 else f"{label}_{number}")
        for number, (name, app) in enumerate(apps.items(), 1)
    ]


def _choose(login: WeChatLogin, kind: type[AppT], name: str | None) -> tuple[str, AppT]:
    return choose(login, _apps(login, kind), name)


def _apps(login: WeChatLogin, kind: type[AppT]) -> dict[str, AppT]:
    return {name: app for name, app in login.providers.items() if isinstance(app, kind)}


_PAGE: Final[Json] = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}
