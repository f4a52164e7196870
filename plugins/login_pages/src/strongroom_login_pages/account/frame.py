"""What the account pages share: the frame of a page, and what follows a response of the REST API."""

import json
from collections.abc import Mapping, Sequence
from functools import wraps
from http import HTTPStatus
from typing import Any, Final

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.captchas import refusal_text
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.texts import known_text
from strongroom_login_pages.visit import LoginVisit, View, logged_in

ME: Final = "/users/me"

_MAX_FORM: Final = 600
"""The longest form in JSON that the cookie keeps during a step-up: browsers limit its size."""


def account_page(view: View) -> View:
    """Require a login for a view, which gets the user as the REST API returns it."""

    @wraps(view)
    def guarded(pages: Any, visit: LoginVisit, **parameters: str) -> Any:
        response = visit.rest("GET", ME)
        if response.error is not None:
            visit.log_out()
            return visit.redirect("/login")
        return view(pages, visit, response.json, **parameters)

    return logged_in(guarded)


def show(
    visit: LoginVisit,
    template: str,
    user: Mapping[str, Any],
    *,
    refusal: RestResponse | None = None,
    **values: Any,
) -> Any:
    """Return an account page, with the notices of the request before.

    Args:
        refusal: the response that refused the form of the page, if any.
    """
    flash = visit.take_flash()
    error, reason = _reason(refusal) if refusal else (None, None)
    error = refusal_text(visit, error, values.get("captcha"))
    return visit.page(
        f"account/{template}",
        status=HTTPStatus.BAD_REQUEST if refusal else HTTPStatus.OK,
        user=user,
        who=login_name(user),
        **{**visit.menu(), "viewer": get_viewer(user)},
        sections=visit.account_sections(),
        notice=flash.notice,
        error=values.pop("error", None) or error,
        problem=reason or flash.problem,
        # The form that logs out may lead to the platform.
        form_targets=[url for url in (visit.platform_logout_url(),) if url],
        **values,
    )


def follow(
    visit: LoginVisit,
    response: RestResponse,
    page: str,
    notice: str | None,
    *,
    keep: Sequence[str] = (),
) -> Any:
    """Redirect to the page that follows a change, or to the step-up that the change requires.

    Args:
        page: the path of the page with the form.
        notice: the key of the text after a success.
        keep: the names of the fields of the form that are filled in again after a step-up.
    """
    if response.error is None:
        visit.update(notice=notice)
        return visit.redirect(page)
    if response.error in STALE:
        return begin_step_up(visit, page, keep)
    if response.status == HTTPStatus.UNAUTHORIZED:
        visit.log_out(notice="error.challenge-invalid")
        return visit.redirect("/login")
    return refuse(visit, response, page)


def refuse(visit: LoginVisit, response: RestResponse, page: str) -> Any:
    """Redirect to a page, which shows the error of a response."""
    error, reason = _reason(response)
    visit.update(notice=error, problem=reason)
    return visit.redirect(page)


def begin_step_up(visit: LoginVisit, page: str, keep: Sequence[str] = ()) -> Any:
    """Redirect to the step-up, which returns to a page and to the fields of its form."""
    form = {name: visit.form.getlist(name) for name in keep}
    is_short = len(json.dumps(form)) <= _MAX_FORM
    remember(visit, again={"page": page, "form": form if is_short else {}})
    return visit.redirect("/step-up")


def kept_form(visit: LoginVisit, page: str) -> dict[str, list[str]]:
    """Return the fields of the form that a page sent before a step-up, once."""
    again = recall(visit, "again")
    if again is None:
        return {}
    remember(visit, again=None)
    form: dict[str, list[str]] = again["form"] if again["page"] == page else {}
    return form


def remember(visit: LoginVisit, **members: Any) -> None:
    """Keep values of the account pages in the sealed cookie; ``None`` removes one."""
    kept = {**(visit.flow.account or {}), **members}
    visit.update(account={name: value for name, value in kept.items() if value is not None} or None)


def recall(visit: LoginVisit, name: str) -> Any:
    """Return a value that the account pages keep, or ``None``."""
    return (visit.flow.account or {}).get(name)


def login_name(user: Mapping[str, Any]) -> str:
    """Return what a user logs in by. Only the user sees it; masked addresses would look the same."""
    return str(user["email"] or user["mobile"] or user["username"] or "")


def get_viewer(user: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the user of the menu, as of :meth:`Visit.viewer`."""
    contact = login_name(user)
    return {"id": user["id"], "name": user["name"] or contact, "hint": contact if user["name"] else ""}


def _reason(response: RestResponse) -> tuple[str | None, str | None]:
    """Return the key of the text of an error, or the text that the server has in the page's language."""
    if (known := known_text(response.error)) is not None:
        return known, None
    error = response.json["error"]
    details = error.get("details") or [error]
    return None, details[0]["message"]
