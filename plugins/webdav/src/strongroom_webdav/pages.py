"""The page "Connect your computer": the address, a password made there, and the steps of each system."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.user_agents import device_name
from strongroom.plugin_api.visits import PageApplication, Visit, current_visit, is_form_error
from strongroom.plugin_api.web import MountedApplication
from strongroom_webdav.application import PREFIX as DRIVE_PREFIX

PREFIX: Final = "/network-drives"
"""The path of the page, below the base path of the server."""

STEPS: Final[Mapping[str, int]] = {"windows": 3, "macos": 3, "linux": 2, "phone": 3, "rclone": 0}
"""The systems, and how many steps each has."""

_RCLONE: Final = "rclone config create files webdav url={address} vendor=owncloud user=drive"
_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "linux": ("mount -t davfs {address} /mnt/files",),
    "rclone": (
        f"{_RCLONE} pass=PASSWORD --obscure",
        "rclone sync FOLDER files:SPACE",
    ),
}
"""The commands that do the same, or the only steps."""

SCOPES: Final[Mapping[str, tuple[Scope, ...]]] = {
    "change": (Scope.FILES_SHARE, Scope.TENANTS_READ),
    "read": (Scope.FILES_READ, Scope.TENANTS_READ),
}
"""The scopes of a key by what the drive may do. Both read spaces, for the free space of the drive."""

LIFETIME: Final = timedelta(days=365)

_KEYS: Final = "/users/me/access-keys"
_SYSTEMS: Final[Mapping[str, str]] = {
    "Windows": "windows",
    "macOS": "macos",
    "Linux": "linux",
    "ChromeOS": "linux",
    "iPhone": "phone",
    "iPad": "phone",
    "Android": "phone",
    "HarmonyOS": "phone",
}
"""The systems of the page by the names of devices."""

pages = Blueprint("drive_pages", __name__)


class DriveVisit(Visit):
    """A request for the page."""

    @property
    def system(self) -> str:
        """The system that is shown: the one of the browser, unless the user has chosen another."""
        chosen = self.request.values.get("system", "")
        if chosen in STEPS:
            return chosen
        _, name = device_name(self.request.headers.get("User-Agent", ""))
        return _SYSTEMS.get(name or "", "windows")

    def show(self, key: str = "", **values: Any) -> Any:
        """Return the page in the frame of the account, with a new key if there is one."""
        address = f"{self.host.public_url}{DRIVE_PREFIX}/"
        return self.page(
            "drive.html",
            sections=self.account_sections(),
            section=f"{self.root}/",
            system=self.system,
            systems={f"{self.root}/?system={name}": name for name in STEPS},
            steps=range(1, STEPS[self.system] + 1),
            commands=[command.format(address=address) for command in _COMMANDS.get(self.system, ())],
            address=address,
            key=key,
            **values,
        )


def make_drive_pages(host: HostAPI) -> MountedApplication:
    """Return the application of the page."""
    application = PageApplication(host, PREFIX, visit=DriveVisit)
    application.register_blueprint(pages)
    return MountedApplication(PREFIX, application.wsgi_app)


@pages.get("/")
def show_drive() -> Any:
    """Show the form of a new key, and the steps of a system."""
    return _show_form()


@pages.post("/")
def create_key() -> Any:
    """Create a key, and show it once, in the response alone: neither a URL nor a cookie has it."""
    visit = _visit()
    response = visit.rest("POST", _KEYS, _new_key(visit))
    if is_form_error(response):
        return _show_form(refusal=response)
    if response.error is not None:
        return visit.follow(response, f"/?system={visit.system}")
    return visit.show(response.json["key"])


def _new_key(visit: DriveVisit) -> Mapping[str, Any]:
    form = request.form
    end = datetime.fromtimestamp(visit.host.clock.now() / 1000, UTC) + LIFETIME
    return {
        "name": form.get("name", "").strip(),
        "scopes": SCOPES.get(form.get("rights", ""), SCOPES["read"]),
        "tenantId": form.get("tenantId") or None,
        "expiresAt": end.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _show_form(**values: Any) -> Any:
    visit = _visit()
    spaces = visit.read_choices("/api/v1/tenants", lambda tenant, _: str(tenant["name"]))
    return visit.show(sent=request.form, spaces=spaces.data, **values)


def _visit() -> DriveVisit:
    visit = current_visit()
    assert isinstance(visit, DriveVisit)  # noqa: S101  the application creates no others
    return visit
