"""Login and security: the password and the second factors of the user who is logged in."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strongroom.plugin_api.forms import FactorView, PagePart
from strongroom.plugin_api.visits import join_path
from strongroom_login_pages.account.connections import connected_accounts
from strongroom_login_pages.account.frame import ME, account_page, follow, show
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

_FACTORS: Final = f"{ME}/factors"
_ICONS: Final = {"totp": "smartphone", "passkey": "key-round", "recovery-code": "list"}
"""The icons of factors by their kinds."""


class SecurityPages:
    """The page of the factors, and those that remove or replace one."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/"): self.show,
            ("POST", "/factors/<factor_id>/name"): self.rename,
            ("GET", "/factors/<factor_id>/removal"): self.show_removal,
            ("POST", "/factors/<factor_id>/removal"): self.remove,
            ("POST", "/logout"): self.log_out,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Show the ways to log in."""
        response = visit.rest("GET", _FACTORS)
        sections = _sections(visit, response.json["data"], response.json.get("shown", {}))
        return show(
            visit,
            "security.html",
            user,
            due=visit.flow.due,
            factor_sections=sections,
            icons=_ICONS,
            parts=[section["part"] for section in sections],
            has_factors=any(not factor["isBackup"] for factor in response.json["data"]),
            connections=connected_accounts(visit, user),
        )

    @logged_in
    def rename(self, visit: LoginVisit, factor_id: str) -> Any:
        """Rename a factor."""
        body = {"name": visit.form.get("name", "").strip()}
        response = visit.rest("PATCH", _path(factor_id), body)
        return (
            visit.missing() if _is_missing(response.error) else follow(visit, response, "/", "renamed")
        )

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], factor_id: str) -> Any:
        """Ask whether a factor is to be removed."""
        factors = visit.rest("GET", _FACTORS).json["data"]
        factor = next((factor for factor in factors if factor["id"] == factor_id), None)
        if factor is None:
            return visit.missing()
        view = visit.factor_view(factor["kind"])
        name = factor["name"] or (view.label if view else factor["kind"])
        return show(visit, "factor_removal.html", user, name=name)

    @logged_in
    def remove(self, visit: LoginVisit, factor_id: str) -> Any:
        """Remove a factor."""
        response = visit.rest("DELETE", _path(factor_id))
        if _is_missing(response.error):
            return visit.missing()
        page = join_path("/factors", factor_id, "removal") if response.error in STALE else "/"
        return follow(visit, response, page, "removed")

    def log_out(self, visit: LoginVisit) -> Any:
        """End the login, and that at the platform that it was made with."""
        url = visit.platform_logout_url()
        visit.log_out(notice="logged-out")
        return visit.redirect("/login") if url is None else visit.redirect_to(url)


def _sections(
    visit: LoginVisit, factors: Sequence[Mapping[str, Any]], summaries: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return what the page shows of each factor that can be enrolled, or that the user has."""
    views = visit.factor_views()
    sections = [_section(visit, view, factors, summaries.get(view.field, {})) for view in views]
    # A factor that is not enabled any more still protects the account, so the user can remove it.
    known = {view.kind for view in views}
    others = dict.fromkeys(factor["kind"] for factor in factors if factor["kind"] not in known)
    return sections + [
        {"kind": kind, "view": None, "part": None, "factors": _of_kind(factors, kind)} for kind in others
    ]


def _section(
    visit: LoginVisit,
    view: FactorView,
    factors: Sequence[Mapping[str, Any]],
    summary: Mapping[str, Any],
) -> dict[str, Any]:
    part: PagePart | None = visit.factor_part(view.kind, "account", summary)
    return {
        "kind": view.kind,
        "view": view,
        "part": part,
        "factors": _of_kind(factors, view.kind),
    }


def _of_kind(factors: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [factor for factor in factors if factor["kind"] == kind]


def _path(factor_id: str) -> str:
    return join_path(_FACTORS, factor_id)


def _is_missing(error: str | None) -> bool:
    return error == "error.not-found"
