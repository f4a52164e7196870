"""Devices: the logins of the user, and their end."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.user_agents import device_name
from strongroom.plugin_api.visits import join_path
from strongroom_login_pages.account.frame import ME, account_page, follow, show
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

_PAGE: Final = "/devices"
_ICONS: Final = {"Android": "smartphone", "iOS": "smartphone"}
"""The icons of devices by their systems; others are computers."""

_CLIENT_ICON: Final = "layout-grid"

_LOGINS: Final = f"{ME}/authorizations"


class DevicePages:
    """The page of the devices."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("GET", f"{_PAGE}/<login_id>/removal"): self.show_removal,
            ("POST", f"{_PAGE}/<login_id>/removal"): self.end,
            ("GET", f"{_PAGE}/others"): self.show_others,
            ("POST", f"{_PAGE}/others"): self.end_others,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """List the logins, this browser's first."""
        logins = sorted(_logins(visit), key=lambda login: not login["current"])
        return show(visit, "devices.html", user, logins=logins)

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], login_id: str) -> Any:
        """Ask whether a login is to end."""
        login = next((login for login in _logins(visit) if login["id"] == login_id), None)
        if login is None:
            return visit.missing()
        return show(visit, "device_removal.html", user, login=login)

    @account_page
    def show_others(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Ask whether all other logins are to end."""
        return show(visit, "device_removal.html", user, login=None)

    @logged_in
    def end(self, visit: LoginVisit, login_id: str) -> Any:
        """End a login."""
        if login_id not in {login["id"] for login in _logins(visit)}:
            return visit.missing()
        response = visit.rest("DELETE", join_path("/authorizations", login_id))
        return follow(visit, response, _PAGE, "device-ended")

    @logged_in
    def end_others(self, visit: LoginVisit) -> Any:
        """End all logins but this browser's."""
        for login in _logins(visit):
            if not login["current"]:
                # One that has ended meanwhile is no error.
                visit.rest("DELETE", join_path("/authorizations", login["id"]))
        visit.update(notice="others-ended")
        return visit.redirect(_PAGE)


def _logins(visit: LoginVisit) -> list[dict[str, Any]]:
    """Return the logins of the user, newest first."""
    logins = visit.read_all(_LOGINS).data
    return [_with_device(login) for login in logins]


def _with_device(login: Mapping[str, Any]) -> dict[str, Any]:
    name = device_name(login["userAgent"])
    icon = _ICONS.get(name[1] or "", "monitor" if any(name) else "globe")
    return {**login, "name": name, "icon": _CLIENT_ICON if login["clientId"] else icon}
