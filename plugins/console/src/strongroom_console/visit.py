"""One request of a browser for a page of the console.

The console does everything through the REST API, within the process and with the user's own login, so
permissions, limits, fresh proofs, the audit log and the texts of errors are those of REST.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from flask import g, redirect, request

from strongroom.plugin_api.browser import BrowserSession
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.paging import Records, read_records
from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import RestResponse

PREFIX: Final = "/console"
"""The path of the pages, below the base path of the server."""

_OWN_TEXTS: Final[Mapping[str, str]] = {
    f"error.{name}": f"problem-{name}"
    for name in (
        "group-name-taken",
        "last-administrator",
        "not-a-member",
        "too-many-groups",
        "too-many-invitations",
    )
}

PROBLEMS: Final = frozenset(_OWN_TEXTS.values())
"""The keys of the texts of errors for which the REST API has other words, such as "tenant"."""

MOST_READ: Final = 2000
"""The most records of a list that a page shows at once; ten requests, and about 200 kB of a form."""

_STALE: Final = ("error.step-up-required", "error.fresh-proof-required")
"""The errors that a fresh proof answers."""

_POLICY: Final = {
    "script-src": "'self'",
    "img-src": "'self' data: blob:",
    "media-src": "'self'",
    "form-action": "'self'",
    "require-trusted-types-for": "'script'",
}
"""The differences of the Content-Security-Policy to the strict one."""


class Refused(Exception):
    """The REST API has refused what a page needs to be shown.

    Args:
        response: the error response.
    """

    def __init__(self, response: RestResponse) -> None:
        super().__init__(response.error)
        self.response = response


class Visit:
    """A request of a user who is logged in, and the responses to it.

    Args:
        session: the session of the browser.
    """

    def __init__(self, host: HostAPI, session: BrowserSession) -> None:
        self.host = host
        self.session = session
        self.base_path = urlsplit(host.public_url).path.rstrip("/")
        self.root = self.base_path + PREFIX
        self._cut_total = 0

    @property
    def is_administrator(self) -> bool:
        """Whether the user administers the server."""
        caller = self.host.caller
        return caller is not None and caller.user_type == "ADMIN"

    @cached_property
    def user(self) -> Mapping[str, Any]:
        """The user, as the REST API describes users."""
        user: Mapping[str, Any] = self.read("/users/me")
        return user

    @property
    def here(self) -> str:
        """The path and the query of the request, with the base path."""
        return self.root + request.full_path.rstrip("?")

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
    ) -> RestResponse:
        """Send a request to the REST API, as the user."""
        browser = self.host.browser
        sent = {"X-Device-Id": browser.device_id, **(headers or {})}
        if browser.language:
            sent["Accept-Language"] = browser.language
        return self.host.rest(method, path, body, token=self.session.token, headers=sent, stream=stream)

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
        """Return all records of a list, of which the next page of the console announces a cut.

        Args:
            query: the parameters of the query without those of paging.

        Raises:
            Refused: the user may not see the list.
        """
        records = read_records(
            lambda cursor, size: self.read(path, **query, pageSize=size, cursor=cursor), MOST_READ
        )
        if records.is_cut:
            self._cut_total = max(self._cut_total, records.total)
        return records

    def page(
        self, template: str, *, refusal: RestResponse | None = None, status: int = 0, **values: Any
    ) -> Any:
        """Return the response with a page, and with the notice of the change before.

        Args:
            refusal: the response that refused the form of the page, if any.
            status: the HTTP status; 0: 200, or 400 after a refusal.
        """
        notice = self._taken_notice()
        problem = problem_of(refusal) if refusal is not None else notice.get("problem")
        return self.host.pages.render(
            template,
            status=status or (HTTPStatus.BAD_REQUEST if refusal is not None else HTTPStatus.OK),
            policy=_POLICY,
            csrf=self.session.csrf,
            root=self.root,
            base=self.base_path,
            here=self.here,
            menu=self.host.pages.menu_items(),
            user=self.user,
            is_administrator=self.is_administrator,
            notice=notice.get("notice"),
            notice_names=notice.get("names", {}),
            undo=notice.get("undo", []),
            problem=problem,
            impersonated_until=self._end_of_impersonation(),
            cut_total=self._cut_total,
            problems=PROBLEMS,
            most_read=MOST_READ,
            **values,
        )

    def _end_of_impersonation(self) -> str | None:
        ends_at = self.session.ends_at
        return None if ends_at is None else iso_format(ends_at)

    def follow(self, response: RestResponse, path: str, notice: str | None = None, **names: str) -> Any:
        """Redirect to the page that follows a change, or to the proof that the change requires.

        After a refusal, the page shows the text of the error.

        Args:
            path: the page, below the path of the console. After a fresh proof, the browser returns to
                it, and the user sends the form again.
            notice: the key of the text that it shows after a success.
            names: the names in the text.
        """
        if response.error is None:
            return self.redirect(path, notice, **names)
        if (login := self.login_after(response.error, response.status, path, "confirmed")) is not None:
            return login
        return self.refuse(path, problem_of(response))

    def login_after(self, error: str | None, status: int, path: str, notice: str | None = None) -> Any:
        """Return the redirect to the proof or the login that an error demands; ``None`` otherwise.

        Args:
            error: the code of the error.
            status: its HTTP status.
            path: the page, below the path of the console, that the browser returns to.
            notice: the key of the text that the page shows after a fresh proof.
        """
        step_up = self.host.browser.step_up_path(f"{self.root}{path}") if error in _STALE else None
        if step_up is not None:
            self.host.browser.store({"notice": notice} if notice else {})
            return redirect(step_up, HTTPStatus.SEE_OTHER)
        if status == HTTPStatus.UNAUTHORIZED:
            return redirect(
                self.host.browser.login_path(f"{self.root}{path}") or "/", HTTPStatus.SEE_OTHER
            )
        return None

    @staticmethod
    def is_stale(response: RestResponse) -> bool:
        """Return whether a response asks for a fresh proof."""
        return response.error in _STALE

    def refuse(self, path: str, problem: str) -> Any:
        """Redirect to a page, which shows the text of an error."""
        self.host.browser.store({"problem": problem[:_LONGEST_PROBLEM]})
        return redirect(f"{self.root}{path}", HTTPStatus.SEE_OTHER)

    def redirect(
        self, path: str, notice: str | None = None, *, undo: Sequence[str] = (), **names: str
    ) -> Any:
        """Redirect to a page of the console, which shows a notice once.

        Args:
            undo: the ids of what was deleted, which the page offers to restore; too many are left out.
        """
        if notice is not None:
            short = {name: text[:_LONGEST_NAME] for name, text in names.items()}
            restorable = list(undo) if len(undo) <= _MOST_UNDONE else []
            self.host.browser.store({"notice": notice, "names": short, "undo": restorable})
        return redirect(f"{self.root}{path}", HTTPStatus.SEE_OTHER)

    def _taken_notice(self) -> Mapping[str, Any]:
        notice = self.host.browser.values
        if notice:
            self.host.browser.store({})
        return notice


# The sealed cookie has room for 4,000 bytes, most of them for the session.
_LONGEST_PROBLEM: Final = 300
_LONGEST_NAME: Final = 80
_MOST_UNDONE: Final = 20


def is_form_error(response: RestResponse) -> bool:
    """Return whether a form shows why it was refused; not if the reason is the login."""
    is_login = response.error in _STALE or response.status == HTTPStatus.UNAUTHORIZED
    return response.error is not None and not is_login


def problem_of(response: RestResponse) -> str:
    """Return the text of an error in the language of the page: that of its first detail, if any."""
    return text_of_error(response.json["error"])


def text_of_error(error: Mapping[str, Any]) -> str:
    """Return the text of an error of the REST API: that of its first detail, if any.

    It is a key of :data:`PROBLEMS` if the API has other words for what people see.
    """
    details = error.get("details")
    if not details and error["code"] in _OWN_TEXTS:
        return _OWN_TEXTS[error["code"]]
    return str((details or [error])[0]["message"])


def current_visit() -> Visit:
    """Return the visit of the current request."""
    visit: Visit = g.visit
    return visit
