"""Users of the console in front of Chromium."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser


@dataclass
class Desk:
    """A user with a tenant, in front of a browser window."""

    server: LiveServer
    user: LiveUser
    tenant: str
    page: Page
    faults: list[str] = field(default_factory=list)
    """Errors that the browser has reported, also violations of the Content-Security-Policy."""

    @property
    def context(self) -> BrowserContext:
        return self.page.context

    def log_in(self) -> None:
        """Log in with the password."""
        self.page.goto(f"{self.server.url}/account/login")
        self.page.fill("[name=username]", self.user.email)
        self.page.fill("[name=password]", PASSWORD)
        self.page.click("button[value=password]")
        expect(self.page).not_to_have_url(f"{self.server.url}/account/login")

    def open_files(self, folder: str | None = None) -> None:
        """Open the list of a folder, or of the top level."""
        inner = f"{folder}/" if folder else ""
        self.page.goto(f"{self.server.url}/console/tenants/{self.tenant}/files/{inner}")

    def names(self, folder: str | None = None) -> list[str]:
        """Return the names of the files that the server has, sorted."""
        inner = f"/{folder}/files" if folder else ""
        path = f"/api/v1/tenants/{self.tenant}/owners/me/files{inner}"
        listed = self.server.succeed("GET", path, by=self.user)["data"]
        return sorted(item["name"] for item in listed)

    def find(self, name: str) -> dict[str, Any]:
        """Return a file of the top level, as REST does."""
        listed = self.server.succeed(
            "GET", f"/api/v1/tenants/{self.tenant}/owners/me/files", by=self.user
        )["data"]
        return next(item for item in listed if item["name"] == name)

    def watch(self, page: Page) -> None:
        """Note the errors that the browser reports on a page."""
        page.on("pageerror", lambda error: self.faults.append(error.stack or str(error)))
        page.on("console", lambda message: self._note(message.type, message.text))

    def _note(self, kind: str, text: str) -> None:
        is_expected = "net::ERR" in text or "the server responded with a status of" in text
        if kind in ("error", "warning") and not is_expected:
            self.faults.append(text)


@contextmanager
def desk_at(server: LiveServer, browser: Browser, **options: Any) -> Iterator[Desk]:
    """Create a user with a tenant, logged in at a browser window; errors of the browser are failures.

    Args:
        options: further options of the browser window.
    """
    user = server.user()
    context = browser.new_context(**options)
    desk = Desk(server, user, server.tenant(user), context.new_page())
    desk.watch(desk.page)
    desk.log_in()
    yield desk
    desk.context.close()
    assert desk.faults == [], desk.faults
