"""The profile: name, language, time zone, username and contacts of the user who is logged in."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from strongroom.plugin_api.page_lists import read_number
from strongroom.plugin_api.times import zone_names
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.contacts import TITLES
from strongroom_login_pages.account.frame import (
    ME,
    account_page,
    follow,
    kept_form,
    remember,
    show,
)
from strongroom_login_pages.account.proofs import KINDS
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

LANGUAGES: Final = {"en": "English", "zh": "中文"}
"""The languages of the pages, in themselves."""

_PAGE: Final = "/profile"


class ProfilePages:
    """The page of the profile."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", _PAGE): self.save,
            ("POST", "/username"): self.set_username,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Show the profile. A change of a contact that was not finished ends here."""
        remember(visit, pending=None)
        form = kept_form(visit, _PAGE)
        return _page(visit, user, username=(form.get("username") or [user["username"] or ""])[0])

    @account_page
    def save(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Change the name, the language and the time zone."""
        language = visit.form.get("language", "")
        locale = _locale(user["locale"], language)
        name = visit.form.get("name", "").strip()
        # A user may have no name, which the REST API does not take.
        body = {"locale": locale, **({"name": name} if name or user["name"] else {})}
        if "timezone" in visit.form:
            body["timezone"] = visit.form["timezone"] or None
        response = visit.rest("PATCH", ME, {**body, **_revision(visit)})
        if response.error == "error.validation-failed":
            return _page(visit, {**user, **body}, refusal=response, username=user["username"] or "")
        chosen = f"?lang={language}" if response.error is None and language in LANGUAGES else ""
        return follow(visit, response, f"{_PAGE}{chosen}", "profile-saved")

    @logged_in
    def set_username(self, visit: LoginVisit) -> Any:
        """Set the name to log in by."""
        body = {"username": visit.form.get("username", "").strip()}
        response = visit.rest("PUT", f"{ME}/username", body)
        return follow(visit, response, _PAGE, "username-saved", keep=["username"])


def _page(
    visit: LoginVisit, user: Mapping[str, Any], *, username: str, refusal: RestResponse | None = None
) -> Any:
    changeable = visit.login_options.bind_codes
    shown = [kind for kind in KINDS if user[kind] or kind in changeable]
    contacts = {kind: user[kind] for kind in shown}
    return show(
        visit,
        "profile.html",
        user,
        refusal=refusal,
        contacts=contacts,
        changeable=changeable,
        titles={kind: TITLES[kind][bool(user[kind])] for kind in KINDS},
        is_last=sum(1 for contact in contacts.values() if contact) == 1,
        username=username,
        languages=[(code, label, code) for code, label in LANGUAGES.items()],
        zones=[(zone, zone.replace("_", " ")) for zone in _zones(user["timezone"])],
        language_of_user=(user["locale"] or "").partition("-")[0],
    )


def _zones(chosen: str | None) -> Sequence[str]:
    """Return the names of the zones of the form, also of a chosen one that is not among them."""
    return zone_names() if chosen in (None, *zone_names()) else (str(chosen), *zone_names())


def _locale(locale: str | None, language: str) -> str | None:
    """Return the locale of a language; another spelling of the same one stays, such as zh-Hans-CN."""
    if language not in LANGUAGES:
        return None
    return locale if locale and locale.partition("-")[0] == language else language


def _revision(visit: LoginVisit) -> dict[str, int]:
    revision = read_number(visit.form.get("revision", ""))
    return {} if revision is None else {"revision": revision}
