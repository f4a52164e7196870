"""The pages of shares."""

from typing import Any, Final

from strongroom.testing.server import PASSWORD
from tests.support.browser_pages import Screen, Visitor
from tests.support.screens.steps import path

SECRET: Final = "open sesame"


def shared(kind: str, *, is_file: bool = False, **body: Any) -> Any:
    """Return a function that opens a new share of the folder, or of the file."""

    def open_share(visitor: Visitor) -> None:
        stage = visitor.stage
        visitor.go(stage.share(stage.file if is_file else stage.folder, kind, **body))

    return open_share


def fail_at_share(visitor: Visitor) -> None:
    shared("read", password=SECRET)(visitor)
    visitor.fill(password="wrong password")
    visitor.press("form button")


def view_file(visitor: Visitor) -> None:
    shared("read")(visitor)
    visitor.press('a[href*="?view="]')
    visitor.page.wait_for_url("**/?view=*")


def open_logged_in_share(visitor: Visitor) -> None:
    shared("read", audience="logged-in")(visitor)
    visitor.press("main a.button")
    visitor.fill(username=visitor.stage.new_email(), password=PASSWORD)
    visitor.press("button[value=password]")
    visitor.page.wait_for_url("**/s/**")


SHARES: Final = (
    Screen("shared folder", "share_links/share", shared("read", label="Acme")),
    Screen("shared file", "share_links/share", shared("read", is_file=True)),
    Screen("preview", "share_links/share", shared("preview")),
    Screen("file of a shared folder", "share_links/view", view_file),
    Screen("share with a password", "share_links/password", shared("read", password=SECRET)),
    Screen("share with a wrong password", "share_links/password", fail_at_share),
    Screen(
        "drop box",
        "share_links/share",
        shared("drop", drop={"requireName": True, "allowedTypes": ["image/*"]}),
    ),
    Screen("shared folder with uploads", "share_links/share", shared("write")),
    Screen("share for members", "share_links/closed", shared("read", audience="members")),
    Screen("share for logged-in users", "share_links/closed", shared("read", audience="logged-in")),
    Screen("share of a logged-in user", "share_links/share", open_logged_in_share),
    Screen("unknown share", "share_links/closed", path("/s/unknown")),
)
