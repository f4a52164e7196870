"""Pages of a plugin: an application whose requests need a session, and whose forms need its secret.

The pages do everything through the REST API, within the process and with the user's own login, so
permissions, limits, fresh proofs, the audit log and the texts of errors are the same as of REST::

    drawer = Blueprint("drawer", __name__)

    @drawer.post("/")
    def create_tenant():
        visit, form = current_visit(), SchemaForm(TenantForm(), flask.request.form)
        response = visit.send_form(form, "POST", "/api/v1/tenants")
        if response is None:
            return visit.page("tenants.html", form=form)
        return visit.follow(response, "/", "created")

    def create_application(host):
        application = PageApplication(host, "/drawer")
        application.register_blueprint(drawer)
        return application

A body has at most 64 KiB unless :class:`~strongroom.plugin_api.web.MountedApplication` declares more.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from http import HTTPStatus
from itertools import islice
from typing import Any, ClassVar, Final, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import flask
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Rule
from werkzeug.utils import redirect
from werkzeug.wrappers import Request

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.page_forms import FieldNames, SchemaForm, find_form_field
from strongroom.plugin_api.pages import MenuGroup, MenuSection, PageLink
from strongroom.plugin_api.paging import Records, read_records
from strongroom.plugin_api.rendering import PageCompression
from strongroom.plugin_api.times import find_zone
from strongroom.plugin_api.web import ApiError, ErrorKind, RestResponse

POLICY: Final[Mapping[str, str]] = {
    "script-src": "'self' 'nonce-{nonce}'",
    "form-action": "'self'",
    "require-trusted-types-for": "'script'",
}
"""The differences of the Content-Security-Policy of these pages to the strict one: scripts and forms."""

STALE: Final = ("error.step-up-required", "error.fresh-proof-required")
"""The errors that a fresh proof answers."""

SAFE_METHODS: Final = ("GET", "HEAD", "OPTIONS")

# The sealed cookie has room for 4,000 bytes, most of them for the session.
_LONGEST_PROBLEM: Final = 300
_LONGEST_NAME: Final = 80
_LONGEST_FAULT: Final = 100
_MOST_FAULTS: Final = 3
_FLASH: Final = "flash"
_PART: Final = "part"
_SEARCH: Final = "find"
_LONGEST_SEARCH: Final = 255
_LOG_OUT: Final = "logout"


def join_path(start: str, *names: str) -> str:
    """Return a path with names as its segments, in which no name is a separator or begins a query.

    Args:
        start: a path without a slash at its end.
        names: an empty one at the end ends the path with a slash.
    """
    return "/".join((start, *(quote(name, safe="") for name in names)))


class Refused(Exception):
    """The REST API has refused what a page needs to be shown.

    Args:
        response: the error response.
    """

    def __init__(self, response: RestResponse) -> None:
        super().__init__(response.error)
        self.response = response


@dataclass(frozen=True, slots=True)
class Flash:
    """What the next page shows once, after a redirect.

    Args:
        notice: the key of the text of a success.
        names: the names in that text.
        problem: the text of an error.
        values: other JSON values for the next page.
        faults: the texts of errors by the fields of the form that has them.
        texts: what the form had in these fields.
        part: the field ``part`` of the form, which names it among several with fields of one name.
    """

    notice: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    part: str = ""


class Visit:
    """A request of a browser for a page, and the responses to it.

    Args:
        prefix: the path of the pages, below the base path of the server.
        request: ``None``: the current request of Flask.
    """

    accepts_impersonation: ClassVar[bool] = False
    """Whether pages open for an administrator who impersonates the user; each of them must say so."""

    field_names: ClassVar[FieldNames] = {}
    """The fields of the forms by the fields of the REST API, where their names differ."""

    most_read: ClassVar[int] = 2000
    """The records of a list after which :meth:`read_all` reads no other page: ten requests."""

    def __init__(self, host: HostAPI, prefix: str, request: Request | None = None) -> None:
        self.host = host
        self.base_path = urlsplit(host.public_url).path.rstrip("/")
        self.root = self.base_path + prefix
        self.request: Request = flask.request if request is None else request
        self.cut_total = 0
        """The length of the longest list that :meth:`read_all` has cut; 0 without one."""
        self.has_search = False
        """Whether a form of the page offers more than it shows, so that the page has a search."""
        self._retry_after: int | None = None

    @property
    def session(self) -> BrowserSession:
        """The session of the browser.

        Raises:
            HTTPException: the redirect to the login page.
        """
        return self.host.browser.require_session(accepts_impersonation=self.accepts_impersonation)

    @property
    def token(self) -> str | None:
        """An access token of the user, for :meth:`rest`."""
        return self.session.token

    @property
    def csrf(self) -> str:
        """The secret that each form of the page has."""
        return self.host.browser.csrf

    @property
    def form_zone(self) -> tzinfo:
        """The time zone that the form of the request was shown in, by the macro ``time_field``.

        The browser may be in another zone since.
        """
        return find_zone(flask.request.form.get("zone")) or self.host.browser.zone

    @property
    def here(self) -> str:
        """The path and the query of the request, with the base path."""
        return self.root + self.request.full_path.rstrip("?")

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        device: str = "",
        stream: bool = False,
    ) -> RestResponse:
        """Send a request to the REST API, as the user, in the language of the page.

        Args:
            device: an addition to the id of the browser, which has limits of its own.
            stream: as in :meth:`HostAPI.rest`.
        """
        browser = self.host.browser
        sent = {"X-Device-Id": browser.device_id + device, **(headers or {})}
        if browser.language:
            sent["Accept-Language"] = browser.language
        response = self.host.rest(method, path, body, token=self.token, headers=sent, stream=stream)
        if response.status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._retry_after = response.retry_after
        return response

    def send_form(self, form: SchemaForm, method: str, path: str) -> RestResponse | None:
        """Send the values of a form to the REST API.

        Returns:
            ``None`` if a field has a fault, which the form shows; otherwise the response, which may be
            another error.
        """
        if form.faults:
            return None
        response = self.rest(method, path, form.values)
        return None if form.refuse(response) else response

    def read(self, path: str, **query: Any) -> Any:
        """Return what the REST API has at a path.

        Args:
            query: the parameters of the query; those that are ``None`` are left out.

        Raises:
            Refused: it is missing, or the user may not see it.
        """
        given = {name: value for name, value in query.items() if value is not None}
        response = self.rest("GET", f"{path}?{urlencode(given)}" if given else path)
        if response.error is not None:
            raise Refused(response)
        return response.json

    def read_all(self, path: str, **query: Any) -> Records:
        """Return all records of a list: at most about :attr:`most_read`; a cut sets :attr:`cut_total`.

        Args:
            query: the parameters of the query without the paging parameters.

        Raises:
            Refused: the user may not see the list.
        """
        records = read_records(
            lambda cursor, size: self.read(path, **query, pageSize=size, cursor=cursor), self.most_read
        )
        if records.is_cut:
            self.cut_total = max(self.cut_total, records.total)
        return records

    def menu_items(self) -> Sequence[PageLink]:
        """Return the items of the menu."""
        return self.host.pages.menu_items()

    def account_sections(self) -> Sequence[MenuGroup]:
        """Return the sections of the pages of the account, for the variable ``sections``.

        They are the menu items with the place ``account``, of all plugins.
        """
        items = [(link, link.item) for link in self.menu_items() if link.item is not None]
        account = [(link, item) for link, item in items if item.place == "account"]
        sections = [MenuSection(link.path, link.label, item.icon) for link, item in account]
        return [MenuGroup(sections)]

    def viewer(self) -> Mapping[str, str]:
        """Return the user of the menu: ``id`` and ``name``, and ``hint``, such as an address."""
        session = self.session
        if session.name:
            return {"id": session.user_id, "name": session.name, "hint": session.contact}
        labels = {} if session.contact else self.host.users.find_labels([session.user_id])
        return {"id": session.user_id, "name": labels.get(session.user_id, session.contact), "hint": ""}

    def menu(self) -> Mapping[str, Any]:
        """Return the variables of the menu: the items, the path of the current one, and the user.

        An administrator who impersonates the user returns by a page of the impersonation instead of
        logging out.
        """
        items = self.menu_items()
        current = [item.path for item in items if self.here.startswith(item.path)]
        return {
            "menu": items,
            "current_item": max(current, key=len, default=""),
            "viewer": self.viewer(),
            "can_log_out": self.session.ends_at is None,
        }

    @property
    def sought(self) -> str:
        """The text that the user searches the choices of the page for; empty without a search."""
        return self.request.args.get(_SEARCH, "").strip()[:_LONGEST_SEARCH]

    def read_choices(self, path: str, name: Callable[[Any, Any], str], **query: Any) -> Records:
        """Return the records that a form offers: those whose names have the words of the search.

        If the list is too long for a form, the frame of the page has a search.

        Args:
            name: returns the name of a record, by the record and the summaries that it refers to.
            query: the parameters of the query without the paging parameters.

        Raises:
            Refused: the user may not see the list.
        """
        words = _folded(self.sought).split()
        records = read_records(
            lambda cursor, size: self.read(path, **query, pageSize=size, cursor=cursor),
            self.most_read,
            (lambda item, included: _contains(name(item, included), words)) if words else None,
        )
        self.has_search = self.has_search or records.is_cut or bool(words)
        return records

    def page(
        self,
        template: str,
        *,
        status: int = 0,
        refusal: RestResponse | None = None,
        policy: Mapping[str, str] | None = None,
        compress: PageCompression = False,
        **values: Any,
    ) -> Any:
        """Return the response with a page in the frame of the server, and with the flash, once.

        Args:
            status: the HTTP status; 0: 200, or 400 after a refusal or with faults.
            refusal: the response that refused the form of the page, if any.
            policy: directives of the Content-Security-Policy that replace the ones in :data:`POLICY`.
            compress: the page shows no secret, see :meth:`PagesAPI.render`.
            values: the other variables of the template. A :class:`SchemaForm` named ``form`` shows its
                faults at its fields.
        """
        form = values.get("form")
        flash = self.take_flash()
        refused = flash if refusal is None else self._refused(refusal)
        has_faults = bool(refused.faults) or (isinstance(form, SchemaForm) and bool(form.faults))
        is_refused = refusal is not None or (has_faults and not flash.faults)
        return self.render(
            template,
            status=status or (HTTPStatus.BAD_REQUEST if is_refused else HTTPStatus.OK),
            policy=policy,
            compress=compress,
            **self.menu(),
            flash=flash,
            problem=refused.problem,
            field_faults=refused.faults,
            field_texts=refused.texts,
            faulty_part=refused.part,
            has_faults=has_faults,
            cut_total=self.cut_total,
            most_read=self.most_read,
            has_search=self.has_search,
            sought=self.sought,
            **values,
        )

    def render(
        self,
        template: str,
        *,
        status: int,
        policy: Mapping[str, str] | None = None,
        compress: PageCompression = False,
        **values: Any,
    ) -> Any:
        """Return the response with a page, without its frame.

        A refused form has 503 with ``Retry-After`` if a part of the server was unavailable.
        """
        is_away = status == HTTPStatus.BAD_REQUEST and self._retry_after is not None
        variables = {"root": self.root, "base": self.base_path, "here": self.here, **values}
        page = self.host.pages.render(
            template,
            status=HTTPStatus.SERVICE_UNAVAILABLE if is_away else status,
            policy={**POLICY, **(policy or {})},
            compress=compress,
            csrf=self.csrf,
            **variables,
        )
        if is_away:
            page.headers["Retry-After"] = str(self._retry_after)
        return page

    def redirect(self, path: str, notice: str | None = None, **names: str) -> Any:
        """Redirect to a page of the application, which shows a notice once.

        Args:
            path: below the path of the application.
            notice: the key of the text.
            names: the names in the text.
        """
        if notice is not None:
            self.flash(Flash(notice, names))
        return redirect(f"{self.root}{path}", HTTPStatus.SEE_OTHER)

    def follow(self, response: RestResponse, path: str, notice: str | None = None, **names: str) -> Any:
        """Redirect to the page that follows a change, or to the proof that the change requires.

        After a refusal, the page shows the text of the error, at the field of the form that has it.

        Args:
            path: the page, below the path of the application. After a fresh proof, the browser returns
                to it, and the user sends the form again.
            notice: the key of the text that it shows after a success.
            names: the names in the text.
        """
        if response.error is None:
            return self.redirect(path, notice, **names)
        if (login := self.login_after(response.error, response.status, path, "confirmed")) is not None:
            return login
        self.flash(self._refused(response))
        return redirect(f"{self.root}{path}", HTTPStatus.SEE_OTHER)

    def _refused(self, response: RestResponse) -> Flash:
        """Return what a page shows of an error: texts at the fields of the form, if they have it."""
        sent = self.request.form
        details = response.json["error"].get("details") or ()
        faults: dict[str, str] = {}
        for item in details:
            name = find_form_field(item["field"], sent, self.field_names)
            if name is None:
                return Flash(problem=self.problem_text(response))
            faults.setdefault(name, str(item["message"]))
        if not faults:
            return Flash(problem=self.problem_text(response))
        texts = {name: sent[name] for name in faults if "password" not in name.lower()}
        return Flash(faults=faults, texts=texts, part=sent.get(_PART, "")[:_LONGEST_NAME])

    def login_after(self, error: str | None, status: int, path: str, notice: str | None = None) -> Any:
        """Return the redirect to the proof or the login that an error demands; ``None`` otherwise.

        Args:
            error: the code of the error.
            status: its HTTP status.
            path: the page, below the path of the application, that the browser returns to.
            notice: the key of the text that the page shows after a fresh proof.
        """
        step_up = self.host.browser.step_up_path(f"{self.root}{path}") if error in STALE else None
        if step_up is not None:
            self.flash(Flash(notice))
            return redirect(step_up, HTTPStatus.SEE_OTHER)
        if status == HTTPStatus.UNAUTHORIZED:
            return redirect(
                self.host.browser.login_path(f"{self.root}{path}") or "/", HTTPStatus.SEE_OTHER
            )
        return None

    def refuse(self, path: str, problem: str) -> Any:
        """Redirect to a page of the application, which shows the text of an error."""
        self.flash(Flash(problem=problem))
        return redirect(f"{self.root}{path}", HTTPStatus.SEE_OTHER)

    def problem_text(self, response: RestResponse) -> str:
        """Return the text of an error in the language of the page: its first detail's, if any."""
        error = response.json["error"]
        return str((error.get("details") or [error])[0]["message"])

    def flash(self, flash: Flash) -> None:
        """Have the next page show something once; it replaces what the page would have shown."""
        kept = {name: value for name, value in self.host.browser.values.items() if name != _FLASH}
        members = {
            "notice": flash.notice,
            "names": {name: text[:_LONGEST_NAME] for name, text in flash.names.items()},
            "problem": flash.problem and flash.problem[:_LONGEST_PROBLEM],
            "values": dict(flash.values),
            "faults": {name: text[:_LONGEST_FAULT] for name, text in _first(flash.faults)},
            "texts": {name: text for name, text in _first(flash.texts) if len(text) <= _LONGEST_NAME},
            "part": flash.part,
        }
        sent = {name: value for name, value in members.items() if value}
        self.host.browser.store({**kept, _FLASH: sent} if sent else kept)

    def take_flash(self) -> Flash:
        """Return what the page shows, and forget it."""
        members = self.host.browser.values.get(_FLASH)
        if members is None:
            return Flash()
        self.flash(Flash())
        return Flash(**members)


def _first(texts: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return islice(texts.items(), _MOST_FAULTS)


def _folded(text: str) -> str:
    """Return a text without accents and case, for a search."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def _contains(text: str, words: Sequence[str]) -> bool:
    """Return whether a text has all words, which are folded."""
    folded = _folded(text)
    return all(word in folded for word in words)


def is_form_error(response: RestResponse) -> bool:
    """Return whether a form shows why it was refused; not if the reason is the login."""
    is_login = response.error in STALE or response.status == HTTPStatus.UNAUTHORIZED
    return response.error is not None and not is_login


def current_visit() -> Visit:
    """Return the visit of the current request of a :class:`PageApplication`."""
    visit: Visit = flask.g.visit
    return visit


class _Rule(Rule):
    """A rule without functions for ``url_for``, which no page uses.

    Compiling them for all routes took six sevenths of the time of creating the console, which each
    process of a server spends at its start.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Any:  # noqa: ARG002  the signature of Werkzeug
        def refuse(_rule: Rule, /, **_values: Any) -> NoReturn:
            raise NotImplementedError("pages write their URLs themselves")

        return refuse


class _JsonProvider(DefaultJSONProvider):
    def loads(self, s: str | bytes, **options: Any) -> Any:
        try:
            return super().loads(s, **options)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


class PageApplication(flask.Flask):
    """A WSGI application of pages, for :class:`~strongroom.plugin_api.web.MountedApplication`.

    Each request needs a session, and each change its secret, before a view runs or a body is read. Pages
    in a section of the console open for those who see the section. Errors are the same as of the
    server's routes, as a page or as JSON. The path ``/logout`` of its form in the menu ends the session.

    Args:
        prefix: the path prefix that it is mounted at.
        visit: creates the :class:`Visit` of a request.
        public: the endpoints that need no session and are in no section; ``None``: all of them.
    """

    url_rule_class = _Rule
    json_provider_class = _JsonProvider

    def __init__(
        self,
        host: HostAPI,
        prefix: str,
        *,
        visit: Callable[[HostAPI, str], Visit] = Visit,
        public: frozenset[str] | None = frozenset(),
    ) -> None:
        super().__init__(f"pages_of_{prefix.strip('/')}", static_folder=None, template_folder=None)
        # Errors that are no answers to the browser are logged and counted by the server, as errors of
        # routes.
        self.config["PROPAGATE_EXCEPTIONS"] = True
        self._host = host
        self._prefix = prefix
        self._visit = visit
        self._public = public
        self.before_request(self._begin)
        if public is not None:
            self.add_url_rule("/logout", _LOG_OUT, _log_out, methods=["POST"])
        self.register_error_handler(Refused, show_refusal)
        self.register_error_handler(HTTPException, _propagate)

    def _begin(self) -> None:
        flask.g.visit = visit = self._visit(self._host, self._prefix)
        endpoint = flask.request.endpoint
        is_private = self._public is not None and endpoint not in self._public
        if is_private:
            # The session precedes the body, so that a client without one has none parsed.
            _ = visit.session
        if flask.request.method not in SAFE_METHODS and flask.request.routing_exception is None:
            self._host.browser.require_csrf()
        if is_private and endpoint != _LOG_OUT:
            self._host.pages.require_section(self._prefix + flask.request.path)


def _log_out() -> Any:
    """End the session here, and at the platform that the user has logged in by."""
    visit = current_visit()
    browser = visit.host.browser
    login = browser.login_path() or "/"
    platform = browser.logout_url(login.removeprefix(visit.base_path))
    browser.end_session()
    if platform is None:
        return redirect(login, HTTPStatus.SEE_OTHER)
    # The policy of the page forbids that its form is redirected to another site.
    return flask.Response(headers={"Refresh": f"0; url={platform}"})


def _propagate(fault: HTTPException) -> NoReturn:
    """Let the server answer, as for its own routes.

    Raises:
        HTTPException: the fault.
    """
    raise fault


def show_refusal(refused: Refused) -> NoReturn:
    """Answer with the error that the REST API has refused a page with.

    Raises:
        ApiError: that error.
    """
    response = refused.response
    member = response.json["error"]
    raise ApiError(
        ErrorKind(response.status, member["code"], member["message"], retry_after=response.retry_after)
    ) from refused
