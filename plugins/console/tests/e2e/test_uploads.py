"""The queue of uploads in Chromium: drops, folders, pauses, lost networks and restarts.

``STRONGROOM_TEST_CONSOLE_UPLOAD_MIB=2048`` sets the size of the file that the network and the browser
interrupt.
"""

import hashlib
import os
import random
from collections.abc import Callable, Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import CDPSession, Locator, Page, Route, expect
from tests.support.browsers import needs_chromium
from tests.support.console_desk import Desk

MIB = 1024 * 1024
SIZE = int(os.environ.get("STRONGROOM_TEST_CONSOLE_UPLOAD_MIB", "32")) * MIB

pytestmark = [needs_chromium]


def drop(page: Page, *paths: Path) -> None:
    """Drop files and folders of the disk on a page, as a file manager does."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 300, "data": data})


def choose(page: Page, files: Sequence[Path] | Path, label: str = "File") -> None:
    page.locator("summary", has_text="Upload").first.click()
    page.get_by_label(label, exact=True).set_input_files(files)
    page.locator("#upload button").first.click()


def item(page: Page, name: str) -> Locator:
    return page.locator("#queue li", has_text=name)


def random_file(path: Path, size: int) -> str:
    """Write a file of random bytes, and return their SHA-256."""
    digest, source = hashlib.sha256(), random.Random(8)
    with path.open("wb") as file:
        for start in range(0, size, MIB):
            block = source.randbytes(min(MIB, size - start))
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def stored_digest(desk: Desk, name: str) -> str:
    """Return the SHA-256 of the content that the server has."""
    digest, path = (
        hashlib.sha256(),
        f"/api/v1/tenants/{desk.tenant}/files/{desk.find(name)['id']}/download",
    )
    with closing(HTTPConnection(urlsplit(desk.server.url).netloc)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {desk.user.token}"})
        response = connection.getresponse()
        assert response.status == 200
        while block := response.read(MIB):
            digest.update(block)
    return digest.hexdigest()


def test_files_and_folders_are_dropped(desk: Desk, tmp_path: Path) -> None:
    trip = tmp_path / "Trip <1>"
    (trip / "Day 1").mkdir(parents=True)
    (trip / "plan.txt").write_text("plan")
    (trip / "Day 1" / "照片.txt").write_text("picture")
    (trip / "empty.txt").write_text("")
    random_file(tmp_path / "big.bin", 5 * MIB)
    desk.open_files()
    drop(desk.page, trip, tmp_path / "big.bin")
    for path in ("Trip <1>/plan.txt", "Trip <1>/Day 1/照片.txt", "Trip <1>/empty.txt", "big.bin"):
        expect(item(desk.page, path).locator("small")).to_have_text("Uploaded")
    # The list shows them without a reload, and screen readers are told.
    expect(desk.page.locator("#nodes tbody tr")).to_have_count(2)
    expect(desk.page.locator("#queue [aria-live]")).to_have_text("Files uploaded: 4.")
    assert desk.names() == ["Trip <1>", "big.bin"]
    assert desk.names(desk.find("Trip <1>")["id"]) == ["Day 1", "empty.txt", "plan.txt"]
    desk.page.get_by_role("button", name="Close").click()
    expect(desk.page.locator("#queue")).to_be_hidden()


def paste(page: Page, path: Path) -> None:
    page.evaluate(
        """([name, text]) => {
            const clipboardData = new DataTransfer();
            clipboardData.items.add(new File([text], name));
            document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true}));
        }""",
        [path.name, path.read_text()],
    )


@pytest.mark.parametrize("add", [drop, choose, paste])
def test_the_client_of_uploads_is_loaded_by_the_first_upload(
    desk: Desk, tmp_path: Path, add: Callable[[Page, Path], None]
) -> None:
    (tmp_path / "a.txt").write_text("a")
    loaded: list[str] = []
    desk.page.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    desk.open_files()
    desk.page.wait_for_load_state("networkidle")
    assert "list.js" in loaded
    assert "tus.min.js" not in loaded
    add(desk.page, tmp_path / "a.txt")
    expect(item(desk.page, "a.txt").locator("small")).to_have_text("Uploaded")
    assert loaded.count("tus.min.js") == 1
    assert desk.names() == ["a.txt"]


def test_a_folder_is_chosen(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "Chosen" / "in").mkdir(parents=True)
    (tmp_path / "Chosen" / "in" / "a.txt").write_text("a")
    desk.open_files()
    choose(desk.page, tmp_path / "Chosen", "Or a folder")
    expect(item(desk.page, "Chosen/in/a.txt").locator("small")).to_have_text("Uploaded")
    assert desk.names() == ["Chosen"]


def test_an_upload_is_paused_resumed_and_cancelled(desk: Desk, tmp_path: Path) -> None:
    expected = random_file(tmp_path / "big.bin", 20 * MIB)
    offsets: list[str | None] = []

    def hold(route: Route) -> None:
        """Let the first piece pass, and no other."""
        offsets.append(route.request.headers.get("upload-offset"))
        if len(offsets) == 1:
            route.continue_()

    desk.page.route(lambda url: "/uploads/" in url, hold)
    desk.open_files()
    choose(desk.page, tmp_path / "big.bin")
    row = item(desk.page, "big.bin")
    expect(row.locator("small")).to_contain_text("40 %")
    row.get_by_role("button", name="Pause").click()
    expect(row.locator("small")).to_have_text("Paused · 40 %")
    desk.page.unroute_all(behavior="ignoreErrors")
    row.get_by_role("button", name="Resume").click()
    expect(row.locator("small")).to_have_text("Uploaded")
    assert stored_digest(desk, "big.bin") == expected
    assert offsets[0] == "0"
    desk.page.route(lambda url: "/uploads?" in url, lambda route: None)
    choose(desk.page, tmp_path / "big.bin")
    second = item(desk.page, "big.bin").nth(1)
    second.get_by_role("button", name="Cancel").click()
    expect(second.locator("small")).to_have_text("Cancelled")
    assert desk.names() == ["big.bin"]


def test_a_refused_file_names_the_reason_and_is_tried_again(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    refusal = '{"error": {"code": "error.payload-too-large", "message": "Too large.", "details": []}}'
    desk.page.route(
        lambda url: "/uploads?" in url, lambda route: route.fulfill(status=413, body=refusal)
    )
    desk.open_files()
    choose(desk.page, tmp_path / "a.txt")
    row = item(desk.page, "a.txt")
    expect(row.locator("small")).to_have_text("Too large.")
    desk.page.unroute_all()
    row.get_by_role("button", name="Try again").click()
    expect(row.locator("small")).to_have_text("Uploaded")
    assert desk.names() == ["a.txt"]


@pytest.mark.extended
def test_an_upload_survives_a_lost_network_and_a_restart_of_the_browser(
    desk: Desk, tmp_path: Path
) -> None:
    expected = random_file(tmp_path / "big.bin", SIZE)
    desk.open_files()
    session = desk.context.new_cdp_session(desk.page)
    session.send("Network.enable")
    set_network(session, offline=False)
    choose(desk.page, tmp_path / "big.bin")
    state = item(desk.page, "big.bin").locator("small")
    wait_for_share(desk.page, 25)
    set_network(session, offline=True)
    expect(state).to_contain_text("No connection")
    set_network(session, offline=False)
    wait_for_share(desk.page, 50)
    # The new window has the cookies and the storage of the closed one, as after a restart.
    storage = desk.context.storage_state()
    browser = desk.context.browser
    assert browser is not None
    desk.context.close()
    desk.page = browser.new_context(storage_state=storage).new_page()
    desk.watch(desk.page)
    desk.open_files()
    first: list[int] = []
    desk.page.on(
        "request",
        lambda request: (
            first.append(int(request.headers["upload-offset"])) if request.method == "PATCH" else None
        ),
    )
    choose(desk.page, tmp_path / "big.bin")
    expect(item(desk.page, "big.bin").locator("small")).to_have_text("Uploaded", timeout=600_000)
    assert first[0] >= SIZE // 4
    assert stored_digest(desk, "big.bin") == expected


def set_network(session: CDPSession, *, offline: bool) -> None:
    """Cut the network or restore it; a small file is slowed, so that it takes a few seconds."""
    speed = 16 * MIB if SIZE <= 64 * MIB else -1
    speeds = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": speed}
    session.send("Network.emulateNetworkConditions", {"offline": offline, **speeds})


def wait_for_share(page: Page, percent: int) -> None:
    """Wait until a part of the file is sent."""
    reached = "(percent) => parseInt(document.querySelector('#queue li small').textContent) >= percent"
    page.wait_for_function(reached, arg=percent, timeout=600_000)
