"""A large space on a large server: each record is on some page of its list, and a search finds it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape

import pytest
from bench import archive, people
from tests.support.api import Api, Person
from tests.support.campaign import campaign_size
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Origin

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
USERS, MEMBERS, GROUPS, HOLDS = 2_000, 332, 230, 500
FILES = campaign_size("LISTED_FILES", 20_000)
"""On an idle machine, 100,000; a busy one answers 503 for so many, within its time limit."""
CONSOLE = "/console"

pytestmark = [on_sqlite, pytest.mark.extended, pytest.mark.config(CONFIG)]


@dataclass
class Walker:
    """Follows the links to the next pages of a list."""

    browser: PageBrowser

    def ids(self, path: str, pattern: str) -> list[str]:
        """Return what a pattern matches on the pages of a list."""
        return [found for text in self._pages(path) for found in re.findall(pattern, text)]

    def _pages(self, path: str) -> Iterator[str]:
        link: str | None = path
        while link:
            text = self.browser.request(link).text
            yield text
            following = re.search(r'<a rel="next" href="([^"]*)"', text)
            link = following and path + unescape(following[1])


@pytest.fixture
def root(api: Api) -> Person:
    people.plant(api.container, USERS)
    return api.person(admin=True, name="Root")


@pytest.fixture
def planted(api: Api, root: Person) -> archive.Archive:
    """A space that the administrator of the server administers, too."""
    planted = archive.plant(api.container, 0, FILES)
    tenants = api.container.get(TenantService)
    tenants.put_member(planted.admin, planted.tenant, root.id, Role.ADMIN, Origin())
    return planted


@pytest.fixture
def walker(root: Person, log_in: Callable[[Person], PageBrowser]) -> Walker:
    return Walker(log_in(root))


def test_each_user_and_member_is_listed(
    api: Api, planted: archive.Archive, root: Person, walker: Walker
) -> None:
    tenants = api.container.get(TenantService)
    # The archive has people of its own.
    joined = [person.id for person in people.people(MEMBERS - len(archive.Archive.__slots__[1:-1]) - 1)]
    for user in joined:
        tenants.put_member(planted.admin, planted.tenant, user, Role.MEMBER, Origin())
    users = walker.ids(f"{CONSOLE}/server/users/", r'<tr data-id="([^"]+)"')
    assert {person.id for person in people.people(USERS)} <= set(users)
    assert len(users) == len(set(users))
    members = walker.ids(f"{CONSOLE}/tenants/{planted.tenant}/members/", r'<tr data-id="([^"]+)"')
    assert len(members) == len(set(members)) == MEMBERS
    assert {*joined, root.id} <= set(members)
    last = [*people.people(USERS)][-1]
    found = walker.ids(f"{CONSOLE}/server/users/?q={last.contacts['email']}", r'<tr data-id="([^"]+)"')
    assert found == [last.id]


def test_each_group_and_hold_is_listed(
    api: Api, planted: archive.Archive, root: Person, walker: Walker
) -> None:
    tenant, space = f"/api/v1/tenants/{planted.tenant}", f"{CONSOLE}/tenants/{planted.tenant}"
    for number in range(GROUPS):
        made = api.post(f"{tenant}/groups", {"name": f"Group {number}"}, by=root)
        assert made.status_code == 201, made.text
    groups = walker.ids(f"{space}/groups/", r"<bdi>(Group \d+)</bdi>")
    assert sorted(groups) == sorted(f"Group {number}" for number in range(GROUPS))
    assert "Group 229" in walker.browser.request(f"{space}/groups/?q=229").text
    records, folder = api.person(name="Records"), api.folder(tenant, root, "Cases")["id"]
    api.join(tenant, root, records, "records")
    grant = {"ownerId": records.id, "permission": "read"}
    assert api.post(f"{tenant}/files/{folder}/owners", grant, by=root).status_code == 201
    for number in range(HOLDS):
        node = api.upload(tenant, root, f"held {number}.txt", b"x", folder)["id"]
        held = api.put(f"{tenant}/files/{node}/hold", {"reason": f"Case {number}."}, by=records)
        assert held.status_code == 200, held.text
    holds = walker.ids(f"{space}/retention/", r"Case (\d+)\.")
    assert sorted(set(holds)) == sorted(map(str, range(HOLDS)))


def test_each_file_is_listed(planted: archive.Archive, walker: Walker) -> None:
    path = f"{CONSOLE}/tenants/{planted.tenant}/files/{planted.folder}/"
    files = walker.ids(path, r'<tr data-id="([^"]+)"')
    assert len(files) == len(set(files)) == FILES
    number = FILES - 1
    names = re.findall('data-name="([^"]+)"', walker.browser.request(f"{path}?q={number}").text)
    assert any(str(number) in name for name in names)
