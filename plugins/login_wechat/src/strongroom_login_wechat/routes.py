"""The plugin's routes: login with both kinds of app, binding, and the QR code pages."""

from typing import Any, TypeVar

from flask import Response

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import Access, ApiError, Blueprint, FieldError, HostAPI
from strongroom_login_wechat.app import App
from strongroom_login_wechat.errors import APP_UNKNOWN, ClientFault, PhoneCodeInvalid
from strongroom_login_wechat.method import OPENID, UNIONID, WeChatLogin, of_others
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.pages import Pages
from strongroom_login_wechat.schemas import (
    BIND,
    LOGIN,
    CallbackQuery,
    MiniProgramLoginSchema,
    NewQrCodeSchema,
    NewWeChatIdSchema,
    QrCodeSchema,
    ScanPageQuery,
    WebsiteLoginSchema,
)
from strongroom_login_wechat.website import Website

AppT = TypeVar("AppT", bound=App)

Json = dict[str, Any]

_MINI_PROGRAM_REFUSALS = [fault.kind for fault in ClientFault.__subclasses__()]
_CODE_REFUSALS = [fault.kind for fault in ClientFault.__subclasses__() if fault is not PhoneCodeInvalid]


def make_routes(host: HostAPI, login: WeChatLogin) -> Blueprint:
    """Return the routes of an enabled login method."""
    routes = host.blueprint("wechat", description="Log in with WeChat.")
    _add_qr_codes(routes, host, login)
    _add_logins(routes, host, login)
    _add_bindings(routes, host, login)
    _add_pages(routes, login)
    return routes


def _add_qr_codes(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "POST",
        "/api/v1/wechat-qr-codes",
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
        state = host.issue_state(purpose, {"app": name}, for_user=purpose == BIND)
        url = website.authorize_url(state.value, language=body.get("language"))
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
        data = host.spend_state(body["state"], LOGIN)
        return host.log_in(login.name, {"app": data["app"], "code": body["code"]})

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
        return host.log_in(login.name, {**body, "app": name})


def _add_bindings(routes: Blueprint, host: HostAPI, login: WeChatLogin) -> None:
    @routes.operation(
        "POST",
        "/api/v1/users/<user_id>/wechatIds",
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
            name = host.spend_state(body["state"], BIND, for_user=True)["app"]
        else:
            name, _ = _choose(login, MiniProgram, body.get("app"))
        proof = {"app": name, "code": body["code"]}
        held = body.get("heldCode")
        return host.bind(
            user_id,
            login.name,
            proof,
            replaced=of_others,
            held_code=VerificationCode(**held) if held else None,
            current_password=body.get("currentPassword"),
        )

    @routes.operation(
        "DELETE",
        "/api/v1/users/<user_id>/wechatIds",
        access=Access.USER,
        sensitive=Sensitive.CREDENTIALS,
        returns=host.done_schema,
        errors=host.unbind_errors,
        document={"parameters": [_CODE_PARAMETER]},
    )
    def unbind_wechat_ids(user_id: str) -> Any:
        """Unbind the caller's WeChat account in all apps.

        Requires a code of the purpose `unbind`, and an e-mail address or mobile number that remains.
        """
        return host.unbind(user_id, (OPENID, UNIONID))


def _add_pages(routes: Blueprint, login: WeChatLogin) -> None:
    pages = Pages(login.options)

    @routes.operation(
        "GET",
        "/api/v1/wechat-authorizations/scan",
        access=Access.PUBLIC,
        query=ScanPageQuery,
        errors=(APP_UNKNOWN,),
        document=_PAGE,
    )
    def show_wechat_scan_page(query: Json) -> Response:
        """Get a page with the QR code, to embed or open."""
        return pages.scan(*_choose(login, Website, query.get("app")))

    @routes.operation(
        "GET",
        "/api/v1/wechat-authorizations/callback",
        access=Access.PUBLIC,
        query=CallbackQuery,
        any_query=True,
        document=_PAGE,
    )
    def show_wechat_callback_page(query: Json) -> Response:  # noqa: ARG001  the page reads it
        """Get the page for WeChat's redirect: it logs in and notifies the embedding page."""
        return pages.callback()


def _choose(login: WeChatLogin, kind: type[AppT], name: str | None) -> tuple[str, AppT]:
    """Return the name and app for ``name``, or of the only app of this kind if it is ``None``."""
    apps = {known: app for known, app in login.apps.items() if isinstance(app, kind)}
    chosen = next(iter(apps)) if name is None and len(apps) == 1 else name
    if chosen is None or chosen not in apps:
        message = f"Must be one of: {', '.join(sorted(apps)) or 'there is none'}."
        raise ApiError(APP_UNKNOWN, details=[FieldError("app", "unknown", message)])
    return chosen, apps[chosen]


_CODE_PARAMETER: Json = {
    "name": "X-Verification-Code",
    "in": "header",
    "required": True,
    "schema": {"type": "string", "pattern": r"^\s*[^.]+\..+$"},
    "description": "`{id}.{code}` of a code sent to a bound address or number",
}
_PAGE: Json = {"responses": {"200": {"description": "A page", "content": {"text/html": {}}}}}
