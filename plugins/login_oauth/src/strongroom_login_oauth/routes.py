"""The routes of a login method by redirect, the same for each."""

import json
import logging
import secrets
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar, Unpack
from urllib.parse import quote, urlencode, urlsplit

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from flask import Response, jsonify, redirect, request
from werkzeug.datastructures import MultiDict

from strongroom.plugin_api.authentication import Sensitive
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import VerificationCode
from strongroom.plugin_api.schemas import BoundCredentialSchema, DoneSchema, IssuedTokensSchema
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import (
    Access,
    ApiError,
    Blueprint,
    FieldError,
    HostErrors,
    RouteOptions,
    State,
    prefix_of_state,
)
from strongroom_login_oauth.errors import (
    FAULTS,
    AccessDenied,
    AnswerInvalid,
    Misconfigured,
    ProviderError,
    error_kind,
    unavailable_kind,
    unknown_kind,
)
from strongroom_login_oauth.method import OAuthLogin, make_proof
from strongroom_login_oauth.provider import Provider, Start
from strongroom_login_oauth.schemas import BIND, LOGIN, Schemas

logger = logging.getLogger(__name__)

ProviderT = TypeVar("ProviderT", bound=Provider)
Json = dict[str, Any]

BROWSER: Final = "browser"
"""The purpose of states of logins that begin on the login page."""
CONNECT: Final = "connect"
"""The purpose of states of bindings that begin on the pages of the account."""

_MAX_USER_AGENT: Final = 512
_HANDED_OVER: Json = {
    "description": "The body of the request that finishes what has begun without `returnTo`",
    "content": {
        "application/json": {
            "schema": {"type": "object", "required": ["code", "state"]},
            "example": {"code": "4f1c9a", "state": "login01f8e"},
        }
    },
}
CODE_PARAMETER: Final[Json] = {
    "name": "X-Verification-Code",
    "in": "header",
    "required": True,
    "schema": {"type": "string", "pattern": r"^\s*[^.]+\..+$"},
    "description": "`{id}.{code}` of a code sent to a bound address or number",
}
"""The header with the code that removes an account."""


def blueprints(host: HostAPI, kind: type[OAuthLogin[Any]]) -> list[Blueprint]:
    """Return the routes of a login method, for the hook ``register_blueprints``: none if disabled."""
    login = host.extension(kind)
    if login is None:
        return []
    return [Routes(host, login).blueprint]


def begin_path(login: OAuthLogin[Any], name: str, **query: str) -> str:
    """Return the path that leads a browser to a provider and back, without the base path."""
    return make_begin_path(login.name, login.selector, name, **query)


def make_begin_path(method: str, selector: str, name: str, **query: str) -> str:
    """Return the path of :func:`begin_path` for a method and its name for providers."""
    return f"/api/v1/{method}-authorizations/begin?{urlencode({selector: name, **query})}"


def link_name(login: OAuthLogin[Any], name: str) -> str:
    """Return the name of the login link of a provider: the method's, if it is the only one."""
    link = login.name if len(login.providers) == 1 else f"{login.name}_{name}"
    return link.replace("-", "_")


def connection_name(login: OAuthLogin[Any], name: str) -> str:
    """Return the name of the connection of a provider: the method's, if it is no platform of its own."""
    return link_name(login, name) if login.get_prefix(name) else login.name


def callback_path(method: str, name: str | None = None) -> str:
    """Return the path of the redirect URI of a provider; ``None``: the one that several share.

    Each provider has its own, so that the answer of one is never taken for another's (RFC 9700,
    section 4.4.2).
    """
    shared = f"/api/v1/{method}-authorizations/callback"
    return shared if name is None else f"{shared}/{quote(name, safe='')}"


def redirect_uri(host: HostAPI, login: OAuthLogin[Any], name: str) -> str:
    """Return the redirect URI to register at a provider."""
    is_shared = login.providers[name].shared_redirect_uri
    return f"{host.public_url}{callback_path(login.name, None if is_shared else name)}"


class Routes:
    """The routes of one login method."""

    def __init__(self, host: HostAPI, login: OAuthLogin[Any]) -> None:
        self._host = host
        self._login = login
        self._name, self._platform = login.name, login.platform
        self._schemas = Schemas(login)
        self._unknown = unknown_kind(login.name, login.selector)
        self._unavailable = unavailable_kind(login.name, login.platform)
        self._refusals = [error_kind(fault, login.name, login.platform) for fault in FAULTS]
        self._invalid = error_kind(AnswerInvalid, login.name, login.platform)
        self._denied = error_kind(AccessDenied, login.name, login.platform)
        self.blueprint = Blueprint(
            login.name,
            description=f"Log in with {login.platform}.",
            parameters={"name": f"The name of the {login.selector} in the configuration"},
        )
        self._add_requests()
        self._add_logins()
        self._add_bindings()
        self._add_unbindings()
        self._add_browser_flow()
        self._add_callbacks()
        if any(provider.form_post for provider in login.providers.values()):
            self._add_form_posts()

    def _add(
        self,
        method: str,
        path: str,
        view: Callable[..., Any],
        name: str,
        text: str,
        **options: Unpack[RouteOptions],
    ) -> None:
        """Add a route, with the name and the description of its operation."""

        @wraps(view)
        def named(**inputs: Any) -> Any:
            return view(**inputs)

        named.__name__, named.__doc__ = name, text
        self.blueprint.operation(method, path, **options)(named)

    def _add_requests(self) -> None:
        self._add(
            "POST",
            self._login.request_path(),
            self._create_request,
            f"create_{self._name}_authorization_request",
            f"Get the URL of a page of {self._platform}, for this client and one use.\n\n"
            "The purpose `bind` requires a token, and the resulting state is valid only for this user. "
            "The page redirects to this server, which redirects to `returnTo` or `appRedirect`.",
            access=Access.OPTIONAL,
            body=self._schemas.request,
            returns=self._schemas.url,
            status=201,
            errors=(self._unknown, self._unavailable, HostErrors.STATES),
        )

    def _create_request(self, body: Json) -> Json:
        name, provider = self._choose(body.get(self._login.selector))
        purpose = body["purpose"]
        state, url = self._begin(name, provider, purpose, purpose == BIND, body.get("language"))
        target = body.get("appRedirect") or body.get("returnTo")
        self._login.tickets.remember_start(state.value, name, target)
        ends = iso_format(state.expires_at)
        return {"url": url, "state": state.value, self._login.selector: name, "expiresAt": ends}

    def _add_logins(self) -> None:
        self._add(
            "POST",
            f"/api/v1/{self._name}-authorizations",
            self._log_in,
            f"create_{self._name}_authorization",
            f"Log in with the code and state of {self._platform}'s redirect, and get tokens.\n\n"
            "The state is redeemed even if the code is invalid.",
            access=Access.PUBLIC,
            body=self._schemas.login,
            returns=IssuedTokensSchema,
            errors=(HostErrors.LOG_IN, HostErrors.STATES, self._unknown, *self._refusals),
        )

    def _log_in(self, body: Json) -> Any:
        data = self._host.logins.consume_state(body["state"], self._purpose(LOGIN))
        return self._host.logins.log_in(self._name, self._proof(data, body))

    def _add_bindings(self) -> None:
        self._add(
            "POST",
            self._login.ids_path("<user_id>"),
            self._bind,
            f"bind_{self._name}_id",
            f"Bind the caller's account of {self._platform}; it replaces the one bound before.\n\n"
            "Requires a code sent to a bound contact; without contacts, the current password; without a "
            "password, a login within the last 5 minutes.",
            access=Access.USER,
            sensitive=Sensitive.CREDENTIALS,
            body=self._schemas.bind,
            returns=BoundCredentialSchema,
            status=201,
            errors=(HostErrors.BIND, HostErrors.STATES, self._unknown, *self._refusals),
        )

    def _bind(self, user_id: str, body: Json) -> Any:
        data = self._host.logins.consume_state(body["state"], self._purpose(BIND), for_user=True)
        return bind_account(self._host, self._login, user_id, self._proof(data, body), body)

    def _add_unbindings(self) -> None:
        self._add(
            "DELETE",
            self._login.ids_path("<user_id>"),
            self._unbind,
            f"unbind_{self._name}_ids",
            f"Unbind the caller's accounts of {self._platform}, all of them or one "
            f"{self._login.selector}.\n\n"
            "Requires a code of the purpose `unbind`, and an e-mail address or mobile number that "
            "remains.",
            access=Access.USER,
            sensitive=Sensitive.CREDENTIALS,
            query=self._schemas.unbind,
            returns=DoneSchema,
            errors=(HostErrors.UNBIND, self._unknown, *self._login.removal_errors),
            document={"parameters": [CODE_PARAMETER]},
        )

    def _unbind(self, user_id: str, query: Json) -> Any:
        name = query.get(self._login.selector)
        self._login.require_removable(name)
        prefix = "" if name is None else self._login.get_prefix(self._choose(name)[0])
        return self._host.logins.unbind(user_id, self._login.kinds, prefix=prefix)

    def _add_browser_flow(self) -> None:
        self._add(
            "GET",
            f"/api/v1/{self._name}-authorizations/begin",
            self._begin_login,
            f"begin_{self._name}_login",
            f"Lead a browser from a button of the login page or the account to {self._platform}.\n\n"
            "The purpose `bind` requires that the browser is logged in.",
            access=Access.PUBLIC,
            query=self._schemas.begin,
            status=302,
            errors=(self._unknown, self._unavailable, HostErrors.STATES),
            # Each request stores a state.
            limit="public_per_address",
            document={"responses": {"302": {"description": f"The page of {self._platform}"}}},
        )

    def _begin_login(self, query: Json) -> Any:
        name, provider = self._choose(query.get(self._login.selector))
        is_binding = query["purpose"] == BIND
        if is_binding:
            self._host.browser.require_session()
        purpose = CONNECT if is_binding else BROWSER
        language = self._host.browser.language
        try:
            url = self._begin(name, provider, purpose, is_binding, language)[1]
        except ApiError as error:
            return self._host.browser.refuse_login(error)
        return redirect(url)

    def _add_callbacks(self) -> None:
        selector = self._login.selector
        own = f"{callback_path(self._name)}/<name>"
        responses = {"303": {"description": "Where the login began"}, "200": _HANDED_OVER}
        options: RouteOptions = {
            "access": Access.PUBLIC,
            "query": self._schemas.callback,
            "any_query": True,
            "status": 303,
            "errors": (self._invalid, self._denied, HostErrors.STATES),
            "limit": "public_per_address",
            "document": {"responses": responses},
        }
        self._add(
            "GET",
            own,
            self._finish_or_refuse,
            f"finish_{self._name}_login",
            f"Follow the redirect of {self._platform}, and finish what the browser has begun.\n\n"
            "What began by the REST API goes on at its `returnTo` or `appRedirect`; without one, the "
            "response is the body for the request that follows. "
            f"The answer to a login that began with another {selector} is refused.",
            **options,
        )
        self._add(
            "GET",
            callback_path(self._name),
            self._finish_or_refuse,
            f"finish_shared_{self._name}_login",
            f"Follow the redirect of {self._platform} to the redirect URI that several {selector}s "
            "share.\n\n"
            f"Only for {selector}s with `shared_redirect_uri`, whose answers cannot be distinguished.",
            **options,
        )

    def _add_form_posts(self) -> None:
        text = (
            f"Redirect the form that {self._platform} has posted to the same path by GET.\n\n"
            "Browsers send no cookies with a form of another site, but with the redirect that follows."
        )
        options: RouteOptions = {
            "access": Access.PUBLIC,
            "status": 303,
            "errors": (self._invalid,),
            "document": {"responses": {"303": {"description": "The same by GET"}}},
        }
        shared = callback_path(self._name)
        for path, name in ((f"{shared}/<name>", "forward"), (shared, "forward_shared")):
            self._add("POST", path, self._forward_form, f"{name}_{self._name}_form", text, **options)

    def _forward_form(self, name: str | None = None) -> Any:
        self._require_single(request.form)
        known = self._schemas.callback().fields
        query = {key: value for key, value in request.form.items() if key in known}
        path = urlsplit(self._host.public_url).path + callback_path(self._name, name)
        return redirect(f"{path}?{urlencode(query)}", 303)

    def _finish_or_refuse(self, query: Json, name: str | None = None) -> Any:
        self._require_single(request.args)
        try:
            return self._finish(query, name)
        except ApiError as error:
            return self._host.browser.refuse_login(error)

    def _require_own_uri(self, began_with: str, name: str | None) -> None:
        """Require that the answer came to the redirect URI of the provider that the login began with.

        Otherwise, the code of one provider would be sent to another (RFC 9700, section 4.4).
        """
        provider = self._login.providers.get(began_with)
        expected = None if provider and provider.shared_redirect_uri else began_with
        if provider is None or name != expected:
            logger.warning(
                "%s: the answer to a login with %r came to the redirect URI of %r",
                self._name,
                began_with,
                name or "several",
            )
            raise ApiError(self._invalid)

    def _require_single(self, parameters: MultiDict[str, str]) -> None:
        """Refuse a repeated parameter, whose meaning is undefined (RFC 6749, section 3.1)."""
        known = self._schemas.callback().fields
        if any(len(values) > 1 for name, values in parameters.lists() if name in known):
            raise ApiError(self._invalid)

    def _finish(self, query: Json, name: str | None) -> Any:
        state = query.get("state", "")
        answer = self._normalized(query)
        if state.startswith(prefix_of_state(self._purpose(CONNECT))):
            return self._finish_connection(state, answer, name)
        if state.startswith(prefix_of_state(self._purpose(BROWSER))):
            data = self._host.logins.consume_state(state, self._purpose(BROWSER))
            self._require_own_uri(data["name"], name)
            link = link_name(self._login, data["name"])
            return self._host.browser.finish_login(self._name, self._proof(data, answer), link=link)
        return self._hand_over(state, answer, name)

    def _finish_connection(self, state: str, answer: Json, name: str | None) -> Any:
        # Another login may have begun in this browser meanwhile, so the state is for its user only.
        self._host.browser.require_session()
        data = self._host.logins.consume_state(state, self._purpose(CONNECT), for_user=True)
        self._require_own_uri(data["name"], name)
        connection = connection_name(self._login, data["name"])
        if "code" not in answer:
            return self._host.browser.finish_connection(connection, None)
        outcome = self._login.outcome(self._proof(data, answer))
        proof = {self._login.selector: data["name"], "ticket": self._login.tickets.keep(outcome)}
        return self._host.browser.finish_connection(connection, proof)

    def _hand_over(self, state: str, answer: Json, name: str | None) -> Response:
        """Pass an answer on to the client that has begun, which alone can spend the state."""
        start = self._login.tickets.find_start(state)
        if start is None:
            # Refused as each state that this server did not issue.
            self._host.logins.consume_state(state, self._purpose(LOGIN))
            raise ApiError(self._invalid)
        self._require_own_uri(start.name, name)
        target = start.target
        members = {
            name: answer[name] for name in ("code", "error", *self._login.parameters) if name in answer
        }
        if target is None and "error" in members:
            raise ApiError(self._denied)
        if target is None:
            return _without_referrer(jsonify({**members, "state": state}))
        separator = "&" if "?" in target else "?"
        url = f"{target}{separator}{urlencode({**members, 'state': state})}"
        return _without_referrer(redirect(url, 303))

    def _normalized(self, query: Json) -> Json:
        """Return the parameters of a redirect, with ``code``, or ``error`` as a code of this server."""
        parameters = {name: query[name] for name in self._login.parameters if name in query}
        code = next((query[name] for name in self._login.code_parameters if name in query), None)
        if code is not None and "error" not in query:
            return {"code": code, **parameters}
        if "error" in query:
            # Of the provider, so for the log only.
            said = json.dumps([query["error"], query.get("error_description", "")])[:400]
            logger.info("%s answered a login with the error %s", self._platform, said)
        return {"error": self._denied.code, **parameters}

    def _begin(
        self, name: str, provider: Provider, purpose: str, is_binding: bool, language: str | None
    ) -> tuple[State, str]:
        verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        uri = redirect_uri(self._host, self._login, name)
        kept = {"name": name, "redirect_uri": uri, "nonce": nonce, "code_verifier": verifier}
        state = self._host.logins.issue_state(self._purpose(purpose), kept, for_user=is_binding)
        start = Start(
            state=state.value,
            redirect_uri=uri,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            language=language,
            user_agent=request.headers.get("User-Agent", "")[:_MAX_USER_AGENT],
        )
        try:
            return state, provider.authorize_url(start)
        except ProviderError as error:
            level = logging.ERROR if isinstance(error, Misconfigured) else logging.WARNING
            logger.log(level, "%s: no login with %r can begin: %s", self._name, name, error)
            raise ApiError(self._unavailable) from error

    def _proof(self, data: Mapping[str, str], answer: Json) -> dict[str, str]:
        names = ("code", *self._login.parameters)
        return make_proof(
            self._login.selector, data, {name: answer[name] for name in names if name in answer}
        )

    def _purpose(self, purpose: str) -> str:
        # States of all plugins are in one table, so the name separates the platforms' states.
        return f"{self._name.replace('_', '')}{purpose}"

    def _choose(self, name: str | None) -> tuple[str, Provider]:
        return choose(self._login, self._login.providers, name)


def choose(
    login: OAuthLogin[Any], providers: Mapping[str, ProviderT], name: str | None
) -> tuple[str, ProviderT]:
    """Return the name and the provider for ``name``, or of the only one if it is ``None``.

    Args:
        providers: the providers of the login method that can be chosen.

    Raises:
        ApiError: there is no such provider.
    """
    chosen = next(iter(providers)) if name is None and len(providers) == 1 else name
    if chosen is None or chosen not in providers:
        message = f"Must be one of: {', '.join(sorted(providers)) or 'there is none'}."
        details = [FieldError(login.selector, "unknown", message)]
        raise ApiError(unknown_kind(login.name, login.selector), details=details)
    return chosen, providers[chosen]


def bind_account(
    host: HostAPI, login: OAuthLogin[Any], user_id: str, proof: Mapping[str, str], body: Json
) -> Any:
    """Bind the account of a proof to the caller.

    Args:
        body: has the caller's own proof: ``heldCode`` or ``currentPassword``.
    """
    held = body.get("heldCode")
    return host.logins.bind(
        user_id,
        login.name,
        proof,
        replaced=login.replaced,
        held_code=VerificationCode(**held) if held else None,
        current_password=body.get("currentPassword"),
    )


def _without_referrer(response: Any) -> Response:
    response.headers["Referrer-Policy"] = "no-referrer"
    result: Response = response
    return result
