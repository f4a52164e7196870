"""Quotas of tenants, who may set them, and the limits of uploads."""

import io
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from tests.support.api import Answer, Api, Person, error_code
from tests.support.config import Table
from tests.support.waiting import wait_until

from strongroom.plugin_api.events import SERVER
from strongroom.testing.clock import MINUTE
from strongroom.web.http.input_bounds import LARGEST_BYTES as MAX_BYTES

pytestmark = pytest.mark.both_databases

UNKNOWN = "01a1fd35-41a4-7159-832d-f9df39268981"
WAYS = 16


class Unread(io.BytesIO):
    """A body that must not be read."""

    def read(self, _size: int | None = -1, /) -> bytes:
        raise AssertionError("the body was read")


def usage(api: Api, tenant: str, by: Person) -> tuple[int, int, int | None, int | None]:
    """Return the used, reserved, allowed and free bytes."""
    response = api.get(f"{tenant}/usage", by=by)
    assert response.status_code == 200, response.text
    body = response.json
    return body["usedBytes"], body["reservedBytes"], body["quotaBytes"], body["freeBytes"]


def limit(api: Api, tenant: str, quota: int | None) -> None:
    """Set a tenant's quota."""
    response = api.patch(tenant, {"quotaBytes": quota}, by=api.person(admin=True))
    assert response.status_code == 200, response.text


def assert_full(answer: Answer) -> None:
    assert (answer.status_code, error_code(answer)) == (507, "error.storage-full")


def test_a_quota_is_enforced_and_deletions_free_space(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    limit(api, tenant, 10)
    file = api.upload(tenant, person, "a", b"123456")
    assert usage(api, tenant, person) == (6, 0, 10, 4)
    assert_full(api.send(tenant, person, "b", b"12345"))
    assert api.stored_objects() == 1
    assert api.delete(f"{tenant}/files/{file['id']}", by=person).status_code == 200
    # In the trash, it still counts.
    assert_full(api.send(tenant, person, "b", b"12345"))
    assert api.delete(f"{tenant}/trash/{file['id']}", by=person).status_code == 200
    assert api.send(tenant, person, "b", b"1234567890").status_code == 201
    assert usage(api, tenant, person) == (10, 0, 10, 0)
    assert api.get(tenant, by=person).json["usedBytes"] == 10


def exceeded(api: Api) -> list[str]:
    """Return the tenants of the recorded refusals."""
    events = api.container.events.log.read(SERVER, 0, 1000)
    return [str(event.tenant_id) for event in events if event.type == "quota.exceeded"]


def test_a_refusal_is_an_event_once_an_hour(api: Api) -> None:
    person = api.person()
    tenant, other = api.tenant(person), api.tenant(person, "Other")
    for path in (tenant, other):
        limit(api, path, 3)
    expected = []
    for path, minutes, is_recorded in (
        (tenant, 0, True),
        (tenant, 59, False),
        (other, 0, True),
        (tenant, 2, True),
    ):
        api.clock.advance(minutes * MINUTE)
        person.token = api.log_in(person.email).headers["X-Access-Token"]
        assert_full(api.send(path, person, "a", b"1234"))
        expected += [path.rpartition("/")[2]] * is_recorded
        wait_until(lambda: exceeded(api) == expected)  # noqa: B023  called at once
    assert exceeded(api) == expected


WITHOUT_VERSIONS: Table = {"files": {"versions": {"keep": 0}}}


@pytest.mark.config(WITHOUT_VERSIONS)
def test_a_replacement_needs_space_for_its_growth_only(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    limit(api, tenant, 10)
    api.upload(tenant, person, "a", b"12345678")
    send = partial(api.send, tenant, person, "a", query="?onConflict=replace")
    assert send(b"1234567890").status_code == 201
    assert_full(send(b"12345678901"))
    assert usage(api, tenant, person) == (10, 0, 10, 0)


def test_uploads_at_one_moment_never_exceed_the_quota(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    limit(api, tenant, 1000 * (WAYS // 4))
    with ThreadPoolExecutor(WAYS) as pool:
        sent = [pool.submit(api.send, tenant, person, f"{n}", b"x" * 1000) for n in range(WAYS)]
    statuses = [future.result().status_code for future in sent]
    assert sorted(statuses) == [201] * (WAYS // 4) + [507] * (WAYS - WAYS // 4)
    assert usage(api, tenant, person)[0] == 1000 * (WAYS // 4)
    assert api.stored_objects() == WAYS // 4


def test_an_upload_that_announces_too_much_is_refused_unread(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    limit(api, tenant, 10)
    assert_full(api.send(tenant, person, "a", b"12345678901"))

    headers = {"Content-Disposition": 'attachment; filename="a"'}
    body = Unread(bytes(MAX_BYTES + 1))
    assert_full(api.request("POST", f"{tenant}/files", by=person, headers=headers, input_stream=body))
    assert body.tell() == 0


def test_administrators_of_the_server_alone_set_quotas(api: Api) -> None:
    owner, admin = api.person(), api.person(admin=True)
    tenant = api.tenant(owner)
    refused = api.patch(tenant, {"quotaBytes": 5}, by=owner)
    assert (refused.status_code, error_code(refused)) == (403, "error.forbidden")
    set_to_5 = api.patch(tenant, {"quotaBytes": 5}, by=admin)
    assert (set_to_5.status_code, set_to_5.json["quotaBytes"]) == (200, 5)
    assert usage(api, tenant, admin) == (0, 0, 5, 5)
    assert api.patch(tenant, {"quotaBytes": None}, by=admin).json["quotaBytes"] is None
    assert api.patch(f"/api/v1/tenants/{UNKNOWN}", {"quotaBytes": 5}, by=admin).status_code == 404
    assert api.get(f"/api/v1/tenants/{UNKNOWN}/usage", by=admin).status_code == 404


def test_a_change_of_quota_is_recorded(api: Api) -> None:
    admin = api.person(admin=True)
    tenant = api.tenant(api.person())
    api.patch(tenant, {"quotaBytes": 7}, by=admin)
    events = api.get("/audit-events?action=tenant.update", by=admin).json["data"]
    assert [(event["actor"]["$ref"], event["details"]) for event in events] == [
        (admin.id, {"quota_bytes": "7"})
    ]


@pytest.mark.config(WITHOUT_VERSIONS)
def test_a_quota_below_the_usage_stops_growth_only(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    file = api.upload(tenant, person, "a", b"12345")
    limit(api, tenant, 2)
    assert usage(api, tenant, person) == (5, 0, 2, 0)
    assert_full(api.send(tenant, person, "b", b"1"))
    assert api.send(tenant, person, "empty", b"").status_code == 201
    assert api.send(tenant, person, "a", b"123", query="?onConflict=replace").status_code == 201
    assert api.delete(f"{tenant}/files/{file['id']}", by=person).status_code == 200


def test_a_tenant_is_renamed_by_its_administrators(api: Api) -> None:
    owner, member = api.person(), api.person()
    tenant = api.tenant(owner)
    api.join(tenant, owner, member)
    revision = api.get(tenant, by=owner).json["revision"]
    assert api.patch(tenant, {"name": "New"}, by=member).status_code == 403
    assert api.patch(tenant, {"name": "New"}, by=api.person()).status_code == 403
    renamed = api.patch(tenant, {"name": "New", "revision": revision}, by=owner)
    assert (renamed.status_code, renamed.json["name"]) == (200, "New")
    stale = api.patch(tenant, {"name": "Newer", "revision": revision}, by=owner)
    assert (stale.status_code, error_code(stale)) == (409, "error.revision-conflict")


@pytest.mark.parametrize(
    "body",
    [{}, {"quotaBytes": -1}, {"quotaBytes": "1"}, {"usedBytes": 0}, {"name": ""}, {"revision": 1}],
)
def test_changes_that_make_no_sense_are_400(api: Api, body: dict[str, object]) -> None:
    response = api.patch(api.tenant(api.person()), body, by=api.person(admin=True))
    assert (response.status_code, error_code(response)) == (400, "error.validation-failed")


def test_strangers_learn_nothing_of_usage(api: Api) -> None:
    tenant, stranger = api.tenant(api.person()), api.person()
    for path in (tenant, f"/api/v1/tenants/{UNKNOWN}"):
        assert api.get(f"{path}/usage", by=stranger).status_code == 403


@pytest.mark.config(
    {
        "files": {
            "max_file_bytes": 80,
            "default_quota_bytes": 100,
            "allowed_types": ["image/*", "text/plain"],
        }
    }
)
class TestConfigured:
    """The configured quota of all tenants."""

    def test_the_default_quota_holds_until_a_tenant_has_its_own(self, api: Api) -> None:
        person = api.person()
        tenant = api.tenant(person)
        api.upload(tenant, person, "a", b"x" * 80)
        assert usage(api, tenant, person) == (80, 0, 100, 20)
        assert_full(api.send(tenant, person, "b", b"x" * 21))
        limit(api, tenant, 101)
        assert api.send(tenant, person, "b", b"x" * 21).status_code == 201

    def test_a_file_above_the_limit_is_413(self, api: Api) -> None:
        person = api.person()
        response = api.send(api.tenant(person), person, "a", b"x" * 81)
        assert (response.status_code, error_code(response)) == (413, "error.payload-too-large")
        assert api.stored_objects() == 0

    @pytest.mark.parametrize(
        ("name", "content", "status"),
        [
            ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 32, 201),
            ("a.txt", b"words", 201),
            ("a.html", b"<p>words", 415),
            ("a.txt", b"%PDF-1.7", 415),
            ("a.png", b"\0\1\2", 415),
        ],
    )
    def test_other_types_than_the_allowed_are_415_by_content(
        self, api: Api, name: str, content: bytes, status: int
    ) -> None:
        person = api.person()
        response = api.send(api.tenant(person), person, name, content)
        assert response.status_code == status, response.text
        assert api.stored_objects() == (status == 201)
