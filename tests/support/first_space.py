"""The journey that begins each server: its administrator, and then a space with a file to upload."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from strongroom.testing.server import PASSWORD, live_server
from tests.support.keyboard_user import Hand


@contextmanager
def first_space(hand: Hand, folder: Path, plugins: Sequence[str]) -> Iterator[Path]:
    """Run an empty server, create a space on its pages, and yield a file.

    The time of the hand begins with the link that the server prints.
    """
    page, file = hand.page, folder / "plan.txt"
    (folder / "server").mkdir()
    file.write_bytes(b"The plan")
    with live_server(folder / "server", plugins=plugins) as server:
        link = server.command("users", "invite-admin").strip()
        hand.started = time.monotonic()
        page.goto(link)
        hand.fill(page.get_by_label("E-mail address"), "root@example.com")
        hand.fill(page.get_by_label("Name"), "Root")
        hand.fill(page.get_by_label("Password"), PASSWORD)
        hand.press(page.get_by_role("button", name="Become the administrator"))
        page.wait_for_url("**/console/")
        hand.fill(page.get_by_label("Name of the new space"), "Acme")
        hand.press(page.get_by_role("button", name="Create space"))
        page.wait_for_url("**/files/")
        yield file
