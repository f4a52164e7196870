"""Contracts of what the host does for plugins: leases, values, logins, files, tenants and people.

A plugin that depends on them runs them against the version of the server that it is installed with::

    @pytest.fixture
    def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
        with opened_plugin(tmp_path, "acme") as opened:
            yield opened

    class TestLeases(LeasesContract):
        pass
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from typing import Any, TypeVar
from uuid import uuid4

import pytest

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.login import Credential, VerifiedCredential
from strongroom.plugin_api.provisioning import (
    GroupRecord,
    ProvisionedUserInfo,
    ProvisioningAPI,
    RefusedRequest,
    UserRecord,
)
from strongroom.plugin_api.state import ValueStore
from strongroom.plugin_api.web import ApiError
from strongroom.testing.state import OpenedPlugin

T = TypeVar("T")

_THREADS = 16


class LeasesContract:
    """The rules of ``host.leases``. Requires a fixture ``opened``."""

    def test_of_many_threads_one_acquires_a_name(self, opened: OpenedPlugin) -> None:
        leases = _at_once(lambda: opened.host.leases.acquire("import", 60))
        assert len([lease for lease in leases if lease]) == 1

    def test_a_lease_ends_with_its_time(self, opened: OpenedPlugin) -> None:
        leases = opened.host.leases
        lease = leases.acquire("import", 60)
        assert lease
        opened.clock.advance(59_999)
        assert leases.acquire("import", 60) is None
        opened.clock.advance(1)
        assert leases.renew(lease.id, 60) is None
        assert leases.acquire("import", 60)

    def test_a_renewed_lease_lasts_longer_and_a_released_one_ends(self, opened: OpenedPlugin) -> None:
        leases = opened.host.leases
        lease = leases.acquire("import", 60)
        assert lease
        renewed = leases.renew(lease.id, 120)
        assert renewed
        assert renewed.expires_at == opened.clock.now() + 120_000
        assert leases.release(lease.id)
        assert not leases.release(lease.id)
        assert leases.acquire("import", 60)

    def test_shared_leases_exclude_only_others(self, opened: OpenedPlugin) -> None:
        leases = opened.host.leases
        assert leases.acquire("folder", 60, shared=True)
        assert leases.acquire("folder", 60, shared=True)
        assert leases.acquire("folder", 60) is None
        assert leases.acquire("another folder", 60)

    @pytest.mark.parametrize(
        ("name", "seconds"), [("", 60), ("x" * 256, 60), ("a\0", 60), ("a", 0), ("a", 10**9)]
    )
    def test_odd_arguments_are_refused(self, opened: OpenedPlugin, name: str, seconds: int) -> None:
        with pytest.raises(ValueError, match=r" has | lasts "):
            opened.host.leases.acquire(name, seconds)


def _at_once(call: Callable[[], T]) -> list[T]:
    start = threading.Barrier(_THREADS)

    def run(_: int) -> T:
        start.wait(60)
        return call()

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(run, range(_THREADS)))


class ValuesContract:
    """The rules of ``host.values``. Requires a fixture ``opened``."""

    @pytest.fixture
    def values(self, opened: OpenedPlugin) -> ValueStore:
        """The shared values of the plugin."""
        return opened.host.values

    def test_json_is_stored_and_deleted(self, values: ValueStore) -> None:
        assert values.get("token") is None
        examples: list[object] = [{"a": [1, 2.5, None, True]}, "text €", 0, False, [], ""]
        for value in examples:
            values.put("token", value)
            assert values.get("token") == value
        assert values.delete("token")
        assert not values.delete("token")
        assert values.get("token") is None

    def test_a_value_ends_with_its_time(self, opened: OpenedPlugin, values: ValueStore) -> None:
        end = opened.clock.now() + 60_000
        values.put("token", "first", expires_at=end)
        opened.clock.advance(59_999)
        assert values.get("token") == "first"
        opened.clock.advance(1)
        assert values.get("token") is None
        assert not values.compare_and_set("token", "first", "other")
        assert values.compare_and_set("token", None, "second", expires_at=end + 1)
        assert values.get("token") == "second"
        opened.clock.advance(1)
        assert not values.delete("token")

    def test_a_value_without_an_end_stays(self, opened: OpenedPlugin, values: ValueStore) -> None:
        values.put("token", "first", expires_at=opened.clock.now() + 1)
        values.put("token", "second")
        opened.clock.advance(10**12)
        assert values.get("token") == "second"

    @pytest.mark.parametrize(
        ("expected", "value", "is_stored", "after"),
        [(None, 2, False, 1), (1, 2, True, 2), (True, 2, False, 1), (1, None, True, None)],
    )
    def test_a_value_is_compared_before_it_is_replaced(
        self, values: ValueStore, expected: object, value: object, is_stored: bool, after: object
    ) -> None:
        assert values.compare_and_set("count", None, 1)
        assert values.compare_and_set("count", expected, value) is is_stored
        assert values.get("count") == after

    def test_of_many_threads_with_one_expectation_one_succeeds(self, values: ValueStore) -> None:
        assert _at_once(lambda: values.compare_and_set("count", None, 1)).count(True) == 1
        assert _at_once(lambda: values.compare_and_set("count", 1, 2)).count(True) == 1

    @pytest.mark.parametrize(
        ("key", "value"), [("", 1), ("x" * 256, 1), ("a\0", 1), ("a", None), ("a", "x" * (64 * 1024))]
    )
    def test_odd_arguments_are_refused(self, values: ValueStore, key: str, value: object) -> None:
        with pytest.raises(ValueError, match=r"key|value"):
            values.put(key, value)


class LoginsContract:
    """The rules of ``host.logins``. Requires a fixture ``opened``."""

    def test_the_logins_of_a_credential_or_of_its_session_end(self, opened: OpenedPlugin) -> None:
        logins, user = opened.host.logins, opened.create_user()
        credential = Credential("acme", "ann")

        def log_in(session: str | None) -> str:
            return opened.begin_login(user, "acme", VerifiedCredential(credential, session=session))

        first, second, third = log_in("a"), log_in("b"), log_in(None)
        assert logins.end(credential, session="a") == 1
        assert [opened.is_valid(token) for token in (first, second, third)] == [False, True, True]
        assert logins.end_session("other", "b") == 0
        assert logins.end_session("acme", "b") == 1
        assert [opened.is_valid(token) for token in (second, third)] == [False, True]
        assert logins.end(credential) == 1
        assert not opened.is_valid(third)

    def test_live_credentials_are_listed_and_suspended(self, opened: OpenedPlugin) -> None:
        logins, tokens = opened.host.logins, {}
        for name in ("bob", "ann"):
            verified = VerifiedCredential(Credential("acme", name))
            tokens[name] = opened.begin_login(opened.create_user(name), "acme", verified)
        values = [live.credential.value for live in logins.credentials("acme")]
        assert values == ["ann", "bob"]
        assert [live.credential.value for live in logins.credentials("acme", after="ann")] == ["bob"]
        assert logins.suspend(Credential("acme", "ann"), reason="left")
        assert not logins.suspend(Credential("acme", "ann"), reason="left")
        assert not opened.is_valid(tokens["ann"])
        assert [live.credential.value for live in logins.credentials("acme")] == ["bob"]


class FileSinkContract:
    """The rules of ``host.files.writing``. Requires a fixture ``opened``."""

    @pytest.fixture
    def tenant(self, opened: OpenedPlugin) -> Iterator[str]:
        """A tenant of the user that the plugin acts as."""
        user = opened.create_user()
        with opened.host.acting_as(user):
            yield opened.create_tenant(user)

    def test_what_a_block_writes_is_a_file(self, opened: OpenedPlugin, tenant: str) -> None:
        files = opened.host.files
        with files.writing(tenant, None, "a.txt") as sink:
            assert sink.write(b"one ") == 4
            sink.write(b"two")
            assert files.list(tenant, None).total == 0
        with files.open(tenant, sink.file.id) as chunks:
            assert b"".join(chunks) == b"one two"

    def test_a_block_that_raises_stores_nothing(self, opened: OpenedPlugin, tenant: str) -> None:
        files = opened.host.files
        with suppress(KeyError), files.writing(tenant, None, "a.txt", size=3) as sink:
            sink.write(b"all")
            raise KeyError
        assert files.list(tenant, None).total == 0

    def test_a_taken_name_is_refused_before_the_block(self, opened: OpenedPlugin, tenant: str) -> None:
        with opened.host.files.writing(tenant, None, "a.txt"):
            pass
        with _error("name-conflict"), opened.host.files.writing(tenant, None, "a.txt"):
            pytest.fail("the name is taken")


class FileLocksContract:
    """The rules of the locks of ``host.files``. Requires a fixture ``opened``."""

    @pytest.fixture
    def file(self, opened: OpenedPlugin) -> Iterator[FileInfo]:
        """A file of the user that the plugin acts as."""
        user = opened.create_user()
        with opened.host.acting_as(user):
            yield opened.host.files.upload(opened.create_tenant(user), None, "a.txt", BytesIO(b"1"))

    def test_changes_present_the_lock(self, opened: OpenedPlugin, file: FileInfo) -> None:
        files = opened.host.files
        lock = files.lock(file.tenant_id, file.id, 60, note="a program")
        assert files.locks(file.tenant_id, [file.id]) == {file.id: [lock]}
        for presented in ((), ("other",)):
            with _error("file-locked"), files.presenting(presented):
                files.move(file.tenant_id, file.id, name="b.txt")
        with files.presenting([lock.id]):
            assert files.move(file.tenant_id, file.id, name="b.txt").name == "b.txt"
        with _error("file-locked"):
            files.delete(file.tenant_id, file.id)
        files.unlock(file.tenant_id, file.id, lock.id)
        files.delete(file.tenant_id, file.id)

    def test_a_lock_ends_with_its_time_unless_it_is_renewed(
        self, opened: OpenedPlugin, file: FileInfo
    ) -> None:
        files = opened.host.files
        lock = files.lock(file.tenant_id, file.id, 60)
        renewed = files.renew_lock(file.tenant_id, file.id, lock.id, 120)
        assert renewed.expires_at == opened.clock.now() + 120_000
        opened.clock.advance(120_000)
        assert files.locks(file.tenant_id, [file.id]) == {}
        with _error("not-found"):
            files.renew_lock(file.tenant_id, file.id, lock.id, 60)
        files.move(file.tenant_id, file.id, name="b.txt")

    def test_an_announced_id_is_used_once(self, opened: OpenedPlugin, file: FileInfo) -> None:
        files, id_ = opened.host.files, str(uuid4())
        assert files.lock(file.tenant_id, file.id, 60, shared=True, lock_id=id_).id == id_
        with _error("file-locked"):
            files.lock(file.tenant_id, file.id, 60, shared=True, lock_id=id_)

    @pytest.mark.parametrize(
        "arguments", [{"seconds": 0}, {"seconds": 10**9}, {"note": "x" * 1025}, {"lock_id": "x"}]
    )
    def test_odd_arguments_are_refused(
        self, opened: OpenedPlugin, file: FileInfo, arguments: dict[str, Any]
    ) -> None:
        with pytest.raises(ValueError, match=r"\w"):
            opened.host.files.lock(file.tenant_id, file.id, **{"seconds": 60, **arguments})

    def test_others_see_no_locks(self, opened: OpenedPlugin, file: FileInfo) -> None:
        opened.host.files.lock(file.tenant_id, file.id, 60)
        with opened.host.acting_as(opened.create_user("Eve")):
            assert opened.host.files.locks(file.tenant_id, [file.id]) == {}


class TenantWritesContract:
    """The rules of the methods of ``host.tenants`` that change something. Requires ``opened``."""

    def test_administrators_change_their_tenant_and_others_do_not(self, opened: OpenedPlugin) -> None:
        host, (alice, bob) = opened.host, (opened.create_user(), opened.create_user("Bob"))
        tenant = opened.create_tenant(alice)
        with host.acting_as(alice):
            assert host.tenants.put_member(tenant, bob).role == "member"
        with host.acting_as(bob), _error("forbidden"):
            host.tenants.put_member(tenant, bob, "admin")
        with host.acting_as(alice):
            host.tenants.remove_member(tenant, bob)
            assert [member.user_id for member in host.tenants.members(tenant).items] == [alice]

    def test_groups_have_members_of_their_tenant(self, opened: OpenedPlugin) -> None:
        host, (alice, bob) = opened.host, (opened.create_user(), opened.create_user("Bob"))
        tenant = opened.create_tenant(alice)
        with host.acting_as(alice):
            group = opened.create_group(tenant, "Sales", alice)
            with _error("not-a-member"):
                host.tenants.put_group_member(tenant, group, bob)
            host.tenants.put_member(tenant, bob)
            assert host.tenants.put_group_member(tenant, group, bob).user_id == bob
            assert host.tenants.groups(tenant, user_id=bob).total == 1
            host.tenants.remove_group_member(tenant, group, bob)
            assert host.tenants.groups(tenant, user_id=bob).total == 0


class UserWritesContract:
    """The rules of the methods of ``host.users`` that change something. Requires ``opened``."""

    def test_an_administrator_manages_users_and_others_do_not(self, opened: OpenedPlugin) -> None:
        users = opened.host.users
        with opened.host.acting_as(opened.create_user("Root", admin=True)):
            ada = users.create("Ada", email="ada@example.com", external_id="hr-1")
            assert users.find(external_id="hr-1") == ada
            assert users.find(email="ADA@example.com") == ada
            assert users.find(username="ada") is None
            changed = users.update(ada.id, name="Ada King", locale="en")
            assert (changed.name, changed.locale, changed.external_id) == ("Ada King", "en", "hr-1")
            assert users.suspend(ada.id).status == "suspended"
            assert [user.id for user in users.list(status="suspended").items] == [ada.id]
            assert users.reinstate(ada.id).status == "active"
        with opened.host.acting_as(ada.id):
            assert users.update(ada.id, name="Ada").name == "Ada"
            for call in (users.list, lambda: users.create("Eve", username="eve")):
                with _error("forbidden"):
                    call()
        with opened.host.acting_as(opened.create_user("Root", admin=True)):
            users.delete(ada.id)
            assert users.find(external_id="hr-1") is None


class ProvisioningContract:
    """The rules of ``host.provisioning``. Requires a fixture ``opened``."""

    @pytest.fixture
    def administrator(self, opened: OpenedPlugin) -> str:
        """An administrator of the tenant."""
        return opened.create_user()

    @pytest.fixture
    def tenant(self, opened: OpenedPlugin, administrator: str) -> str:
        """A tenant with a directory."""
        return opened.create_tenant(administrator)

    @pytest.fixture
    def provisioning(
        self, opened: OpenedPlugin, administrator: str, tenant: str
    ) -> Iterator[ProvisioningAPI]:
        """The methods, for the directory of the tenant as the caller."""
        account = opened.create_directory(tenant, administrator)
        with opened.acting_as_directory(tenant, account):
            yield opened.host.provisioning

    def test_a_user_is_created_once_and_found_by_each_name(
        self, provisioning: ProvisioningAPI, tenant: str
    ) -> None:
        user, is_new = provisioning.provision_user(tenant, _ANN)
        assert is_new
        assert provisioning.provision_user(tenant, _ANN) == (user, False)
        assert provisioning.user(tenant, user.id) == user
        lookups: tuple[dict[str, Any], ...] = (
            {"login_name": "ANN@acme.example"},
            {"external_id": "e1"},
            {"email": "Ann@acme.example"},
        )
        for chosen in lookups:
            assert provisioning.users(tenant, **chosen) == (1, [user])
        assert provisioning.users(tenant, external_id="E1") == (0, [])

    def test_what_others_have_is_refused(
        self, opened: OpenedPlugin, provisioning: ProvisioningAPI, tenant: str
    ) -> None:
        provisioning.provision_user(tenant, _ANN)
        opened.create_user("Eve", contact=Credential("email", "eve@acme.example"))
        for record in (
            replace(_ANN, external_id="e2"),
            replace(_ANN, login_name="another", external_id="e2", email="eve@acme.example"),
            replace(_ANN, login_name="ANN@ACME.EXAMPLE", external_id="e2", email=None),
        ):
            with _error("credential-taken"):
                provisioning.provision_user(tenant, record)

    def test_other_users_do_not_exist(
        self, opened: OpenedPlugin, provisioning: ProvisioningAPI, tenant: str, administrator: str
    ) -> None:
        for user in (administrator, opened.create_user("Eve"), str(uuid4())):
            with _error("not-found"):
                provisioning.user(tenant, user)
            with _error("not-found"):
                provisioning.change_user(tenant, user, _ANN)
            with _error("not-found"):
                provisioning.remove_user(tenant, user)
            with _error("not-a-member"):
                provisioning.provision_group(tenant, GroupRecord("Sales", member_ids={user}))

    def test_versions_change_with_what_is_said(
        self, provisioning: ProvisioningAPI, tenant: str, ann: ProvisionedUserInfo
    ) -> None:
        assert provisioning.change_user(tenant, ann.id, _ANN).version == ann.version
        changed = provisioning.change_user(tenant, ann.id, replace(_ANN, name="Ann King"))
        assert (changed.name, changed.version != ann.version) == ("Ann King", True)
        with _error("revision-conflict"):
            provisioning.change_user(tenant, ann.id, _ANN, version=ann.version)

    def test_a_user_who_is_not_active_leaves_and_returns(
        self, provisioning: ProvisioningAPI, tenant: str, ann: ProvisionedUserInfo
    ) -> None:
        group = provisioning.provision_group(tenant, GroupRecord("Sales", member_ids={ann.id}))
        assert not provisioning.change_user(tenant, ann.id, replace(_ANN, is_active=False)).is_active
        assert provisioning.group_members(tenant, group.id) == []
        assert provisioning.users(tenant)[0] == 1
        assert provisioning.change_user(tenant, ann.id, _ANN).is_active
        provisioning.remove_user(tenant, ann.id)
        assert provisioning.users(tenant) == (0, [])

    def test_groups_have_members_of_the_directory(
        self, provisioning: ProvisioningAPI, tenant: str, ann: ProvisionedUserInfo
    ) -> None:
        group = provisioning.provision_group(tenant, GroupRecord("Sales", "g1", {ann.id}))
        assert [item.id for item in provisioning.group_members(tenant, group.id)] == [ann.id]
        assert provisioning.groups(tenant, member_id=ann.id) == (1, [group])
        of_users = provisioning.groups_of_users(tenant, [ann.id])
        assert [item.name for item in of_users[ann.id]] == ["Sales"]
        same = provisioning.change_group(tenant, group.id, GroupRecord("Sales", "g1"))
        assert same.version == group.version
        provisioning.change_group_members(tenant, group.id, removed=[ann.id, str(uuid4())])
        assert provisioning.group_members(tenant, group.id) == []
        provisioning.change_group_members(tenant, group.id, added=[ann.id])
        assert (
            provisioning.change_group_members(tenant, group.id, added=[ann.id]).version != same.version
        )
        changed = provisioning.change_group(tenant, group.id, GroupRecord("Sales", "g1", ()))
        assert changed.version != group.version
        with _error("group-name-taken"):
            provisioning.provision_group(tenant, GroupRecord("Other", "g1"))
        provisioning.remove_group(tenant, group.id)
        with _error("not-found"):
            provisioning.group(tenant, group.id)

    def test_errors_stay_until_a_success(
        self, opened: OpenedPlugin, provisioning: ProvisioningAPI, tenant: str, administrator: str
    ) -> None:
        refused = RefusedRequest(409, "uniqueness", "Taken.")
        provisioning.record_result(tenant, "user", refused, name="Ben")
        provisioning.record_result(tenant, "user", refused, name="ben")
        directory = provisioning.directory(tenant)
        with opened.host.acting_as(administrator):
            (error,) = provisioning.errors(tenant, directory.id).items
            assert (error.name, error.status, error.code, error.count) == ("ben", 409, "uniqueness", 2)
            (listed,) = provisioning.directories(tenant).items
            assert listed.counts is not None
            assert listed.counts.errors == 1
        provisioning.record_result(tenant, "user", None, name="BEN")
        with opened.host.acting_as(administrator):
            assert provisioning.errors(tenant, directory.id).total == 0

    def test_only_a_registered_account_provisions(
        self, opened: OpenedPlugin, tenant: str, administrator: str
    ) -> None:
        provisioning = opened.host.provisioning
        with opened.host.acting_as(administrator), _error("forbidden"):
            provisioning.provision_user(tenant, _ANN)
        other = opened.create_tenant(opened.create_user("Eve"))
        reader = opened.create_directory(tenant, administrator, may_write=False)
        with opened.acting_as_directory(tenant, reader):
            assert provisioning.users(tenant) == (0, [])
            with _error("forbidden"):
                provisioning.provision_user(tenant, _ANN)
            with _error("forbidden"):
                provisioning.users(other)

    @pytest.fixture
    def ann(self, provisioning: ProvisioningAPI, tenant: str) -> ProvisionedUserInfo:
        """A user of the directory."""
        return provisioning.provision_user(tenant, _ANN)[0]


_ANN = UserRecord("ann@acme.example", "Ann", "e1", "ann@acme.example")


@contextmanager
def _error(code: str) -> Iterator[None]:
    with pytest.raises(ApiError) as raised:
        yield
    assert raised.value.code == f"error.{code}"
