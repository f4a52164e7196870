"""Login and security: the password and the second factors of the user who is logged in."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from werkzeug.wrappers import Response

from strongroom_login_pages.account.connections import connected_accounts
from strongroom_login_pages.account.frame import ME, account_page, follow, recall, remember, show
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import Routes, Visit, logged_in

_FACTORS: Final = f"{ME}/factors"
_CODES: Final = "/recovery-codes"
_CODE: Final = re.compile("[0-9A-Z-]{1,32}")
_MAX_CODES: Final = 50


class SecurityPages:
    """The page of the factors, and those that remove or replace one."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/"): self.show,
            ("POST", "/factors/<factor_id>/name"): self.rename,
            ("GET", "/factors/<factor_id>/removal"): self.show_removal,
            ("POST", "/factors/<factor_id>/removal"): self.remove,
            ("GET", _CODES): self.show_codes,
            ("POST", _CODES): self.create_codes,
            ("GET", f"{_CODES}/new"): self.show_new_codes,
            ("POST", f"{_CODES}/file"): self.send_codes,
            ("POST", "/logout"): self.log_out,
        }

    @account_page
    def show(self, visit: Visit, user: Mapping[str, Any]) -> Any:
        """Show the ways to log in."""
        response = visit.rest("GET", _FACTORS)
        removed = visit.flow.removed
        visit.update(removed=None)
        return show(
            visit,
            "security.html",
            user,
            removed=removed,
            due=visit.flow.due,
            factors=response.json["data"],
            connections=connected_accounts(visit, user),
            passkeys=response.json.get("shown", {}).get("passkey"),
            # The form that logs out may lead to the platform.
            form_targets=[url for url in (visit.platform_logout_url(),) if url],
        )

    @logged_in
    def rename(self, visit: Visit, factor_id: str) -> Any:
        """Rename a passkey."""
        body = {"name": visit.form.get("name", "").strip()}
        response = visit.rest("PATCH", _path(factor_id), body)
        return (
            visit.missing() if _is_missing(response.error) else follow(visit, response, "/", "renamed")
        )

    @account_page
    def show_removal(self, visit: Visit, user: Mapping[str, Any], factor_id: str) -> Any:
        """Ask whether a factor is to be removed."""
        factors = visit.rest("GET", _FACTORS).json["data"]
        factor = next((factor for factor in factors if factor["id"] == factor_id), None)
        return show(visit, "factor_removal.html", user, factor=factor) if factor else visit.missing()

    @logged_in
    def remove(self, visit: Visit, factor_id: str) -> Any:
        """Remove a factor; the next page informs the provider of a passkey."""
        shown = visit.rest("GET", _FACTORS).json.get("shown", {}).get("passkey") or {}
        response = visit.rest("DELETE", _path(factor_id))
        if _is_missing(response.error):
            return visit.missing()
        if response.error is None:
            visit.update(removed=shown.get("credentialIds", {}).get(factor_id))
        page = f"/factors/{factor_id}/removal" if response.error in STALE else "/"
        return follow(visit, response, page, "removed")

    @account_page
    def show_codes(self, visit: Visit, user: Mapping[str, Any]) -> Any:
        """Ask whether new recovery codes are to void the old ones."""
        return show(visit, "new_codes.html", user)

    @logged_in
    def create_codes(self, visit: Visit) -> Any:
        """Create recovery codes; the next page shows them once."""
        response = visit.rest("POST", f"{ME}/recovery-codes")
        if response.error is not None:
            return follow(visit, response, _CODES if response.error in STALE else "/", None)
        remember(visit, codes=response.json["recoveryCodes"])
        return visit.redirect(f"{_CODES}/new")

    @account_page
    def show_new_codes(self, visit: Visit, user: Mapping[str, Any]) -> Any:
        """Show new recovery codes, once."""
        codes = recall(visit, "codes")
        if codes is None:
            return visit.redirect("/")
        remember(visit, codes=None)
        return show(visit, "codes.html", user, codes=codes)

    @logged_in
    def send_codes(self, visit: Visit) -> Any:
        """Return the recovery codes of the page as a file, for browsers without scripts, too."""
        codes = visit.form.getlist("code")[:_MAX_CODES]
        if not all(_CODE.fullmatch(code) for code in codes):
            return visit.missing()
        response = Response("\r\n".join([*codes, ""]), content_type="text/plain; charset=utf-8")
        response.headers["Content-Disposition"] = 'attachment; filename="recovery-codes.txt"'
        response.headers["Cache-Control"] = "no-store"
        return response

    def log_out(self, visit: Visit) -> Any:
        """End the login, and that at the platform that it was made with."""
        url = visit.platform_logout_url()
        visit.log_out(notice="logged-out")
        return visit.redirect("/login") if url is None else visit.redirect_to(url)


def _path(factor_id: str) -> str:
    return f"{_FACTORS}/{quote(factor_id, safe='')}"


def _is_missing(error: str | None) -> bool:
    return error == "error.not-found"
