"""``host.server`` shows administrators the state of the server, without secrets and in limited time."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from sqlalchemy import text
from tests.support.api import Api, Person
from tests.support.databases import on_postgresql

from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.assembly.plugin_host import acting
from strongroom.assembly.plugin_host.server import HostServer
from strongroom.content.storage.service import BlobService
from strongroom.extensions.audit_exports.stepwise import StepwiseVerification
from strongroom.foundation.caller import Identity
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.server import ServerAPI
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom.plugin_api.web import ApiError

SECRET = "planted-secret"

CONFIG = {
    "redis": {"url": ""},
    "limits": {"login_per_address": ["7/hour"]},
    "tracing": {"authorization": f"Bearer {SECRET}"},
}

pytestmark = pytest.mark.config(CONFIG)

CALLS: dict[str, Callable[[ServerAPI], object]] = {
    "info": lambda server: server.info(),
    "settings": lambda server: server.settings(),
    "findings": lambda server: server.findings(),
    "storages": lambda server: server.storages(),
    "test_storage": lambda server: server.test_storage("main"),
    "plugins": lambda server: server.plugins(),
    "jobs": lambda server: server.jobs(),
    "limits": lambda server: server.limits(),
    "messages": lambda server: server.messages(),
    "audit_chain": lambda server: server.audit_chain(),
}
each_call = pytest.mark.parametrize("name", CALLS)


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@pytest.fixture
def server(api: Api, host: HostAPI) -> Iterator[ServerAPI]:
    """The API, as an administrator."""
    with host.acting_as(api.person(admin=True).id):
        yield host.server


@contextmanager
def request(api: Api, host: HostAPI, token: str) -> Iterator[None]:
    with api.app.test_request_context("/", headers={"Authorization": f"Bearer {token}"}):
        host.authenticate(scope="users:read")
        yield


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(ApiError) as raised:
        call()
    return raised.value.code


@each_call
def test_each_method_needs_an_administrator(api: Api, host: HostAPI, name: str) -> None:
    person = api.person()
    assert refusal(lambda: CALLS[name](host.server)) == "error.token-required"
    with host.acting_as(person.id):
        assert refusal(lambda: CALLS[name](host.server)) == "error.forbidden"
    with host.acting_as(api.person(admin=True).id):
        CALLS[name](host.server)


def test_access_keys_are_refused(api: Api, host: HostAPI) -> None:
    admin = api.person(admin=True)
    body = {"name": "monitor", "scopes": ["users:read", "audit:read"]}
    key = api.post("/users/me/access-keys", body, by=admin).json["key"]
    with request(api, host, key):
        assert refusal(host.server.info) == "error.key-not-accepted"


def test_impersonated_administrators_are_refused(api: Api, host: HostAPI) -> None:
    root, other = api.person(admin=True), api.person(admin=True)
    impersonated = Identity(other.id, "ADMIN", "", actor_id=root.id)
    token = acting._acting.set(impersonated)
    try:
        for call in CALLS.values():
            assert refusal(partial(call, host.server)) == "error.impersonation-refused"
    finally:
        acting._acting.reset(token)


def test_a_storage_of_another_database_is_not_written_to(
    api: Api, server: ServerAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    ownership = api.container.get(BlobService).ownership
    monkeypatch.setattr(ownership, "examine", lambda *_: "belongs to another database")
    backend = api.container.get(BlobService).storages["main"].backend
    monkeypatch.setattr(backend, "put", lambda *_, **__: pytest.fail("was written to"))
    assert server.test_storage("main").fault == "belongs to another database"


def test_no_result_has_a_secret(server: ServerAPI) -> None:
    for call in CALLS.values():
        assert SECRET not in repr(call(server))
    value = next(item for item in server.settings() if item.key == "tracing.authorization")
    assert (value.value, value.is_changed) == ('"..."', True)


def test_the_size_and_the_version_are_known(api: Api, server: ServerAPI) -> None:
    info = server.info()
    assert (info.users, info.tenants, info.stored_bytes) == (1, 0, 0)
    assert info.database == api.container.database.engine.dialect.name


def test_a_setting_has_its_origin_and_whether_it_is_changed(server: ServerAPI) -> None:
    settings = {item.key: item for item in server.settings()}
    assert settings["limits.login_per_address"].value == '["7/hour"]'
    assert settings["limits.login_per_address"].is_changed
    assert settings["server.host"].origin == "default"
    assert settings["storages.main.root"].help
    (limit,) = [item for item in server.limits() if item.name == "login_per_address"]
    assert (list(limit.rates), limit.is_changed) == (["7/hour"], True)


def test_plugins_and_jobs_are_listed(server: ServerAPI) -> None:
    plugins = {plugin.name: plugin for plugin in server.plugins()}
    assert plugins["storage_local"].provides == ["storage local"]
    assert [item.key for item in plugins["storage_local"].options][:1] == ["storages.main.root"]
    assert plugins["webhooks"].is_enabled is False
    jobs = {job.name: job for job in server.jobs()}
    assert jobs["core.prune"].every_seconds == 86_400


def test_a_storage_is_tested_and_its_content_counted(
    api: Api, server: ServerAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = api.person()
    api.upload(api.tenant(owner), owner, "a.txt", b"12345")
    (storage,) = server.storages()
    assert (storage.name, storage.backend, storage.is_target) == ("main", "local", True)
    assert (storage.files, storage.size) == (1, 5)
    assert server.test_storage("main").fault is None
    assert refusal(lambda: server.test_storage("other")) == "error.not-found"
    backend = api.container.get(BlobService).storages["main"].backend

    def refuse(*_: object, **__: object) -> None:
        raise StorageUnavailable(f"example.com refuses Bearer {SECRET}")

    monkeypatch.setattr(backend, "put", refuse)
    server.findings(since=api.clock.now())
    fault = server.test_storage("main").fault
    assert fault == "is unavailable: example.com refuses ..."
    assert SECRET not in repr(server.findings())


def test_a_storage_that_hangs_delays_nothing_for_long(
    api: Api, server: ServerAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    backend = api.container.get(BlobService).storages["main"].backend
    monkeypatch.setattr(backend, "put", lambda *_, **__: release.wait(60))
    monkeypatch.setattr(HostServer, "patience", 0.1)
    try:
        findings = {finding.part: finding for finding in server.findings().findings}
        assert findings["storages.main"].message == "does not respond"
        assert findings["storages.main"].state == "failed"
    finally:
        release.set()


@on_postgresql
def test_a_table_that_is_locked_delays_nothing_for_long(
    api: Api, server: ServerAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HostServer, "patience", 0.3)
    with api.container.database.write() as connection:
        connection.execute(text("LOCK TABLE blobs, tenants, jobs IN ACCESS EXCLUSIVE MODE"))
        assert [storage.files for storage in server.storages()] == [None]
        assert server.info().tenants is None
        findings = {finding.part: finding.message for finding in server.findings().findings}
        assert findings["jobs"] == "does not respond"
        assert findings["database.url"] == "postgresql is available"


def test_an_examination_is_remembered_for_a_minute(api: Api, server: ServerAPI) -> None:
    first = server.findings().examined_at
    api.clock.advance(59_000)
    assert server.findings().examined_at == first
    assert server.findings(since=first + 1).examined_at == first + 59_000
    assert server.findings().examined_at == first + 59_000


def test_messages_have_masked_recipients(api: Api, server: ServerAPI) -> None:
    person = api.person()
    api.request_code(person.email, "reset-password")
    (message, *_) = server.messages(size=1)
    assert "•••" in message.recipient
    assert person.email.partition("@")[0] not in message.recipient


def test_the_chain_is_verified_up_to_a_changed_record(api: Api, server: ServerAPI) -> None:
    chain = server.audit_chain()
    assert chain.is_complete
    assert chain.through == chain.newest > 0
    with api.container.database.write() as connection:
        connection.execute(text("UPDATE audit_events SET action = 'forged' WHERE sequence = 2"))
    chain = server.audit_chain()
    assert (chain.is_complete, chain.broken, chain.through) == (False, 2, 1)


def test_a_verification_does_not_wait_for_others_for_long(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StepwiseVerification, "patience", 0.05)
    verification = StepwiseVerification(api.container.get(AuditVerifier), api.clock)
    refusals: list[str] = []

    def verify_again() -> float:
        thread = threading.Thread(target=lambda: refusals.append(refusal(verification.step)))
        thread.start()
        thread.join()
        return 0

    verification._now = verify_again
    api.person()
    verification.step()
    assert refusals[0] == "error.unavailable"


def test_a_long_chain_is_verified_in_several_calls(api: Api) -> None:
    person: Person = api.person()
    api.tenant(person)
    ticks = iter(range(1000))
    verification = StepwiseVerification(
        api.container.get(AuditVerifier), api.clock, now=lambda: float(next(ticks))
    )
    steps = [verification.step()]
    while steps[-1].through < steps[-1].newest:
        steps.append(verification.step())
        assert steps[-1].through > steps[-2].through
    assert len(steps) > 1
    assert verification.step().through < steps[-1].newest
