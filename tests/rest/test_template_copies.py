"""Templates of pages and mails that a deployment replaces by copies of its own."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.config import Table, change_config

from strongroom.testing.clock import ManualClock

PAGE = "strongroom/page.html"
NAMES = (PAGE, "strongroom/frame.html", "login_pages/base.html", "mails/layout.html")


@pytest.fixture
def config_changes() -> Table:
    return {"plugins": {"enabled": ["storage_local", "login_pages"]}}


@pytest.fixture
def copies(config: Path, tmp_path: Path) -> Path:
    """A folder of copies, which the configuration names."""
    folder = tmp_path / "copies"
    folder.mkdir()
    change_config(config, {"pages": {"templates": str(folder)}})
    return folder


def run(config: Path, *arguments: str) -> CompletedProcess[str]:
    return run_command(*arguments, "--config", str(config))


def test_a_copy_replaces_its_original_in_pages_and_mails(
    config: Path, copies: Path, clock: ManualClock
) -> None:
    assert run(config, "pages", "copy", *NAMES).returncode == 0
    for name in NAMES:
        path = copies / name
        path.write_text(path.read_text().replace("<h1", '<h1 id="own"').replace("<main>", "<main own>"))
    with Api.running(config, clock) as api:
        client = api.app.test_client()
        setup, login = client.get("/setup").text, client.get("/account/login").text
    for page in (setup, login):
        assert page.startswith("<!doctype html>")
        assert "<main own>" in page
        assert '<h1 id="own"' in page
    assert '<h1 id="own"' in run(config, "mail", "preview", "login").stdout


def test_a_copy_is_not_overwritten(config: Path, copies: Path) -> None:
    assert run(config, "pages", "copy", PAGE).returncode == 0
    again = run(config, "pages", "copy", PAGE)
    assert again.returncode == 1
    assert "page.html exists; remove it first" in again.stderr


def test_all_templates_are_listed_and_can_be_copied(config: Path, copies: Path) -> None:
    names = run(config, "pages", "list").stdout.splitlines()
    assert set(NAMES) < set(names)
    assert run(config, "pages", "copy", *names).returncode == 0
    assert run(config, "config", "check").returncode == 0


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("strongroom/pgae.html", "", 'did you mean "strongroom/page.html"?'),
        ("login_page/base.html", "", 'did you mean "login_pages/base.html"?'),
        (PAGE, "{% if %}", "page.html: line 1: "),
    ],
)
def test_a_wrong_copy_is_an_error_of_the_configuration(
    config: Path, copies: Path, name: str, content: str, fault: str
) -> None:
    (copies / name).parent.mkdir()
    (copies / name).write_text(content)
    check = run(config, "config", "check")
    assert check.returncode == 2
    assert "pages.templates: " in check.stderr
    assert fault in check.stderr


def test_doctor_names_the_copies_whose_originals_have_changed(config: Path, copies: Path) -> None:
    assert run(config, "pages", "copy", *NAMES).returncode == 0
    assert "pages.templates" not in run(config, "doctor").stdout
    stale = copies / NAMES[2]
    stale.write_text("{# strongroom: 0123456789abcdef #}\n" + stale.read_text().partition("\n")[2])
    (copies / NAMES[3]).write_text("<p>by hand</p>")
    findings = run(config, "doctor").stdout
    assert [name for name in NAMES if f"pages.templates: {name} is a copy" in findings] == [*NAMES[2:]]
