"""``host.tenants`` creates and changes tenants, members and groups by the rules of the REST API."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pyotp
import pytest
from tests.support.api import PASSWORD, Answer, Api, Person
from tests.support.databases import on_sqlite
from tests.support.plugin_calls import outcome, outcome_of, refusal, request_of

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.tenants import TenantsAPI
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom_factor_totp import plugin

UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@pytest.mark.both_databases
def test_a_tenant_has_members(api: Api, host: HostAPI) -> None:
    owner, member = api.person(), api.person()
    tenant = api.tenant(owner).rpartition("/")[2]
    with host.acting_as(owner.id):
        assert host.tenants.put_member(tenant, member.id).role == "member"
        assert host.tenants.put_member(tenant, member.id, "records").role == "records"
        assert host.tenants.members(tenant).total == 2
        host.tenants.remove_member(tenant, member.id)
        host.tenants.remove_member(tenant, member.id)
        assert host.tenants.members(tenant).total == 1
        with refusal("last-administrator"):
            host.tenants.put_member(tenant, owner.id, "member")


@pytest.mark.both_databases
def test_a_group_has_members(api: Api, host: HostAPI) -> None:
    owner, member = api.person(), api.person()
    path = api.tenant(owner)
    api.join(path, owner, member)
    tenant = path.rpartition("/")[2]
    made = api.post(f"{path}/groups", {"name": "Sales"}, by=owner).json["id"]
    with host.acting_as(owner.id):
        assert [group.id for group in host.tenants.groups(tenant).items] == [made]
        added = host.tenants.put_group_member(tenant, made, member.id)
        assert (added.user_id, added.added_by) == (member.id, owner.id)
        assert [group.id for group in host.tenants.groups(tenant, user_id=member.id).items] == [made]
        with refusal("not-a-member"):
            host.tenants.put_group_member(tenant, made, UNKNOWN)
        host.tenants.remove_group_member(tenant, made, member.id)
        assert host.tenants.groups(tenant, user_id=member.id).total == 0


@pytest.mark.both_databases
def test_a_group_gets_all_its_members_at_once(api: Api, host: HostAPI) -> None:
    owner, ann, ben = api.person(), api.person(), api.person()
    path = api.tenant(owner)
    for person in (ann, ben):
        api.join(path, owner, person)
    tenant = path.rpartition("/")[2]
    group = api.post(f"{path}/groups", {"name": "Sales"}, by=owner).json
    with host.acting_as(owner.id):
        tenants, id_ = host.tenants, group["id"]
        assert tenants.set_group_members(tenant, id_, {ann.id, owner.id}) == (2, 0)
        assert tenants.set_group_members(tenant, id_, {ben.id, owner.id}) == (1, 1)
        assert tenants.set_group_members(tenant, id_, [ben.id, ben.id, owner.id]) == (0, 0)
        with refusal("not-a-member"):
            tenants.set_group_members(tenant, id_, {ann.id, UNKNOWN})
        with refusal("revision-conflict"):
            tenants.set_group_members(tenant, id_, set(), revision=1)
        assert tenants.groups(tenant, user_id=ben.id).total == 1
        assert tenants.groups(tenant, user_id=ann.id).total == 0
    with host.acting_as(ann.id), refusal("forbidden"):
        host.tenants.set_group_members(tenant, group["id"], set())


@pytest.mark.both_databases
def test_the_files_of_a_leaver_are_transferred(api: Api, host: HostAPI) -> None:
    owner, leaver = api.person(), api.person()
    path = api.tenant(owner)
    api.join(path, owner, leaver)
    tenant = path.rpartition("/")[2]
    with host.acting_as(leaver.id):
        folder = host.files.create_folder(tenant, None, "Work")
        with refusal("forbidden"):
            host.tenants.transfer_files(tenant, leaver.id, owner.id)
    with host.acting_as(owner.id):
        host.tenants.remove_member(tenant, leaver.id)
        assert host.tenants.transfer_files(tenant, leaver.id, owner.id)[0] == 1
        with refusal("not-a-member"):
            host.tenants.transfer_files(tenant, owner.id, leaver.id)
        assert host.files.stat(tenant, folder.id).owner_id == owner.id


def test_roles_have_the_bounds_of_rest(api: Api, host: HostAPI) -> None:
    owner = api.person()
    tenant = api.tenant(owner).rpartition("/")[2]
    with host.acting_as(owner.id), refusal("validation-failed"):
        host.tenants.put_member(tenant, owner.id, "owner")  # type: ignore[arg-type]


@dataclass
class Site:
    """A tenant with a group and one member in it, for one call."""

    api: Api
    people: dict[str, Person]
    path: str
    group: str

    @property
    def tenant(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def member(self) -> str:
        return self.people["bystander"].id


def site_of(api: Api, people: dict[str, Person]) -> Site:
    path = api.tenant(people["owner"])
    for name in ("member", "bystander"):
        api.join(path, people["owner"], people[name])
    group = api.post(f"{path}/groups", {"name": "Sales"}, by=people["owner"]).json["id"]
    return Site(api, people, path, group)


CALLS: dict[str, tuple[Callable[[TenantsAPI, Site], object], Callable[[Site, Person], Answer]]] = {
    "put member": (
        lambda tenants, site: tenants.put_member(site.tenant, site.member, "admin"),
        lambda site, by: site.api.put(f"{site.path}/members/{site.member}", {"role": "admin"}, by=by),
    ),
    "remove member": (
        lambda tenants, site: tenants.remove_member(site.tenant, site.member),
        lambda site, by: site.api.delete(f"{site.path}/members/{site.member}", by=by),
    ),
    "put group member": (
        lambda tenants, site: tenants.put_group_member(site.tenant, site.group, site.member),
        lambda site, by: site.api.put(f"{site.path}/groups/{site.group}/members/{site.member}", by=by),
    ),
    "remove group member": (
        lambda tenants, site: tenants.remove_group_member(site.tenant, site.group, site.member),
        lambda site, by: site.api.delete(
            f"{site.path}/groups/{site.group}/members/{site.member}", by=by
        ),
    ),
}


@on_sqlite
@pytest.mark.parametrize("name", CALLS)
def test_each_caller_gets_what_rest_gives(api: Api, host: HostAPI, name: str) -> None:
    by_host, by_rest = CALLS[name]
    people = {role: api.person() for role in ("owner", "member", "bystander", "stranger")}
    people["admin"] = api.person(admin=True)
    body = {"name": "robot", "scopes": ["tenants:read"], "currentPassword": PASSWORD}
    key = api.post("/users/me/access-keys", body, by=people["owner"]).json["key"]
    people["key"] = replace(people["owner"], token=key)
    differences = []
    for role in ("owner", "member", "stranger", "admin", "key"):
        one, other = site_of(api, people), site_of(api, people)
        with request_of(api, host, people[role], Scope.TENANTS_READ):
            got = outcome(lambda site=one: by_host(host.tenants, site))  # type: ignore[misc]
        expected = outcome_of(by_rest(other, people[role]))
        if got != expected:
            differences.append((role, got, expected))
    assert differences == []


def test_the_record_of_a_change_names_the_plugin(api: Api, host: HostAPI) -> None:
    owner, admin = api.person(), api.person(admin=True)
    path, member = api.tenant(owner), api.person()
    tenant = path.rpartition("/")[2]
    with request_of(api, host, owner):
        host.tenants.put_member(tenant, member.id)
    with host.acting_as(owner.id):
        host.tenants.remove_member(tenant, member.id)
    for action in ("member.put", "member.remove"):
        (event,) = api.get(f"/audit-events?action={action}", by=admin).json["data"]
        assert event["details"]["plugin"] == "storage_local"
        assert event["actor"]["$ref"] == owner.id
    api.join(path, owner, member)
    newest = api.get("/audit-events?action=member.put", by=admin).json["data"][0]
    assert "plugin" not in newest["details"]


@pytest.fixture
def totp_time(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


def enrol(api: Api, person: Person) -> None:
    """Enrol a second factor, whose proof becomes old."""
    begun = api.post("/users/me/factors", {"kind": "totp"}, by=person).json
    code = pyotp.TOTP(begun["shown"]["secret"]).generate_otp(api.clock.now() // 30_000)
    path = f"/users/me/factors/{begun['id']}/confirmation"
    assert api.post(path, {"answer": code}, by=person).status_code == 201
    api.clock.advance(10 * MINUTE)


@pytest.mark.usefixtures("totp_time")
@pytest.mark.config(
    {"plugins": {"enabled": ["storage_local", "factor_totp"]}, "tokens": {"lifetime_seconds": 3600}}
)
def test_a_request_needs_a_recent_second_factor_and_a_configured_plugin_does_not(
    api: Api, host: HostAPI
) -> None:
    owner, member = api.person(), api.person()
    path = api.tenant(owner)
    tenant = path.rpartition("/")[2]
    enrol(api, owner)
    with request_of(api, host, owner):
        for call in (
            lambda: host.tenants.put_member(tenant, member.id),
            lambda: host.tenants.remove_member(tenant, member.id),
        ):
            with refusal("step-up-required"):
                call()
        assert host.tenants.groups(tenant).total == 0
    with host.acting_as(owner.id):
        assert host.tenants.put_member(tenant, member.id).role == "member"
