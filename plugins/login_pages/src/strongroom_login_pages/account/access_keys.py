"""Access keys: list, create and revoke them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.visits import join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import (
    ME,
    account_page,
    follow,
    kept_form,
    recall,
    remember,
    show,
)
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

DAYS: Final = (7, 30, 90, 365)
"""The lifetimes that the form offers."""

_PAGE: Final = "/access-keys"
_KEYS: Final = f"{ME}/access-keys"
_FOR_USERS: Final = ("files:", "tenants:")
_FIELDS: Final = ("name", "scopes", "days", "tenant")


class AccessKeyPages:
    """The pages of access keys."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", _PAGE): self.create,
            ("GET", f"{_PAGE}/new"): self.show_new,
            ("GET", f"{_PAGE}/<key_id>/removal"): self.show_removal,
            ("POST", f"{_PAGE}/<key_id>/removal"): self.revoke,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """List the keys, with the form of a new one."""
        return _page(visit, user, kept_form(visit, _PAGE))

    @account_page
    def create(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Create a key; the next page shows it once."""
        response = visit.rest("POST", _KEYS, _request(visit))
        if response.error is None:
            remember(visit, key=response.json["key"])
            return visit.redirect(f"{_PAGE}/new")
        if response.error in STALE:
            return follow(visit, response, _PAGE, None, keep=_FIELDS)
        form = {name: visit.form.getlist(name) for name in _FIELDS}
        return _page(visit, user, form, response)

    @account_page
    def show_new(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Show a new key, once."""
        key = recall(visit, "key")
        if key is None:
            return visit.redirect(_PAGE)
        remember(visit, key=None)
        return show(visit, "access_key.html", user, key=key)

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], key_id: str) -> Any:
        """Ask whether a key is to be revoked."""
        response = visit.rest("GET", join_path(_KEYS, key_id))
        if response.error is not None:
            return visit.missing()
        return show(visit, "access_key_removal.html", user, key=response.json)

    @logged_in
    def revoke(self, visit: LoginVisit, key_id: str) -> Any:
        """Revoke a key."""
        response = visit.rest("DELETE", join_path(_KEYS, key_id))
        if response.error == "error.not-found":
            return visit.missing()
        return follow(visit, response, _PAGE, "key-revoked")


def _request(visit: LoginVisit) -> dict[str, Any]:
    days = visit.form.get("days", "")
    body = {
        "name": visit.form.get("name", "").strip(),
        "scopes": visit.form.getlist("scopes"),
        "tenantId": visit.form.get("tenant") or None,
    }
    if days in map(str, DAYS):
        end = datetime.fromtimestamp(visit.now / 1000, UTC) + timedelta(days=int(days))
        body["expiresAt"] = end.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return body


def _page(
    visit: LoginVisit,
    user: Mapping[str, Any],
    form: Mapping[str, list[str]],
    refusal: RestResponse | None = None,
) -> Any:
    is_admin = user["type"] == "ADMIN"
    return show(
        visit,
        "access_keys.html",
        user,
        refusal=refusal,
        keys=visit.read_all(_KEYS).data,
        scopes=[scope.value for scope in Scope if is_admin or scope.value.startswith(_FOR_USERS)],
        tenants=[(item["id"], item["name"]) for item in visit.read_all("/api/v1/tenants").data],
        days=DAYS,
        form=form,
    )
