"""Connected accounts: accounts of other platforms, by which the user logs in.

The platform's redirect brings the proof of the account, which stays in the sealed cookie until the user
has proven to be the owner of this account, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from strongroom.plugin_api.pages import PageConnection
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import (
    ME,
    account_page,
    follow,
    recall,
    refuse,
    remember,
    show,
)
from strongroom_login_pages.account.proofs import (
    KINDS,
    code_header,
    held_code,
    pending_of,
    proven_contacts,
    seconds_until_code,
    send_held_code,
)
from strongroom_login_pages.captchas import REFUSED
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import LoginVisit, Routes

_PAGE: Final = "/connections/<name>"
_TRY_AGAIN: Final = ("error.code-invalid", "error.wrong-password")
_CONFIRM: Final = "connect"
_REMOVE: Final = "disconnect"


class ConnectionPages:
    """The pages that connect and remove an account of another platform."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", _PAGE): self.connect,
            ("POST", f"{_PAGE}/code"): self.send_code,
            ("GET", f"{_PAGE}/removal"): self.show_removal,
            ("POST", f"{_PAGE}/removal"): self.remove,
            ("POST", f"{_PAGE}/removal/code"): self.send_code_for_removal,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Ask for the user's own proof, after the one of the platform."""
        return _confirmation(visit, user, name)

    @account_page
    def send_code(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Send a code to a contact of the user."""
        page = f"/connections/{name}"
        refusal = send_held_code(visit, user, f"{_CONFIRM}-{name}", "bind", page)
        return _confirmation(visit, user, name, refusal) if refusal else visit.redirect(page)

    @account_page
    def connect(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Connect the account."""
        platform, proof = platforms(visit).get(name), _proof_of(visit, name)
        if platform is None or proof is None:
            return visit.redirect("/")
        code, password = held_code(visit, f"{_CONFIRM}-{name}"), visit.form.get("password")
        response = visit.bind(platform.connection, proof, held_code=code, password=password or None)
        if response.error in _TRY_AGAIN:
            return _confirmation(visit, user, name, response)
        if response.error in STALE:
            return follow(visit, response, f"/connections/{name}", None)
        # The platform accepts its proof once.
        remember(visit, connecting=None, pending=None)
        if response.error is not None:
            return refuse(visit, response, "/")
        return follow(visit, response, "/", "account-connected")

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Ask whether an account is to be removed."""
        return _removal(visit, user, name)

    @account_page
    def send_code_for_removal(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Send the code that the removal requires."""
        page = f"/connections/{name}/removal"
        refusal = send_held_code(visit, user, f"{_REMOVE}-{name}", "unbind", page)
        return _removal(visit, user, name, refusal) if refusal else visit.redirect(page)

    @account_page
    def remove(self, visit: LoginVisit, user: Mapping[str, Any], name: str) -> Any:
        """Remove an account."""
        platform = platforms(visit).get(name)
        if platform is None:
            return visit.missing()
        headers = code_header(held_code(visit, f"{_REMOVE}-{name}"))
        response = visit.rest("DELETE", platform.connection.rest_path, headers=headers)
        if response.error == "error.code-invalid":
            return _removal(visit, user, name, response)
        if response.error is None:
            remember(visit, pending=None)
        page = f"/connections/{name}/removal" if response.error in STALE else "/"
        return follow(visit, response, page, "account-removed")


def begin_confirmation(visit: LoginVisit, name: str, proof: Mapping[str, str] | None) -> Any:
    """Keep the proof of a platform, and redirect to the page that asks for the user's own.

    Args:
        proof: ``None``: the user has refused it on the platform.
    """
    if proof is None:
        visit.update(notice="error.connection-refused")
        return visit.redirect("/")
    remember(visit, connecting={"name": name, "proof": dict(proof)}, pending=None)
    return visit.redirect(f"/connections/{name}")


def platforms(visit: LoginVisit) -> dict[str, PageConnection]:
    """Return the platforms by name; of several links to one, the first that works in this browser."""
    shown: dict[str, PageConnection] = {}
    for link in sorted(visit.login_links(), key=lambda link: not link.is_usable):
        if link.connection:
            shown.setdefault(link.connection.connection.name, link.connection)
    return shown


def connected_accounts(visit: LoginVisit, user: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the platforms, each with the time at which the user has connected an account.

    A user without a password, e-mail address and mobile number has no other way to log in.
    """
    shown, links = platforms(visit), visit.login_links()
    usable = [link.connection for link in links if link.is_usable]
    icons = {link.connection.connection.name: link.icon for link in links if link.connection}
    is_removable = user["hasPassword"] or any(user[kind] for kind in KINDS)
    bound = _credentials(visit) if shown else []
    return [
        {
            "name": name,
            "label": platform.label,
            "icon": icons[name],
            "is_removable": is_removable,
            "path": platform.path if platform in usable else None,
            "since": _since(platform, bound),
        }
        for name, platform in shown.items()
    ]


def _credentials(visit: LoginVisit) -> Sequence[Mapping[str, Any]]:
    return visit.read_all(f"{ME}/credentials").data


def _since(platform: PageConnection, bound: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the time of the oldest of the user's credentials of a platform."""
    kinds, prefix = platform.connection.kinds, platform.connection.prefix
    own = [item for item in bound if item["kind"] in kinds and item["value"].startswith(prefix)]
    return min((item["createdAt"] for item in own), default=None)


def _proof_of(visit: LoginVisit, name: str) -> Mapping[str, str] | None:
    connecting = recall(visit, "connecting")
    return connecting["proof"] if connecting and connecting["name"] == name else None


def _confirmation(
    visit: LoginVisit, user: Mapping[str, Any], name: str, refusal: RestResponse | None = None
) -> Any:
    platform = platforms(visit).get(name)
    if platform is None or _proof_of(visit, name) is None:
        return visit.redirect("/")
    return show(
        visit,
        "connection.html",
        user,
        refusal=refusal,
        path=f"/connections/{name}",
        label=platform.label,
        needs_password=not proven_contacts(user) and user["hasPassword"],
        **_code_step(visit, user, f"{_CONFIRM}-{name}", "bind", refusal),
    )


def _removal(
    visit: LoginVisit, user: Mapping[str, Any], name: str, refusal: RestResponse | None = None
) -> Any:
    platform = platforms(visit).get(name)
    if platform is None or _since(platform, _credentials(visit)) is None:
        return visit.missing()
    return show(
        visit,
        "connection_removal.html",
        user,
        refusal=refusal,
        path=f"/connections/{name}/removal",
        label=platform.label,
        **_code_step(visit, user, f"{_REMOVE}-{name}", "unbind", refusal),
    )


def _code_step(
    visit: LoginVisit,
    user: Mapping[str, Any],
    task: str,
    purpose: str,
    refusal: RestResponse | None,
) -> dict[str, Any]:
    """Return the variables of a page that sends a code for a purpose, and then asks for it."""
    pending, contacts = pending_of(visit, task), proven_contacts(user)
    needs_code = bool(contacts) and pending is None
    return {
        "contacts": contacts,
        "sent_to": contacts.get(pending["to"]) if pending else None,
        "wait": seconds_until_code(visit, pending),
        "needs_code": needs_code,
        "captcha": visit.captcha(purpose) if needs_code else None,
        "is_captcha_wrong": refusal is not None and refusal.error in REFUSED,
    }
