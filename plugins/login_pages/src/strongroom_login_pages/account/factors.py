"""The enrolment in second factors, whatever the plugins are that own them.

An enrolment also runs before the login, if the user must enrol a factor first: with the id that the
login has returned in place of an access token.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from werkzeug.wrappers import Response

from strongroom.plugin_api.forms import MAX_SHOWN, FactorView
from strongroom.plugin_api.visits import join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import ME, account_page, follow, recall, remember, show
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.texts import error_text
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

_FACTORS: Final = f"{ME}/factors"
_INVALID: Final = "error.factor-invalid"
_MAX_LINES: Final = 50
_MAX_LINE: Final = 200


@dataclass(slots=True, eq=False, repr=False)
class FactorPages:
    """The pages that add a factor."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/enrolments/<kind>"): self.show_replacement,
            ("POST", "/enrolments/<kind>"): self.begin,
            ("POST", "/enrolments/<kind>/confirmation"): self.confirm,
            ("GET", "/enrolments/<kind>/result"): self.show_result,
            ("POST", "/enrolments/<kind>/file"): self.send_file,
        }

    @account_page
    def show_replacement(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Ask whether a new backup, such as a sheet of codes, is to void the old one."""
        view = visit.factor_view(kind)
        if view is None or not view.is_backup:
            # The form of an enrolment was reloaded, or its page in another language was opened.
            return visit.redirect("/")
        return show(visit, "replacement.html", user, view=view)

    def begin(self, visit: LoginVisit, kind: str) -> Any:
        """Show the form of the enrolment; an enrolment without an answer is finished at once."""
        view = visit.factor_view(kind)
        if view is None:
            return visit.missing()
        response = self._begin(visit, kind, visit.form.get("name", "").strip())
        if response.error is not None:
            return _refused(visit, response, view)
        if view.needs_answer:
            return _form(visit, view, response.json["id"], response.json["shown"])
        return self._finish(visit, view, self._confirm(visit, response.json["id"], None))

    def confirm(self, visit: LoginVisit, kind: str) -> Any:
        """Enrol the factor with the answer of the form."""
        view = visit.factor_view(kind)
        if view is None:
            return visit.missing()
        identifier, answer = visit.form.get("id", ""), visit.factor_answer(view)
        response = self._confirm(visit, identifier, answer)
        if response.error == _INVALID and not view.is_json:
            return _form(visit, view, identifier, _opened(visit), error="code-wrong")
        return self._finish(visit, view, response)

    @account_page
    def show_result(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Show what the user receives once, such as recovery codes."""
        view, lines = visit.factor_view(kind), recall(visit, "codes")
        if view is None or lines is None:
            return visit.redirect("/")
        remember(visit, codes=None)
        return show(visit, "result.html", user, view=view, lines=lines)

    @logged_in
    def send_file(self, visit: LoginVisit, kind: str) -> Any:
        """Return what the page shows as a file, for browsers without scripts, too."""
        view, lines = visit.factor_view(kind), visit.form.getlist("line")[:_MAX_LINES]
        if view is None or not all(line.isprintable() and len(line) <= _MAX_LINE for line in lines):
            return visit.missing()
        response = Response("\r\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{view.kind}.txt"'
        return response

    def _begin(self, visit: LoginVisit, kind: str, name: str) -> RestResponse:
        enrolment = visit.flow.enrolment
        if enrolment is None:
            return visit.rest("POST", _FACTORS, {"kind": kind, "name": name})
        body = {"id": enrolment["id"], "kind": kind, "name": name}
        return visit.rest("POST", "/authorizations/enrolments", body)

    def _confirm(self, visit: LoginVisit, identifier: str, answer: Any) -> RestResponse:
        enrolment = visit.flow.enrolment
        if enrolment is None:
            path = join_path(_FACTORS, identifier, "confirmation")
            return visit.rest("POST", path, {"answer": answer})
        body = {"id": enrolment["id"], "enrolmentId": identifier, "answer": answer}
        return visit.rest("POST", "/authorizations/enrolments/confirmation", body)

    def _finish(self, visit: LoginVisit, view: FactorView, response: RestResponse) -> Any:
        if visit.flow.enrolment is not None:
            return self._progress.continue_with(visit, response, lambda: _refused(visit, response, view))
        if response.error is not None:
            return _refused(visit, response, view)
        lines = list(_texts(response.json["shown"]))
        if not lines:
            return follow(visit, response, "/", "factor-added")
        if len(json.dumps(lines)) > MAX_SHOWN:
            # The cookie could not keep it until the next page.
            return self._result(visit, view=view, lines=lines)
        remember(visit, codes=lines)
        return visit.redirect(f"/enrolments/{view.kind}/result")

    @account_page
    def _result(
        self, visit: LoginVisit, user: Mapping[str, Any], view: FactorView, lines: Sequence[str]
    ) -> Any:
        return show(visit, "result.html", user, view=view, lines=lines)


def _refused(visit: LoginVisit, response: RestResponse, view: FactorView) -> Any:
    """Go to the page that follows an error, which is another one before the login."""
    if visit.flow.enrolment is None:
        is_asked = view.is_backup and response.error in STALE
        return follow(visit, response, f"/enrolments/{view.kind}" if is_asked else "/", None)
    notice = error_text(response.error)
    if response.status == HTTPStatus.UNAUTHORIZED:
        visit.switch(notice=notice)
        return visit.redirect("/login")
    visit.update(notice=notice)
    return visit.redirect("/enrolment")


def _form(
    visit: LoginVisit,
    view: FactorView,
    identifier: str,
    shown: Mapping[str, Any],
    *,
    error: str | None = None,
) -> Any:
    return visit.page(
        "account/enrolment.html",
        status=400 if error else 200,
        error=error,
        view=view,
        part=visit.factor_part(view.kind, "enrolment", shown),
        id=identifier,
        # Sealed, so that only the server's own values are shown again after a wrong answer.
        sealed=visit.seal(json.dumps(dict(shown))),
    )


def _opened(visit: LoginVisit) -> Mapping[str, Any]:
    try:
        shown: Mapping[str, Any] = json.loads(visit.unseal(visit.form.get("shown", "")))
    except ValueError:
        return {}
    return shown


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value, in their order."""
    if isinstance(value, str):
        yield value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        yield from _texts(item)
