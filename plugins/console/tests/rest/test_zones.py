"""Times of pages and forms are those of the person: of the browser, or else of the user's setting."""

import re

import pytest
from tests.support.api import Api
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.console_space import ConsoleSpace
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.clock import DAY

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
ZONE = "Asia/Shanghai"

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def end_of_grant(space: ConsoleSpace, path: str) -> str | None:
    grants = space.api.get(f"{path}/owners", by=space.admin).json["data"]
    ends = [grant["expiresAt"] for grant in grants if grant["ownerId"] == space.member.id]
    return str(ends[0])


@pytest.mark.parametrize("source", ["cookie", "setting"])
def test_a_day_ends_at_the_midnight_of_the_person(space: ConsoleSpace, source: str) -> None:
    if source == "cookie":
        space.browser.remember("timezone", ZONE)
    else:
        changed = space.api.patch("/users/me", {"timezone": ZONE}, by=space.admin)
        assert (changed.status_code, changed.json["timezone"]) == (200, ZONE)
    node = space.upload("plan.txt", b"the plan")
    page, path = space.page(node, "share"), f"{space.tenant}/files/{node['id']}"
    space.browser.open(page)
    space.send(f"{page}/grants", who=f"user:{space.member.id}", permission="read", until="2100-02-03")
    assert end_of_grant(space, path) == "2100-02-03T15:59:59.000Z"
    assert 'value="2100-02-03"' in space.browser.page.text
    # The same day keeps its time, also if the browser has moved to another zone since.
    space.browser.remember("timezone", "America/New_York")
    space.send(f"{page}/grants", who=f"user:{space.member.id}", permission="write", until="2100-02-03",
               end="2100-02-03T15:59:59.000Z")  # fmt: skip
    assert end_of_grant(space, path) == "2100-02-03T15:59:59.000Z"


def test_the_end_of_a_permission_is_shown_as_people_write_days(space: ConsoleSpace) -> None:
    space.browser.remember("timezone", ZONE)
    page = space.page(space.upload("plan.txt", b"the plan"), "share")
    space.browser.open(page)
    space.send(f"{page}/grants", who=f"user:{space.member.id}", permission="read", until="2100-02-03")
    assert "until Feb 3, 2100" in space.browser.page.text
    assert "2100年2月3日" in space.browser.open(f"{page}?lang=zh").text


def test_days_long_ago_are_in_the_words_of_the_language(space: ConsoleSpace) -> None:
    node = space.upload("plan.txt", b"the plan")
    created = space.api.get(f"{space.tenant}/files/{node['id']}", by=space.admin).json["updatedAt"]
    space.api.clock.advance(40 * DAY)
    space.log_in(space.admin)
    for page in (f"{space.root}/files/", f"{space.root}/members/"):
        assert re.search(r">\w{3} \d{1,2}, 20\d\d<", space.browser.open(page).text), page
        chinese = space.browser.open(f"{page}?lang=zh").text
        assert re.search(r">20\d\d年\d{1,2}月\d{1,2}日<", chinese), page
        assert f">{created[:10]}<" not in chinese, page
        space.browser.open(f"{page}?lang=en")


def test_times_are_shown_in_the_zone_with_a_clock(space: ConsoleSpace) -> None:
    node = space.upload("plan.txt", b"the plan")
    created = space.api.get(f"{space.tenant}/files/{node['id']}", by=space.admin).json["updatedAt"]
    utc = f'<time datetime="{created}">{created[:10]} {created[11:16]} UTC</time>'
    assert utc in space.browser.open(space.page(node)).text
    space.browser.remember("timezone", "Asia/Kathmandu")
    text = space.browser.open(space.page(node)).text
    assert utc not in text
    hour, minute = (int(part) for part in created[11:16].split(":"))
    ahead = (hour * 60 + minute + 345) % 1440
    assert f" {ahead // 60:02}:{ahead % 60:02}</time>" in text
    for name in ("../../etc/passwd", "Mars/Olympus", "<b>"):
        space.browser.remember("timezone", name)
        assert utc in space.browser.open(space.page(node)).text, name


@pytest.mark.usefixtures("tables")
def test_filters_and_ends_of_the_server_are_local(api: Api) -> None:
    admin = api.person(admin=True)
    user = api.person()
    space = ConsoleSpace.made(api)
    space.log_in(admin)
    space.browser.remember("timezone", ZONE)
    path = f"/console/server/users/{user.id}/"
    space.browser.open(path)
    space.send(f"{path}suspension", until="2100-02-03T08:00")
    suspended = api.get(f"/users/{user.id}", by=admin).json
    assert suspended["suspendedUntil"] == "2100-02-03T00:00:00.000Z"
    page = space.browser.open("/console/server/audit/?since=2100-01-01T00:00")
    assert "Times in <bdi data-zone>Asia/Shanghai</bdi>" in page.text


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("typed", "instant"),
    [
        ("2100-03-28T01:59", "2100-03-28T00:59:00.000Z"),
        # The clocks go forward from 02:00 to 03:00, so there is no such time: an hour later.
        ("2100-03-28T02:30", "2100-03-28T01:30:00.000Z"),
        ("2100-03-28T03:00", "2100-03-28T01:00:00.000Z"),
        # They go back from 03:00 to 02:00, so there are two such times: the first one.
        ("2100-10-31T02:30", "2100-10-31T00:30:00.000Z"),
        ("2100-10-31T03:00", "2100-10-31T02:00:00.000Z"),
    ],
)
def test_a_time_on_the_day_of_a_change_of_clocks_is_stored_as_the_instant(
    api: Api, typed: str, instant: str
) -> None:
    admin, user = api.person(admin=True), api.person()
    space = ConsoleSpace.made(api)
    space.log_in(admin)
    space.browser.remember("timezone", "Europe/Berlin")
    path = f"/console/server/users/{user.id}/"
    space.browser.open(path)
    space.send(f"{path}suspension", until=typed)
    assert api.get(f"/users/{user.id}", by=admin).json["suspendedUntil"] == instant


@pytest.mark.usefixtures("tables")
def test_a_time_is_of_the_zone_that_the_form_names(api: Api) -> None:
    """Also if the browser has named another zone since."""
    admin, user = api.person(admin=True), api.person()
    space = ConsoleSpace.made(api)
    space.log_in(admin)
    path = f"/console/server/users/{user.id}/"
    assert "Times in <bdi data-zone>UTC</bdi>" in space.browser.open(path).text
    space.browser.remember("timezone", ZONE)
    space.send(f"{path}suspension", until="2100-02-03T08:00")
    suspended = api.get(f"/users/{user.id}", by=admin).json
    assert suspended["suspendedUntil"] == "2100-02-03T08:00:00.000Z"


def test_a_login_in_a_browser_notes_its_zone_for_messages(api: Api) -> None:
    person = api.person()
    browser = PageBrowser(api)
    browser.remember("timezone", ZONE)
    browser.log_in(person.email)
    assert api.get("/users/me", by=person).json["timezone"] == ZONE
    browser.open("/account/profile")
    assert f'<option value="{ZONE}" selected>' in browser.page.text
    browser.send("profile", name="Alice", language="", timezone="Europe/Berlin")
    assert api.get("/users/me", by=person).json["timezone"] == "Europe/Berlin"
    again = PageBrowser(api)
    again.remember("timezone", ZONE)
    again.log_in(person.email)
    # Only a zone that is missing is noted.
    assert api.get("/users/me", by=person).json["timezone"] == "Europe/Berlin"


def test_an_unknown_zone_is_no_setting(api: Api) -> None:
    person = api.person()
    for zone in ("Mars/Olympus", "", "../etc/passwd", 8):
        assert api.patch("/users/me", {"timezone": zone}, by=person).status_code == 400, zone
    assert api.patch("/users/me", {"timezone": None}, by=person).status_code == 200


def test_messages_have_the_time_of_the_user_with_its_zone(api: Api) -> None:
    person = api.person()
    api.patch("/users/me", {"timezone": ZONE}, by=person)
    body = {"email": "new@example.com", "verificationCode": api.code("new@example.com", "bind")}
    assert api.post("/users/me/emails", body, by=person).status_code == 201
    text = next(item["text"] for item in api.outbox() if item["recipient"] == person.email)
    assert "(Asia/Shanghai)" in text
    assert " UTC" not in text
