"""Lists longer than a page of the REST API are shown completely, or the page says that they are cut."""

import pytest
from tests.support.api import PASSWORD, Api, Person
from tests.support.config import FIXED_CAPTCHA, Table, merged
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.registration import Registration, RegistrationService

CONFIG: Table = merged(
    FIXED_CAPTCHA, {"plugins": {"enabled": ["storage_local", "login_pages", "console"]}}
)
MORE_THAN_A_PAGE = 203

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


def join_others(api: Api, tenant: str, admin: Person) -> None:
    """Make more members than a page of the REST API has."""
    service = api.container.get(RegistrationService)
    for number in range(MORE_THAN_A_PAGE):
        mail = f"member{number}@example.com"
        user = service.create(
            Registration(name=f"Colleague {number}", password=PASSWORD, email=mail), Origin()
        )
        api.join(tenant, admin, Person(user.id, mail, ""))


def test_all_groups_people_and_grants_are_on_the_page(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    join_others(api, tenant, person)
    node = api.upload(tenant, person, "plan.txt", b"the plan")["id"]
    for number in range(MORE_THAN_A_PAGE):
        group = api.post(f"{tenant}/groups", {"name": f"Group {number}"}, by=person).json["id"]
        body = {"groupId": group, "permission": "read"}
        assert api.post(f"{tenant}/files/{node}/group-grants", body, by=person).status_code == 201
        api.put(f"{tenant}/groups/{group}/members/{person.id}", {}, by=person)
    page = browser.open(f"{root}/nodes/{node}/share").text
    assert page.count('name="who" value="group:') == MORE_THAN_A_PAGE
    assert page.count('<option value="group:') == MORE_THAN_A_PAGE
    assert page.count('<option value="user:') == MORE_THAN_A_PAGE + 1
    for path in (f"members/{person.id}/", "settings/"):
        assert browser.open(f"{root}/{path}").text.count(">Colleague ") == MORE_THAN_A_PAGE, path
    members = api.get(f"{tenant}/members?pageSize=200&pageNumber=2", by=person).json["data"]
    last = members[-1]["user"]["$ref"]
    assert browser.open(f"{root}/members/{last}/").status_code == 200
    assert browser.open(f"{root}/invitations/").text.count('name="group"') == MORE_THAN_A_PAGE


def test_people_of_one_name_are_distinguishable(
    api: Api, person: Person, tenant: str, root: str, browser: PageBrowser
) -> None:
    twins = [api.person(name="Wang Wei") for _ in range(2)]
    for twin in twins:
        api.join(tenant, person, twin)
    node = api.upload(tenant, person, "plan.txt", b"the plan")["id"]
    page = browser.open(f"{root}/nodes/{node}/share").text
    for twin in twins:
        assert f'value="user:{twin.id}" data-name="Wang Wei · {twin.id[-8:]}"' in page


def test_a_list_that_is_too_long_is_announced(
    api: Api,
    person: Person,
    tenant: str,
    root: str,
    browser: PageBrowser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(3):
        group = api.post(f"{tenant}/groups", {"name": f"Group {number}"}, by=person).json["id"]
        api.put(f"{tenant}/groups/{group}/members/{person.id}", {}, by=person)
    notice = "of 3 entries were loaded"
    assert notice not in browser.open(f"{root}/groups/").text.lower()
    monkeypatch.setattr("strongroom.plugin_api.visits.Visit.most_read", 2)
    monkeypatch.setattr("strongroom.plugin_api.paging.PAGE_SIZE", 1)
    assert notice in browser.open(f"{root}/groups/").text.lower()


def test_choices_beyond_the_bound_are_found_by_a_search(
    api: Api,
    person: Person,
    tenant: str,
    root: str,
    browser: PageBrowser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(4):
        api.post(f"{tenant}/groups", {"name": f"Group {number} Café"}, by=person)
    node = api.upload(tenant, person, "plan.txt", b"the plan")["id"]
    page = f"{root}/nodes/{node}/share"
    short = browser.open(page).text
    assert 'name="find"' not in short
    assert "data-source" not in short
    monkeypatch.setattr("strongroom.plugin_api.visits.Visit.most_read", 2)
    monkeypatch.setattr("strongroom.plugin_api.paging.PAGE_SIZE", 1)
    offered = browser.open(page).text
    assert 'name="find"' in offered
    assert f'data-source="{page}"' in offered
    assert ">Group 3 Café, Group</option>" not in offered
    found = browser.open(f"{page}?find=cafe+3").text
    assert ">Group 3 Café, Group</option>" in found
    assert ">Group 0 Café, Group</option>" not in found
    assert 'value="cafe 3"' in found


def test_spaces_are_paged(api: Api, person: Person, tenant: str, browser: PageBrowser) -> None:
    for number in range(101):
        api.tenant(person, f"Space {number}")
    page = browser.open("/console/").text
    assert "Page 1 of 9" in page
    pages = [browser.open(f"/console/?page={number}").text for number in range(1, 10)]
    assert sum(text.count('class="card-link"') for text in pages) == 102
