"""The servers whose pages are walked through, and what their users have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, free_port, live_server
from tests.support.config import Table, merged
from tests.support.examples import brand
from tests.support.outbox import messages_in
from tests.support.page_templates import copy_with_marks
from tests.support.shares import ALL_KINDS, PNG
from tests.support.wechat import wechat

CAPTCHA: Final = "42"
_PLUGINS: Final = (
    "factor_totp",
    "login_email",
    "login_pages",
    "login_passkey",
    "login_sms",
    "login_wechat",
    "share_links",
    "webdav",
)
_SETTINGS: Final[Table] = {
    "captcha": {"provider": "fixed", "answer": CAPTCHA},
    "login": {"methods": ["password", "email_code", "sms", "wechat"]},
    "pages": {"terms_url": "https://example.com/terms", "terms_version": "2026-11"},
    "plugins": {"share_links": {"kinds": ALL_KINDS}},
    "users": {"require_terms": True},
    "second_factors": {"required_for": ["tenant-admin"]},
    "limits": {
        "code_per_device": [],
        "code_per_address": [],
        "code_per_recipient": [],
        "login_per_address": [],
        "register_per_address": [],
        "reset_per_address": [],
        "invitations_per_user": [],
    },
}


@dataclass(frozen=True)
class Stage:
    """A server in front of which a browser stands.

    Args:
        origin: that of the pages.
        partners: other origins that pages may show.
    """

    server: LiveServer
    origin: str
    partners: tuple[str, ...] = ()
    sessions: dict[tuple[str, str], tuple[list[Any], float]] = field(default_factory=dict)
    """The cookies of users by their address and language, and when screens no longer share them."""

    @cached_property
    def root(self) -> LiveUser:
        """An administrator of the server."""
        return self.server.user(admin=True)

    @cached_property
    def alice(self) -> LiveUser:
        """A user with a name and without a tenant."""
        alice = self.server.user()
        self.server.succeed("PATCH", "/users/me", by=alice, json_body={"name": "Alice"})
        return alice

    @cached_property
    def maker(self) -> LiveUser:
        """The maker of the tenant, who has logged in before a second factor was required for it."""
        return self.server.user()

    @cached_property
    def tenant(self) -> str:
        return self.server.tenant(self.maker)

    @cached_property
    def folder(self) -> str:
        """A folder with a folder and a picture in it."""
        folder = str(self.server.folder_in(self.tenant, self.maker, "Reports")["id"])
        self.server.folder_in(self.tenant, self.maker, "Drafts", folder)
        self.server.upload(self.tenant, self.maker, "dot.png", PNG, folder)
        return folder

    @cached_property
    def file(self) -> str:
        return str(self.server.upload(self.tenant, self.maker, "note.txt", b"note" * 100)["id"])

    def new_user(self) -> LiveUser:
        """Create a user who has not logged in."""
        email = f"{uuid4().hex}@example.com"
        body = {"name": "Alice", "email": email, "emailVerified": True, "password": PASSWORD}
        # A command would take a process for each user.
        created = self.server.succeed("POST", "/users", by=self.root, json_body=body)
        return LiveUser(created["id"], email, "")

    def new_email(self) -> str:
        """Create a user, and return the address."""
        return self.new_user().email

    @property
    def outbox(self) -> Path:
        """The file with the messages that were sent."""
        return Path(self.server.folder) / "data" / "outbox.jsonl"

    def last_message(self, recipient: str) -> dict[str, Any]:
        """Return the last message to an address or a number."""
        return [item for item in messages_in(self.outbox.parent) if item["recipient"] == recipient][-1]

    def share(self, node: str, kind: str, **body: Any) -> str:
        """Share a node, and return the path of the page."""
        path = f"/api/v1/tenants/{self.tenant}/files/{node}/shares"
        shared = self.server.succeed("POST", path, by=self.maker, json_body={"kind": kind, **body})
        return str(urlsplit(shared["url"]).path)


@contextmanager
def full_stage(folder: Path, *changes: Table, more: tuple[str, ...] = ()) -> Iterator[Stage]:
    """Run a server with all kinds of pages, which name their templates, and a simulated WeChat.

    Args:
        more: further plugins.
    """
    port = free_port()
    # Browsers have no passkeys for an IP address.
    origin = f"http://localhost:{port}"
    pages = {"templates": str(copy_with_marks(folder / "templates", (*_PLUGINS, *more)))}
    data = folder / "server"
    data.mkdir(parents=True)
    with wechat() as platform:
        platform.apps["site"].domain = "localhost"
        options = platform.config(origin)["login"]["wechat"]
        own = {"server": {"public_url": origin}, "pages": pages, "login": {"wechat": options}}
        config = merged(_SETTINGS, own, *changes)
        with live_server(data, plugins=(*_PLUGINS, *more), config=config, port=port) as server:
            yield Stage(server, origin, (platform.url,))


@contextmanager
def branded_stage(folder: Path) -> Iterator[Stage]:
    """Run a server with the brand of the example company, without consent to its terms."""
    without_terms = {"users": {"require_terms": False}}
    with full_stage(folder, {"pages": brand()}, without_terms) as stage:
        yield stage
