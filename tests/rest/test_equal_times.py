"""What one request writes has one time, even if each reading of the clock is later than the last."""

import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Api, Person
from tests.support.audit import reading_sealed
from tests.support.timing import TickingClock


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock()


def times(api: Api, query: str, **parameters: str) -> set[int]:
    """Return the times in the first column."""
    with reading_sealed(api.container.database) as connection:
        return set(connection.execute(text(query), parameters).scalars())


@pytest.fixture
def alice(api: Api) -> Person:
    return api.person()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_node_has_the_time_of_its_event_and_of_its_grant(api: Api, alice: Person, kind: str) -> None:
    path = api.tenant(alice)
    if kind == "file":
        node = api.upload(path, alice, "a.txt", b"content")["id"]
    else:
        node = api.folder(path, alice, "a")["id"]
    created = times(api, "SELECT created_at FROM nodes WHERE id = :id", id=node)
    assert len(created) == 1
    assert times(api, "SELECT updated_at FROM nodes WHERE id = :id", id=node) == created
    assert times(api, "SELECT created_at FROM grants WHERE node_id = :id", id=node) == created
    assert times(api, "SELECT at FROM file_events WHERE node_id = :id", id=node) == created


def test_a_login_has_the_time_of_its_audit_record(api: Api, alice: Person) -> None:
    logins = "SELECT created_at FROM authorizations WHERE user_id = :id"
    recorded = "SELECT at FROM audit_events WHERE actor_id = :id AND action = 'login'"
    assert api.log_in(alice.email, PASSWORD).status_code == 200
    created = times(api, logins, id=alice.id)
    assert len(created) == 2
    assert times(api, recorded, id=alice.id) == created
