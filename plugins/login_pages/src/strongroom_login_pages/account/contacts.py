"""E-mail addresses and mobile numbers: bind, replace and unbind them.

After a login or step-up of the last 10 minutes, a code proves the new contact. Before that, users
with a password give it in a step-up; others prove the contact that is there by another code.
"""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import ME, account_page, begin_step_up, follow, remember, show
from strongroom_login_pages.account.proofs import (
    code_header,
    held_code,
    is_about_held_code,
    pending_of,
    proven_contacts,
    seconds_until_code,
    send_code,
    send_held_code,
    typed_code,
)
from strongroom_login_pages.captchas import REFUSED
from strongroom_login_pages.sign_in.code_login import next_code_at
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import LoginVisit, Routes

_COLLECTIONS: Final = {"email": f"{ME}/emails", "mobile": f"{ME}/mobiles"}
TITLES: Final = {"email": ("add-email", "replace-email"), "mobile": ("add-mobile", "replace-mobile")}
"""The keys of the titles of a change by kind: without and with a contact."""

_KIND: Final = "<any(email, mobile):kind>"
_PROFILE: Final = "/profile"


class ContactPages:
    """The pages that change a contact."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", f"/contacts/{_KIND}"): self.show,
            ("POST", f"/contacts/{_KIND}"): self.bind,
            ("POST", f"/contacts/{_KIND}/current-code"): self.send_to_current,
            ("POST", f"/contacts/{_KIND}/new-code"): self.send_to_new,
            ("GET", f"/contacts/{_KIND}/removal"): self.show_removal,
            ("POST", f"/contacts/{_KIND}/removal"): self.unbind,
            ("POST", f"/contacts/{_KIND}/removal/code"): self.send_for_removal,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Show the open step of a change; a step-up comes first unless the login is recent."""
        if not visit.is_proven and user["hasPassword"]:
            return begin_step_up(visit, f"/contacts/{kind}")
        return _change(visit, user, kind)

    @account_page
    def send_to_current(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Send a code to a contact that the user has."""
        refusal = send_held_code(visit, user, kind, "bind", f"/contacts/{kind}")
        return _change(visit, user, kind, refusal) if refusal else visit.redirect(f"/contacts/{kind}")

    @account_page
    def send_to_new(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Send a code to the new contact."""
        address, held = visit.form.get("address", "").strip(), held_code(visit, kind)
        response = send_code(visit, address, "bind", device=".new")
        if response.error is not None:
            return _change(visit, user, kind, response)
        page = f"/contacts/{kind}"
        pending = {**(pending_of(visit, kind) or {"task": kind, "page": page}), "address": address}
        pending |= {"new": response.json["id"], "retry_at": next_code_at(visit, response)}
        remember(visit, pending={**pending, **({"held": held} if held else {})})
        return visit.redirect(page)

    @account_page
    def bind(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Bind the contact that the code was sent to."""
        pending = pending_of(visit, kind)
        if pending is None or "new" not in pending:
            return visit.redirect(f"/contacts/{kind}")
        code = {"id": pending["new"], "code": typed_code(visit, "code") or "-"}
        body = {kind: pending["address"], "verificationCode": code, "heldCode": held_code(visit, kind)}
        response = visit.rest("POST", _COLLECTIONS[kind], body)
        if response.error is None or response.error in STALE:
            return follow(visit, response, *_next(response, kind))
        if user["hasPassword"] and not visit.is_proven:
            # The login became too old while the code was on its way.
            return begin_step_up(visit, f"/contacts/{kind}")
        return _change(visit, user, kind, response)

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Ask whether a contact is to be unbound."""
        return _removal(visit, user, kind)

    @account_page
    def send_for_removal(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Send the code that unbinding requires."""
        page = f"/contacts/{kind}/removal"
        refusal = send_held_code(visit, user, _removal_of(kind), "unbind", page)
        return _removal(visit, user, kind, refusal) if refusal else visit.redirect(page)

    @account_page
    def unbind(self, visit: LoginVisit, user: Mapping[str, Any], kind: str) -> Any:
        """Unbind a contact."""
        headers = code_header(held_code(visit, _removal_of(kind)))
        response = visit.rest("DELETE", _COLLECTIONS[kind], headers=headers)
        if response.error in ("error.code-invalid", "error.too-many-requests"):
            return _removal(visit, user, kind, response)
        page = f"/contacts/{kind}/removal" if response.error in STALE else _PROFILE
        return follow(visit, response, page, "contact-removed")


def _next(response: RestResponse, kind: str) -> tuple[str, str]:
    page = _PROFILE if response.error is None else f"/contacts/{kind}"
    return page, "contact-saved"


def _removal_of(kind: str) -> str:
    return f"{kind}-removal"


def _change(
    visit: LoginVisit, user: Mapping[str, Any], kind: str, refusal: RestResponse | None = None
) -> Any:
    pending, contacts = pending_of(visit, kind), proven_contacts(user)
    if refusal is not None and refusal.error == "error.code-invalid" and is_about_held_code(refusal):
        # The user enters the code of the current contact again, and gets another for the new one.
        pending = {name: value for name, value in (pending or {}).items() if name != "new"}
        pending["held"] = {"id": pending["held"]["id"]}
        remember(visit, pending=pending)
    step = _step(pending, has_proof=visit.is_proven or not contacts)
    captcha = None if step == "confirm" else visit.captcha("bind")
    return show(
        visit,
        "contact.html",
        user,
        refusal=refusal,
        kind=kind,
        title=TITLES[kind][bool(user[kind])],
        step=step,
        contacts=contacts,
        sent_to=_asked_contact(pending, contacts),
        wait=seconds_until_code(visit, pending),
        address=visit.form.get("address") or (pending or {}).get("address", ""),
        captcha=captcha,
        is_captcha_wrong=refusal is not None and refusal.error in REFUSED,
    )


def _step(pending: Mapping[str, Any] | None, *, has_proof: bool) -> str:
    if pending and "new" in pending:
        return "confirm"
    return "new" if has_proof or pending is not None else "current"


def _asked_contact(pending: Mapping[str, Any] | None, contacts: Mapping[str, str]) -> str | None:
    """Return the contact whose code the form asks for, unless it was entered before."""
    if not pending or "code" in pending.get("held", {}):
        return None
    return contacts.get(pending.get("to", ""))


def _removal(
    visit: LoginVisit, user: Mapping[str, Any], kind: str, refusal: RestResponse | None = None
) -> Any:
    if not user[kind]:
        return visit.redirect(_PROFILE)
    pending, contacts = pending_of(visit, _removal_of(kind)), proven_contacts(user)
    captcha = None if pending else visit.captcha("unbind")
    return show(
        visit,
        "contact_removal.html",
        user,
        refusal=refusal,
        kind=kind,
        contacts=contacts,
        sent_to=contacts.get(pending["to"]) if pending else None,
        wait=seconds_until_code(visit, pending),
        captcha=captcha,
        is_captcha_wrong=refusal is not None and refusal.error in REFUSED,
    )
