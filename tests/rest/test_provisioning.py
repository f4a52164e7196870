"""``host.provisioning``: what a directory may do, and what it never gets."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.support.api import PASSWORD, Api, error_code
from tests.support.config import lifted
from tests.support.databases import on_sqlite
from tests.support.directories import Company
from tests.support.plugin_calls import refusal
from tests.support.statements import plan_of, statements

from strongroom.clock import DAY
from strongroom.extensions.provisioning.directory_errors import DirectoryErrors
from strongroom.extensions.provisioning.handovers import Handovers
from strongroom.plugin_api.provisioning import (
    DirectoryErrorInfo,
    GroupRecord,
    RefusedRequest,
    UserRecord,
)

pytestmark = [pytest.mark.both_databases, pytest.mark.config(lifted())]

UNKNOWN = "0190a1b2-0000-7000-8000-000000000000"


@pytest.fixture
def company(api: Api) -> Company:
    return Company.made(api)


def test_a_directory_creates_a_member_once(company: Company) -> None:
    with company.acting() as host:
        record = UserRecord(
            "Ann@acme.example", "Ann", "e1", "ann@acme.example", profile={"title": "CEO"}
        )
        user, is_new = host.provisioning.provision_user(company.tenant, record)
        again, is_new_again = host.provisioning.provision_user(company.tenant, record)
        assert (is_new, is_new_again, again) == (True, False, user)
        assert user.is_active
        assert user.profile == {"title": "CEO"}
        lookups: list[dict[str, Any]] = [
            {"login_name": "ANN@ACME.EXAMPLE"},
            {"external_id": "e1"},
            {"email": "Ann@Acme.example"},
            {"user_id": user.id},
        ]
        for chosen in lookups:
            total, users = host.provisioning.users(company.tenant, **chosen)
            assert (total, [item.id for item in users]) == (1, [user.id]), chosen
        assert host.provisioning.users(company.tenant, external_id="E1") == (0, [])
    assert company.role(user) == "member"


@on_sqlite
def test_no_lookup_reads_all_users_or_groups_of_the_directory(company: Company, api: Api) -> None:
    user = company.provision(external_id="e1")
    with company.acting() as host:
        provisioning, tenant = host.provisioning, company.tenant
        group = provisioning.provision_group(tenant, GroupRecord("Sales", "g1", {user.id}))
        with statements() as seen:
            assert provisioning.users(tenant, user_id=user.id)[0] == 1
            assert provisioning.users(tenant, login_name="ann@acme.example")[0] == 1
            assert provisioning.users(tenant, external_id="e1")[0] == 1
            assert provisioning.users(tenant, email="ann@acme.example")[0] == 1
            assert provisioning.groups(tenant, group_id=group.id)[0] == 1
            assert provisioning.groups(tenant, external_id="g1")[0] == 1
            provisioning.groups_of_users(tenant, [user.id])
            provisioning.change_group_members(tenant, group.id, removed=[user.id])
            provisioning.change_group_members(tenant, group.id, added=[user.id])
            provisioning.change_user(tenant, user.id, UserRecord(user.login_name, "Anna"))
            provisioning.record_result(tenant, "user", None, resource_id=user.id)
    with api.container.database.read() as connection:
        plans = {text: plan_of(connection, text) for text in seen if " provisioned_" in text}
    assert len(plans) > 12
    whole = [
        text for text, plan in plans.items() if any(step.endswith("(directory_id=?)") for step in plan)
    ]
    assert whole == []


def test_lists_have_an_offset_and_the_order_of_creation(company: Company) -> None:
    users = [company.provision(f"user{number}@acme.example").id for number in range(5)]
    with company.acting() as host:
        total, part = host.provisioning.users(company.tenant, offset=1, limit=3)
        assert (total, [user.id for user in part]) == (5, users[1:4])
        assert host.provisioning.users(company.tenant, offset=9, limit=3) == (5, [])
        with refusal("validation-failed"):
            host.provisioning.users(company.tenant, limit=501)


def test_versions_prevent_lost_updates(company: Company) -> None:
    user = company.provision()
    record = UserRecord(user.login_name, "Anna", email="ann@acme.example")
    with company.acting() as host:
        changed = host.provisioning.change_user(company.tenant, user.id, record, version=user.version)
        assert changed.name == "Anna"
        with refusal("revision-conflict"):
            host.provisioning.change_user(company.tenant, user.id, record, version=user.version)
        with refusal("revision-conflict"):
            host.provisioning.remove_user(company.tenant, user.id, version=user.version)


def test_a_user_who_is_not_active_loses_everything_at_once(company: Company, api: Api) -> None:
    user = company.provision()

    changed = company.change(user, is_active=False)
    assert not changed.is_active
    assert changed.version != user.version
    assert company.role(user) is None
    root = api.person(admin=True)
    assert api.get(f"/users/{user.id}", by=root).json["status"] == "suspended"

    assert company.change(user, is_active=True).is_active
    assert company.role(user) == "member"
    assert api.get(f"/users/{user.id}", by=root).json["status"] == "active"


def test_an_activation_does_not_end_the_suspension_of_an_administrator(
    company: Company, api: Api
) -> None:
    user, root = company.provision(), api.person(admin=True)
    company.change(user, is_active=False)
    suspended = api.put(f"/users/{user.id}/suspension", {"reason": "Fraud"}, by=root)
    if suspended.status_code == 405:
        suspended = api.post(f"/users/{user.id}/suspension", {"reason": "Fraud"}, by=root)
    assert suspended.status_code == 200, suspended.text
    assert not company.change(user, is_active=True).is_active
    assert api.get(f"/users/{user.id}", by=root).json["status"] == "suspended"


def test_a_user_of_another_tenant_too_keeps_the_account(company: Company, api: Api) -> None:
    user, other = company.provision(), api.person()
    tenant = api.tenant(other)
    root = api.person(admin=True)
    put = api.put(f"{tenant}/members/{user.id}", {"role": "member"}, by=other)
    assert put.status_code == 200, put.text
    with refusal("not-managed-here"):
        company.change(user, email="other@acme.example")
    assert not company.change(user, is_active=False).is_active
    assert company.role(user) is None
    account = api.get(f"/users/{user.id}", by=root).json
    assert (account["status"], account["email"]) == ("active", "ann@acme.example")
    with company.acting() as host:
        host.provisioning.remove_user(company.tenant, user.id)
    assert api.get(f"/users/{user.id}", by=root).json["status"] == "active"


def test_a_removed_user_can_be_created_again(company: Company, api: Api) -> None:
    user = company.provision(external_id="e1")
    with company.acting() as host:
        host.provisioning.remove_user(company.tenant, user.id)
        with refusal("not-found"):
            host.provisioning.user(company.tenant, user.id)
        assert host.provisioning.users(company.tenant) == (0, [])
    assert api.get(f"/users/{user.id}", by=api.person(admin=True)).status_code == 404
    assert company.provision(external_id="e1").id != user.id


def test_the_last_administrator_of_a_tenant_stays(company: Company) -> None:
    user = company.provision()
    with company.host.acting_as(company.owner.id):
        company.host.tenants.put_member(company.tenant, user.id, "admin")
    with company.host.acting_as(user.id):
        company.host.tenants.put_member(company.tenant, company.owner.id, "member")
    with refusal("last-administrator"):
        company.change(user, is_active=False)
    assert company.role(user) == "admin"


def test_an_address_changes_until_its_holder_has_verified_it(company: Company, api: Api) -> None:
    user = company.provision()
    root = api.person(admin=True)
    company.change(user, email="new@acme.example")
    assert api.get(f"/users/{user.id}", by=root).json["email"] == "new@acme.example"
    body = {"value": "new@acme.example", "verified": True}
    assert api.put(f"/users/{user.id}/contacts/email", body, by=root).status_code == 200
    with refusal("not-managed-here"):
        company.change(user, email="third@acme.example")
    assert api.get(f"/users/{user.id}", by=root).json["email"] == "new@acme.example"


def test_files_of_leavers_go_to_the_successor(api: Api) -> None:
    owner = api.person()
    company = Company.made(api, owner, successor_id=owner.id)
    user = company.provision()
    with company.host.acting_as(user.id):
        folder = company.host.files.create_folder(company.tenant, None, "Work")
    company.change(user, is_active=False)
    handovers = api.container.get(Handovers)
    assert handovers.transfer_due() == 1
    assert handovers.transfer_due() == 0
    with company.host.acting_as(owner.id):
        assert company.host.files.stat(company.tenant, folder.id).owner_id == owner.id


def test_groups_have_members_of_the_directory(company: Company) -> None:
    ann, ben = company.provision(), company.provision("ben@acme.example", name="Ben")
    with company.acting() as host:
        provisioning = host.provisioning
        group = provisioning.provision_group(company.tenant, GroupRecord("Sales", "g1", {ann.id}))
        members = provisioning.group_members(company.tenant, group.id)
        assert [(item.id, item.name) for item in members] == [(ann.id, "Ann")]
        changed = provisioning.change_group(
            company.tenant, group.id, GroupRecord("Sales", "g1", {ben.id}), version=group.version
        )
        assert changed.version != group.version
        assert [item.id for item in provisioning.group_members(company.tenant, group.id)] == [ben.id]
        of_users = provisioning.groups_of_users(company.tenant, [ann.id, ben.id])
        assert {key: [item.name for item in groups] for key, groups in of_users.items()} == {
            ben.id: ["Sales"]
        }
        lookups: list[dict[str, Any]] = [{"name": "SALES"}, {"external_id": "g1"}, {"member_id": ben.id}]
        for chosen in lookups:
            assert provisioning.groups(company.tenant, **chosen)[0] == 1, chosen
        with refusal("revision-conflict"):
            provisioning.change_group(
                company.tenant, group.id, GroupRecord("Sale"), version=group.version
            )
        with refusal("group-name-taken"):
            provisioning.provision_group(company.tenant, GroupRecord("Other", "g1"))
        with refusal("not-a-member"):
            provisioning.change_group(
                company.tenant, group.id, GroupRecord("Sales", member_ids={company.owner.id})
            )
        provisioning.remove_group(company.tenant, group.id)
        assert provisioning.groups(company.tenant) == (0, [])


def test_members_that_an_administrator_added_stay(company: Company) -> None:
    ann = company.provision()
    with company.acting() as host:
        group = host.provisioning.provision_group(company.tenant, GroupRecord("Sales"))
    with company.host.acting_as(company.owner.id):
        company.host.tenants.put_group_member(company.tenant, group.id, company.owner.id)
    with company.acting() as host:
        host.provisioning.change_group(
            company.tenant, group.id, GroupRecord("Sales", member_ids={ann.id})
        )
        assert [item.id for item in host.provisioning.group_members(company.tenant, group.id)] == [
            ann.id
        ]
    groups = company.host.tenants.find_groups(company.owner.id, [company.tenant])
    assert [item.id for item in groups] == [group.id]


def test_a_user_who_is_not_active_is_in_no_group(company: Company) -> None:
    ann = company.provision()
    with company.acting() as host:
        group = host.provisioning.provision_group(
            company.tenant, GroupRecord("Sales", member_ids={ann.id})
        )
    company.change(ann, is_active=False)
    with company.acting() as host:
        provisioning = host.provisioning
        assert provisioning.group_members(company.tenant, group.id) == []
        provisioning.change_group(company.tenant, group.id, GroupRecord("Sales", member_ids={ann.id}))
        assert provisioning.group_members(company.tenant, group.id) == []


def test_a_directory_of_the_server_creates_users_without_a_tenant(api: Api) -> None:
    root = api.person(admin=True)
    account = api.post("/api/v1/service-accounts", {"name": "HR"}, by=root).json["id"]
    body = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
    key = api.post(f"/users/{account}/access-keys", body, by=root)
    assert key.status_code == 201, key.text
    company = Company.made(api)
    with company.host.acting_as(root.id):
        company.host.provisioning.register_directory(None, "HR", account)
    with company.acting(key.json["key"]) as host:
        user, _ = host.provisioning.provision_user(
            None, UserRecord("eve", "Eve", "e1", "eve@hr.example")
        )
        assert host.provisioning.users(None)[0] == 1
        record = UserRecord("eve", "Eve", "e1", "eve@hr.example", is_active=False)
        assert not host.provisioning.change_user(None, user.id, record).is_active
        # A tenant has not registered the account.
        with refusal("forbidden"):
            host.provisioning.users(company.tenant)
    assert api.get(f"/users/{user.id}", by=root).json["status"] == "suspended"


def refuse(company: Company, name: str, *, error: RefusedRequest | None = None, **values: Any) -> None:
    refused = error or RefusedRequest(409, "uniqueness", "Taken.")
    with company.acting() as host:
        host.provisioning.record_result(company.tenant, "user", refused, name=name, **values)


def errors(company: Company) -> list[DirectoryErrorInfo]:
    with company.host.acting_as(company.owner.id):
        page = company.host.provisioning.errors(company.tenant, company.directory)
    assert page.total == len(page.items)
    return [*page.items]


def test_the_last_error_of_each_resource_is_stored_until_a_success(company: Company) -> None:
    user = company.provision()
    refuse(company, "Ben@acme.example")
    company.api.clock.advance(1000)
    refuse(company, "ben@acme.example", error=RefusedRequest(400, None, "x" * 900))
    refuse(company, "another", resource_id=user.id)
    ann, ben = sorted(errors(company), key=lambda item: item.name)
    assert (ann.name, ann.resource_id, ann.count) == (user.login_name, user.id, 1)
    assert (ben.name, ben.resource_id, ben.count) == ("ben@acme.example", None, 2)
    assert (ben.status, ben.code, ben.message) == (400, None, "x" * 500)
    assert ben.last_at - ben.first_at == 1000
    with company.acting() as host:
        host.provisioning.record_result(company.tenant, "group", None, name=ben.name)
        host.provisioning.record_result(company.tenant, "user", None, resource_id=user.id)
    assert [item.name for item in errors(company)] == [ben.name]
    with company.acting() as host:
        host.provisioning.record_result(company.tenant, "user", None, name="BEN@acme.example")
    assert errors(company) == []


def test_errors_are_few_and_go_after_a_month(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    service = company.api.container.get(DirectoryErrors)
    monkeypatch.setattr(service, "_most", 3)
    for number in range(5):
        refuse(company, f"user{number}")
        company.api.clock.advance(1)
    assert [item.name for item in errors(company)] == ["user4", "user3", "user2"]
    company.api.clock.advance(30 * DAY - 2)
    assert (service.prune(), service.prune()) == (2, 0)
    assert [item.name for item in errors(company)] == ["user4"]


def test_errors_of_a_directory_go_with_it(company: Company) -> None:
    refuse(company, "ann")
    with company.host.acting_as(company.owner.id):
        company.host.provisioning.remove_directory(company.tenant, company.directory)
        with refusal("not-found"):
            company.host.provisioning.errors(company.tenant, company.directory)


def test_errors_are_the_administrators_to_read(company: Company, api: Api) -> None:
    other = Company.made(api)
    provisioning = company.host.provisioning
    with company.host.acting_as(other.owner.id):
        with refusal("forbidden"):
            provisioning.errors(company.tenant, company.directory)
        with refusal("not-found"):
            provisioning.errors(other.tenant, company.directory)
        with refusal("forbidden"):
            provisioning.record_result(other.tenant, "user", None, name="x")
    with company.acting() as host, refusal("forbidden"):
        host.provisioning.record_result(other.tenant, "user", None, name="x")


def test_lists_of_directories_have_counts_and_the_last_change(company: Company) -> None:
    with company.host.acting_as(company.owner.id):
        (directory,) = company.host.provisioning.directories(company.tenant).items
    assert directory.last_changed_at is None
    ann = company.provision()
    with company.acting() as host:
        host.provisioning.provision_group(company.tenant, GroupRecord("Sales", member_ids={ann.id}))
        assert host.provisioning.directory(company.tenant).counts is None
    refuse(company, "ben")
    with company.host.acting_as(company.owner.id):
        (directory,) = company.host.provisioning.directories(company.tenant).items
    counts = directory.counts
    assert counts is not None
    assert (counts.users, counts.groups, counts.errors) == (1, 1, 1)
    assert directory.last_changed_at == company.api.clock.now()


def test_what_is_the_same_leaves_the_version_and_the_audit_log(company: Company) -> None:
    user = company.provision(external_id="e1", profile={"title": "CEO"})
    record = UserRecord(user.login_name, "Ann", "e1", "ann@acme.example", profile={"title": "CEO"})
    with company.acting() as host:
        provisioning = host.provisioning
        group = provisioning.provision_group(company.tenant, GroupRecord("Sales", "g1", {user.id}))
        company.api.clock.advance(DAY)
        assert provisioning.change_user(company.tenant, user.id, record) == user
        for members in ({user.id}, None):
            same = GroupRecord("Sales", "g1", members)
            assert provisioning.change_group(company.tenant, group.id, same) == group
        changed = provisioning.change_group(company.tenant, group.id, GroupRecord("Sales", "g2"))
        assert changed.version != group.version
        changed = provisioning.change_group(company.tenant, group.id, GroupRecord("S", "g2", set()))
        assert provisioning.group_members(company.tenant, group.id) == []


# Attacks.


def another_user(company: Company) -> str:
    return company.api.person().id


def users_of_another_directory(company: Company) -> str:
    return Company.made(company.api).provision("carl@other.example").id


def user_of_another_directory_of_the_tenant(company: Company) -> str:
    return Company.of_tenant(company.api, company.owner, company.path).provision("dan@acme.example").id


@pytest.mark.parametrize(
    "make",
    [another_user, users_of_another_directory, user_of_another_directory_of_the_tenant],
)
def test_a_directory_reaches_no_user_of_others(company: Company, make: Callable[[Company], str]) -> None:
    user = make(company)
    record = UserRecord("x", "X", is_active=False)
    with company.acting() as host:
        provisioning = host.provisioning
        assert provisioning.users(company.tenant, user_id=user) == (0, [])
        with refusal("not-found"):
            provisioning.user(company.tenant, user)
        with refusal("not-found"):
            provisioning.change_user(company.tenant, user, record)
        with refusal("not-found"):
            provisioning.remove_user(company.tenant, user)
        with refusal("not-a-member"):
            provisioning.provision_group(company.tenant, GroupRecord("G", member_ids={user}))


def test_a_directory_takes_no_address_and_no_id(company: Company, api: Api) -> None:
    holder = api.person()
    with refusal("credential-taken"):
        company.provision("x@acme.example", email=holder.email)
    user = company.provision()
    with refusal("credential-taken"):
        company.change(user, email=holder.email.upper())
    with refusal("credential-taken"):
        company.provision(user.login_name.upper(), email="y@acme.example")
    company.provision("z@acme.example", external_id="z")
    with refusal("credential-taken"):
        company.change(user, external_id="z")
    assert api.get("/users/me", by=holder).json["email"] == holder.email


def test_only_an_registered_account_provisions(company: Company, api: Api) -> None:
    other = Company.made(api)
    record = UserRecord("x", "X")
    with company.acting() as host:
        with refusal("forbidden"):
            host.provisioning.provision_user(other.tenant, record)
        with refusal("forbidden"):
            host.provisioning.provision_user(None, record)
    with company.host.acting_as(company.owner.id), refusal("forbidden"):
        company.host.provisioning.provision_user(company.tenant, record)
    with company.host.acting_as(company.owner.id):
        company.host.provisioning.remove_directory(company.tenant, company.directory)
    with company.acting() as host, refusal("forbidden"):
        host.provisioning.directory(company.tenant)


def test_a_directory_that_may_only_read_changes_nothing(api: Api) -> None:
    company = Company.made(api, may_write=False)
    with company.acting() as host:
        assert host.provisioning.users(company.tenant) == (0, [])
        with refusal("forbidden"):
            host.provisioning.provision_user(company.tenant, UserRecord("x", "X"))


def test_only_administrators_register_and_only_their_accounts(company: Company, api: Api) -> None:
    stranger, other = api.person(), Company.made(api)
    provisioning = company.host.provisioning
    with company.host.acting_as(stranger.id), refusal("forbidden"):
        provisioning.register_directory(company.tenant, "X", company.account)
    with company.host.acting_as(company.owner.id):
        for account in (other.account, stranger.id, company.owner.id, UNKNOWN, company.account):
            with refusal("validation-failed"):
                provisioning.register_directory(company.tenant, "X", account)
        with refusal("forbidden"):
            provisioning.register_directory(None, "X", company.account)
        with refusal("not-a-member"):
            provisioning.change_directory(
                company.tenant, company.directory, "X", company.account, successor_id=stranger.id
            )
        with refusal("not-found"):
            provisioning.remove_directory(company.tenant, other.directory)
        assert provisioning.directories(company.tenant).total == 1


def test_another_account_takes_over_what_a_directory_has_created(company: Company) -> None:
    user, api = company.provision(), company.api
    accounts = f"{company.path}/service-accounts"
    api.delete(f"{accounts}/{company.account}", by=company.owner)
    with company.host.acting_as(company.owner.id):
        (directory,) = company.host.provisioning.directories(company.tenant).items
        assert directory.account_id is None
        successor = api.post(accounts, {"name": "New"}, by=company.owner).json["id"]
        company.host.provisioning.change_directory(company.tenant, company.directory, "Acme", successor)
    body = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
    key = api.post(f"{accounts}/{successor}/access-keys", body, by=company.owner).json["key"]
    with company.acting(key) as host:
        assert host.provisioning.user(company.tenant, user.id).id == user.id


def test_a_key_of_a_directory_opens_nothing_else(company: Company, api: Api) -> None:
    robot = replace(company.owner, token=company.key)
    company.provision()
    for method, path in (
        ("GET", "/users"),
        ("POST", "/users"),
        ("GET", f"/users/{company.owner.id}"),
        ("DELETE", f"/users/{company.owner.id}"),
        ("GET", f"{company.path}/members"),
        ("GET", company.path),
    ):
        answer = api.request(method, path, by=robot)
        assert answer.status_code == 403, (method, path, answer.text)


def test_a_person_gets_no_such_key_for_a_tenant(company: Company, api: Api) -> None:
    body = {
        "name": "key",
        "scopes": ["users:write"],
        "tenantId": company.tenant,
        "currentPassword": PASSWORD,
    }
    answer = api.post("/users/me/access-keys", body, by=company.owner)
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
