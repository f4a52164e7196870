"""The plugin's routes: login with both kinds of app, binding, and the QR code pages."""

from typing import Any, Final, TypeVar, cast

from flask import Response, redirect

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.request import current_host
from strongroom.plugin_api.schemas import BoundCredentialSchema, DoneSchema, IssuedTokensSchema
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import (
    Access,
    ApiError,
    Blueprint,
    HostErrors,
    State,
    prefix_of_state,
)
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
from strongroom_login_wechat.errors import APP_UNKNOWN, FAULTS, METHOD, PhoneCodeInvalid, refusal
from strongroom_login_wechat.links import login_links
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.pages import callback_page, scan_page
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
from strongroom_login_wechat.website import WebApp, Website

AppT = TypeVar("AppT", bound=App)

Json = dict[str, Any]

_MINI_PROGRAM_REFUSALS = [refusal(fault) for fault in FAULTS]
_CODE_REFUSALS = [refusal(fault) for fault in FAULTS if fault is not PhoneCodeInvalid]
_PAGE: Final[Json] = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}

routes = Blueprint("wechat", description="Log in with WeChat.")


@routes.operation(
    "POST",
    WeChatLogin.request_path(),
    access=Access.OPTIONAL,
    body=NewQrCodeSchema,
    returns=QrCodeSchema,
    status=201,
    errors=(APP_UNKNOWN, HostErrors.STATES),
)
def create_wechat_qr_code(body: Json) -> Json:
    """Get the URL of a QR code page, for this browser and one use.

    The purpose `bind` requires a token, and the resulting state is valid only for this user.
    """
    name, website = _choose(Website, body.get("app"))
    purpose = body["purpose"]
    state = current_host().logins.issue_state(purpose, {"app": name}, for_user=purpose == BIND)
    url = _page_url(website, state, body.get("language"))
    return {"url": url, "state": state.value, "app": name, "expiresAt": iso_format(state.expires_at)}


@routes.operation(
    "POST",
    "/api/v1/wechat-authorizations",
    access=Access.PUBLIC,
    body=WebsiteLoginSchema,
    returns=IssuedTokensSchema,
    errors=(HostErrors.LOG_IN, HostErrors.STATES, *_CODE_REFUSALS),
)
def create_wechat_authorization(body: Json) -> Any:
    """Log in with the code and state of WeChat's redirect, and get tokens.

    The state is redeemed even if the code is invalid.
    """
    data = current_host().logins.consume_state(body["state"], LOGIN)
    return current_host().logins.log_in(METHOD, {"app": data["app"], "code": body["code"]})


@routes.operation(
    "POST",
    "/api/v1/miniProgram-authorization",
    access=Access.PUBLIC,
    body=MiniProgramLoginSchema,
    returns=IssuedTokensSchema,
    errors=(HostErrors.LOG_IN, APP_UNKNOWN, *_MINI_PROGRAM_REFUSALS),
)
def create_mini_program_authorization(body: Json) -> Any:
    """Log in with the code of a mini program, and get tokens.

    A `phoneCode` also verifies the phone number, and logs in the user who is bound to it.
    """
    name, _ = _choose(MiniProgram, body.get("app"))
    return current_host().logins.log_in(METHOD, {**body, "app": name})


@routes.operation(
    "POST",
    WeChatLogin.ids_path("<user_id>"),
    access=Access.USER,
    sensitive=Sensitive.CREDENTIALS,
    body=NewWeChatIdSchema,
    returns=BoundCredentialSchema,
    status=201,
    errors=(HostErrors.BIND, HostErrors.STATES, APP_UNKNOWN, *_CODE_REFUSALS),
)
def bind_wechat_id(user_id: str, body: Json) -> Any:
    """Bind the caller's WeChat account; it replaces the one bound before.

    Requires a code sent to a bound contact; without contacts, the current password; without a
    password, a login within the last 5 minutes.
    """
    if "state" in body:
        name = current_host().logins.consume_state(body["state"], BIND, for_user=True)["app"]
    else:
        name, _ = _choose(MiniProgram, body.get("app"))
    proof = {"app": name, "code": body["code"]}
    return bind_account(current_host(), _login(), user_id, proof, body)


@routes.operation(
    "DELETE",
    WeChatLogin.ids_path("<user_id>"),
    access=Access.USER,
    sensitive=Sensitive.CREDENTIALS,
    returns=DoneSchema,
    errors=(HostErrors.UNBIND,),
    document={"parameters": [CODE_PARAMETER]},
)
def unbind_wechat_ids(user_id: str) -> Any:
    """Unbind the caller's WeChat account in all apps.

    Requires a code of the purpose `unbind`, and an e-mail address or mobile number that remains.
    """
    return current_host().logins.unbind(user_id, WeChatLogin.kinds)


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
    return scan_page(_login(), *_choose(Website, query.get("app")))


@routes.operation(
    "GET",
    callback_path(METHOD),
    access=Access.PUBLIC,
    query=CallbackQuery,
    any_query=True,
    errors=(HostErrors.STATES,),
    document=_PAGE,
)
def show_wechat_callback_page(query: Json) -> Any:
    """Get the page for WeChat's redirect: it logs in and notifies the embedding page.

    What began on the login page or on a page of the account is finished here instead, and the
    browser is redirected.
    """
    state = query.get("state", "")
    if state.startswith(prefix_of_state(CONNECT)):
        return _finish_connection(state, query.get("code"))
    if not state.startswith(prefix_of_state(BROWSER)):
        # The page reads the query.
        return callback_page(_login())
    return _finish_login(state, query.get("code"))


def _finish_login(state: str, code: str | None) -> Any:
    host, login = current_host(), _login()
    try:
        app = host.logins.consume_state(state, BROWSER)["app"]
    except ApiError as error:
        return host.browser.refuse_login(error)
    path = begin_path(login, app)
    link = next((link.name for link in login_links(host, login) if link.path == path), None)
    # A person who has denied comes back without a code, which the login method rejects.
    return host.browser.finish_login(METHOD, {"app": app, "code": code or ""}, link=link)


def _finish_connection(state: str, code: str | None) -> Any:
    host = current_host()
    # Another login may have begun in this browser meanwhile, so the state is for its user only.
    host.browser.require_session()
    app = host.logins.consume_state(state, CONNECT, for_user=True)["app"]
    # A person who has denied comes back without a code.
    return host.browser.finish_connection(METHOD, {"app": app, "code": code} if code else None)


@routes.operation(
    "GET",
    f"/api/v1/{METHOD}-authorizations/begin",
    access=Access.PUBLIC,
    query=BeginQuery,
    status=302,
    errors=(APP_UNKNOWN, HostErrors.STATES),
    # Each request stores a state.
    limit="public_per_address",
    document={"responses": {"302": {"description": "The page of WeChat"}}},
)
def begin_wechat_login(query: Json) -> Any:
    """Lead a browser from a button of the login page or the account to the page of WeChat.

    The purpose `bind` requires that the browser is logged in.
    """
    name, app = _choose(WebApp, query.get("app"))
    is_binding = query["purpose"] == BIND
    if is_binding:
        current_host().browser.require_session()
    purpose = CONNECT if is_binding else BROWSER
    state = current_host().logins.issue_state(purpose, {"app": name}, for_user=is_binding)
    return redirect(_page_url(app, state))


def _page_url(app: WebApp, state: State, language: str | None = None) -> str:
    """Return the URL of the page of WeChat; the language is ``cn`` or ``en``."""
    start = Start(state.value, app.redirect_uri, language="zh" if language == "cn" else language)
    return app.authorize_url(start)


def _login() -> WeChatLogin:
    # It is enabled, otherwise the plugin registers no routes.
    return cast("WeChatLogin", current_host().extension(WeChatLogin))


def _choose(kind: type[AppT], name: str | None) -> tuple[str, AppT]:
    login = _login()
    return choose(login, login.find_apps(kind), name)
