"""Lists by name have the natural order, and a rename moves the record to its place."""

import pytest
from sqlalchemy import Table, select, update
from tests.support.api import Api, Person

from strongroom.content.tenants.models import groups, tenants
from strongroom.foundation.collation import sort_key
from strongroom.identity.users.models import users
from strongroom.identity.users.service import UserService
from strongroom.identity.users.user_reindexing import UserReindexing

pytestmark = pytest.mark.both_databases

ORDER = ["Äpfel", "apple", "Banana", "img 9", "img 10", "Zebra", "张"]
MADE = ["Zebra", "img 10", "张", "apple", "img 9", "x", "Äpfel"]
"""The names in the order of their creation; ``x`` is renamed to ``Banana``."""


def listed(api: Api, url: str, by: Person) -> list[str]:
    names = [record["name"] for record in api.get(url, by=by).json["data"]]
    return [name for name in names if name in ORDER]


def natural() -> list[str]:
    return sorted(ORDER, key=sort_key)


def test_users_tenants_groups_and_their_grants_are_in_natural_order(api: Api) -> None:
    admin = api.person(admin=True)
    tenant = api.tenant(admin)
    folder = api.folder(tenant, admin, "folder")["id"]
    for name in MADE:
        group = api.post(f"{tenant}/groups", {"name": name}, by=admin).json["id"]
        grant = {"groupId": group, "permission": "read"}
        assert api.post(f"{tenant}/files/{folder}/group-grants", grant, by=admin).status_code == 201
        urls = [
            f"{tenant}/groups/{group}",
            api.tenant(admin, name),
            f"/users/{api.person().id}",
        ]
        renamed = {"name": "Banana" if name == "x" else name}
        for url in urls:
            assert api.patch(url, renamed, by=admin).status_code == 200, url
    assert natural() == ORDER
    for url in (f"{tenant}/groups", "/api/v1/tenants", "/api/v1/tenants?all=true", "/users?sort=name"):
        assert listed(api, url, admin) == natural(), url
    assert listed(api, "/users?sort=-name", admin) == natural()[::-1]
    assert listed(api, "/users?sort=name&q=img", admin) == ["img 9", "img 10"]
    granted = api.get(f"{tenant}/files/{folder}/group-grants", by=admin).json["data"]
    assert [record["groupName"] for record in granted] == natural()


def test_no_response_has_a_sort_key(api: Api) -> None:
    admin = api.person(admin=True)
    tenant = api.tenant(admin)
    api.post(f"{tenant}/groups", {"name": "group"}, by=admin)
    for url in ("/users", "/users/me", "/api/v1/tenants", tenant, f"{tenant}/groups"):
        answer = api.get(url, by=admin)
        assert answer.status_code == 200, url
        assert "sort" not in answer.text.lower(), url


def has_right_keys(api: Api, table: Table) -> bool:
    with api.container.database.engine.connect() as connection:
        rows = connection.execute(select(table.c.name, table.c.sort_key)).all()
    return bool(rows) and all(row.sort_key == sort_key(row.name) for row in rows)


def test_each_stored_key_is_the_one_of_the_name(api: Api) -> None:
    admin = api.person(admin=True)
    api.post(f"{api.tenant(admin)}/groups", {"name": "Äpfel"}, by=admin)
    gone = api.person()
    assert api.delete(f"/users/{gone.id}", by=admin).status_code == 200
    with api.container.database.write() as connection:
        assert api.container.get(UserService).erase(connection, api.clock.now(), 10) == [gone.id]
    assert all(has_right_keys(api, table) for table in (users, tenants, groups))


def test_a_reindexing_gives_users_of_the_version_before_their_keys(api: Api) -> None:
    api.person()
    with api.container.database.engine.begin() as connection:
        connection.execute(update(users).values(sort_key=""))
    assert not has_right_keys(api, users)
    api.container.get(UserReindexing).run()
    assert has_right_keys(api, users)
