"""Proofs of changes: a code that is sent to a contact of the user, or the current password.

The code is requested by a form of its own, and entered in the form of the change. What was sent for
which change is in the sealed cookie; so is the typed code while a second one goes to a new contact.
"""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import recall, remember
from strongroom_login_pages.captchas import captcha_member
from strongroom_login_pages.sign_in.code_login import digits_of, next_code_at, seconds_until_next
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

KINDS: Final = ("email", "mobile")
_OF_NEW_CODE: Final = ("new", "address", "retry_at")


class CodePages:
    """What pages with a code of the account share."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("POST", "/another-code"): self.begin_again}

    @logged_in
    def begin_again(self, visit: LoginVisit) -> Any:
        """Return to the form that sends the newest code."""
        pending = recall(visit, "pending")
        if pending is None:
            return visit.redirect("/")
        # A change of the contact has proven the former one before it sends a code to the new one.
        kept = {name: value for name, value in pending.items() if name not in _OF_NEW_CODE}
        remember(visit, pending=kept if "new" in pending and "held" in pending else None)
        return visit.redirect(pending["page"])


def proven_contacts(user: Mapping[str, Any]) -> dict[str, str]:
    """Return the verified contacts of a user by kind."""
    return {kind: user[kind] for kind in KINDS if user[kind] and user[f"{kind}Verified"]}


def send_code(visit: LoginVisit, recipient: str, purpose: str, *, device: str = "") -> RestResponse:
    """Send a code, with the captcha of the form.

    Args:
        device: distinguishes the second code of one change, which must not wait for a minute: the limit
            of a device is one code a minute. The limits of recipients and addresses apply all the same.
    """
    body = {"recipient": recipient, "purpose": purpose, **captcha_member(visit, purpose)}
    return visit.rest("POST", "/verification-codes", body, device=device)


def send_held_code(
    visit: LoginVisit, user: Mapping[str, Any], task: str, purpose: str, page: str
) -> RestResponse | None:
    """Send a code for a task to the contact that the form has chosen.

    Args:
        page: the path of the page of the task.

    Returns:
        The refusal, if any.
    """
    kind = visit.form.get("to", "")
    if kind not in proven_contacts(user):
        kind = next(iter(proven_contacts(user)), "email")
    response = send_code(visit, user[kind] or "", purpose)
    if response.error is not None:
        return response
    pending = {"task": task, "page": page, "to": kind, "held": {"id": response.json["id"]}}
    remember(visit, pending={**pending, "retry_at": next_code_at(visit, response)})
    return None


def pending_of(visit: LoginVisit, task: str) -> dict[str, Any] | None:
    """Return what was sent for a task, or ``None``."""
    pending: dict[str, Any] | None = recall(visit, "pending")
    return pending if pending and pending["task"] == task else None


def seconds_until_code(visit: LoginVisit, pending: Mapping[str, Any] | None) -> int:
    """Return the seconds until another code can be sent for what was sent."""
    return seconds_until_next(visit, pending if pending and "retry_at" in pending else None)


def held_code(visit: LoginVisit, task: str) -> dict[str, str] | None:
    """Return the code for a task that the form has, or the one of a form before."""
    held = (pending_of(visit, task) or {}).get("held")
    if held is None:
        return None
    return {"id": held["id"], "code": typed_code(visit, "heldCode") or held.get("code", "")}


def typed_code(visit: LoginVisit, name: str) -> str:
    """Return a code of the form."""
    return digits_of(visit.form.get(name, ""))


def code_header(code: Mapping[str, str] | None) -> dict[str, str]:
    """Return the header that has a code in a request without a body."""
    return {"X-Verification-Code": f"{code['id']}.{code['code']}"} if code and code["code"] else {}


def is_about_held_code(refusal: RestResponse) -> bool:
    """Return whether a request was refused because of the code of the current contact."""
    details = refusal.json["error"].get("details") or []
    return any(item["field"] == "heldCode" for item in details)
