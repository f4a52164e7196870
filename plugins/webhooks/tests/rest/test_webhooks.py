"""The REST API of webhooks: who may manage which endpoints, and what the answers contain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import update
from tests.support.api import Answer, Api, Json, Person, error_code
from tests.support.config import Table
from tests.support.outbox import messages_in
from tests.support.receiver import Receiver, receiving, says

from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.upgrade import upgrade
from strongroom.identity.users.models import users
from strongroom.plugin_api.events import Event
from strongroom.testing.clock import HOUR
from strongroom.testing.outbound import forbidden_urls, listening
from strongroom_webhooks.models import metadata
from strongroom_webhooks.plugin import register_tables
from strongroom_webhooks.service import Webhooks

ROOT = "/api/v1/webhook-endpoints"


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def config_changes(receiver: Receiver) -> Table:
    options = {
        "allow_hosts": [f"127.0.0.1:{receiver.port}"],
        "allow_http": True,
        "timeout_seconds": 60,
        "endpoints_per_tenant": 3,
    }
    return {"plugins": {"enabled": ["storage_local", "webhooks"], "webhooks": options}}


@dataclass
class Scene:
    """A tenant with two administrators and a member, and an administrator of the server."""

    api: Api
    receiver: Receiver
    root: Person
    admin: Person
    member: Person
    stranger: Person
    deputy: Person
    tenant_id: str

    def create(self, by: Person | None = None, **changes: Any) -> Json:
        created: Json = self.try_to_create(by or self.admin, **changes).json
        return created

    def try_to_create(self, by: Person, **changes: Any) -> Answer:
        body = {
            "url": self.receiver.url(),
            "eventTypes": ["file.*"],
            "tenantId": self.tenant_id,
            **changes,
        }
        return self.api.post(ROOT, body, by=by)

    def happen(self, *numbers: int) -> None:
        """Queue events, as the sink does."""
        self.host.get_service(Webhooks).queue.append([self.event(number) for number in numbers])

    def send(self) -> int:
        webhooks: Webhooks = self.host.get_service(Webhooks)
        return webhooks.sender().send_due()

    @property
    def host(self) -> Any:
        return self.api.container.hosts.get("webhooks")

    def event(self, number: int) -> Event:
        moment = self.api.clock.now()
        return Event(
            f"event-{number}", "file.created", self.tenant_id, number, "f", self.tenant_id, moment, {}
        )


@pytest.fixture
def scene(api: Api, receiver: Receiver) -> Scene:
    receiver.messages.clear()
    receiver.answers.clear()
    upgrade(api.container.database.engine, {"webhooks": register_tables()})
    root, admin, member, stranger, deputy = api.person(admin=True), *(api.person() for _ in range(4))
    tenant = api.tenant(admin)
    api.join(tenant, admin, member)
    api.join(tenant, admin, deputy, "admin")
    return Scene(api, receiver, root, admin, member, stranger, deputy, tenant.rpartition("/")[2])


def last_audit(scene: Scene, action: str) -> Json:
    """Return the newest audit record of an action."""
    found: Json = scene.api.get(f"/audit-events?action={action}", by=scene.root).json["data"][0]
    return found


def test_the_secret_is_shown_once_and_stored_encrypted(scene: Scene) -> None:
    answer = scene.try_to_create(scene.admin)
    assert answer.status_code == 201
    created = answer.json
    assert created["secret"].startswith("whsec_")
    assert created["publicKey"].startswith("whpk_")
    assert answer.headers["Location"].endswith(f"{ROOT}/{created['id']}")
    got = scene.api.get(f"{ROOT}/{created['id']}", by=scene.admin).json
    assert got == {name: value for name, value in created.items() if name not in ("secret", "publicKey")}
    with scene.host.database.read() as tx:
        (row,) = tx.all(metadata.tables["webhooks_endpoints"].select())
    assert created["secret"].removeprefix("whsec_") not in row.signing_keys
    assert created["secret"] not in row.signing_keys


def test_a_purged_tenant_leaves_no_endpoint(scene: Scene) -> None:
    api, mine = scene.api, scene.create()
    kept = scene.create(scene.root, tenantId=None, eventTypes=["tenant.*"])
    scene.happen(1)
    events = api.container.events.delivery
    api.container.register_event_sinks()
    events.deliver_all()
    assert api.delete(f"/api/v1/tenants/{scene.tenant_id}", by=scene.admin).status_code == 200
    events.deliver_all()
    # It may still be restored.
    assert api.get(f"{ROOT}/{mine['id']}", by=scene.root).status_code == 200
    api.clock.advance(365 * 24 * HOUR)
    assert api.container.get(TenantDeletion).purge(Origin()) == 1
    events.deliver_all()
    with scene.host.database.read() as tx:
        found = {row.id for row in tx.all(metadata.tables["webhooks_endpoints"].select())}
        queued = tx.all(metadata.tables["webhooks_deliveries"].select())
    assert found == {kept["id"]}
    assert [(row.endpoint_id, row.event_type) for row in queued] == [
        (kept["id"], "tenant.deleted"),
        (kept["id"], "tenant.purged"),
    ]


def test_administrators_of_the_tenant_and_of_the_server_manage_its_endpoints(scene: Scene) -> None:
    api, path = scene.api, f"{ROOT}/{scene.create()['id']}"
    assert scene.try_to_create(scene.root).status_code == 201
    for person in (scene.member, scene.stranger):
        assert scene.try_to_create(person).json["error"]["code"] == "error.webhook-endpoint-forbidden"
        assert api.get(f"{ROOT}?tenantId={scene.tenant_id}", by=person).status_code == 403
        for method, suffix, body in (
            ("GET", "", None),
            ("PATCH", "", {"revision": 1}),
            ("DELETE", "", None),
            ("POST", "/rotate-secret", {}),
            ("POST", "/test", None),
            ("POST", "/replay", {"fromSequence": 0}),
            ("GET", "/deliveries", None),
            ("POST", "/deliveries/1/redeliver", None),
        ):
            assert api.request(method, path + suffix, json=body, by=person).status_code == 404, suffix
    assert api.get(path, by=scene.root).status_code == 200
    assert api.get(path).status_code == 401
    assert api.get(f"{ROOT}/unknown", by=scene.root).status_code == 404


def test_only_administrators_of_the_server_have_endpoints_for_everything(scene: Scene) -> None:
    assert scene.try_to_create(scene.admin, tenantId=None).status_code == 403
    created = scene.create(scene.root, tenantId=None, eventTypes=["*"])
    assert created["tenantId"] is None
    assert scene.api.get(f"{ROOT}/{created['id']}", by=scene.admin).status_code == 404
    assert scene.api.get(ROOT, by=scene.admin).status_code == 403


def test_an_endpoint_belongs_to_a_tenant_that_exists(scene: Scene) -> None:
    refused = scene.try_to_create(scene.root, tenantId="0190a1b2-0000-7000-8000-000000000000")
    assert (refused.status_code, error_code(refused)) == (400, "error.webhook-tenant-unknown")
    assert [detail["field"] for detail in refused.json["error"]["details"]] == ["tenantId"]


def test_lists_are_collections(scene: Scene) -> None:
    created = [scene.create()["id"] for _ in range(3)]
    page = scene.api.get(f"{ROOT}?tenantId={scene.tenant_id}&pageSize=2", by=scene.admin).json
    assert [item["id"] for item in page["data"]] == created[:2]
    assert (page["meta"]["totalCount"], page["meta"]["pageCount"]) == (3, 2)
    assert f"tenantId={scene.tenant_id}" in page["meta"]["nextPageLink"]
    assert scene.api.get(ROOT, by=scene.root).json["meta"]["totalCount"] == 3
    assert scene.try_to_create(scene.admin).json["error"]["code"] == "error.webhook-endpoint-limit"


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        (
            {"eventTypes": ["file.created", "file.eaten"]},
            "error.webhook-event-type-unknown",
            "eventTypes",
        ),
        ({"eventTypes": []}, None, "eventTypes"),
        ({"url": "http://169.254.169.254/"}, "error.webhook-url-refused", "url"),
        ({"url": 1}, None, "url"),
        ({"secret": "mine"}, None, "secret"),
        ({"description": "x" * 256}, None, "description"),
    ],
)
def test_a_wrong_endpoint_is_refused_with_its_field(
    scene: Scene, changes: Json, code: str | None, field: str
) -> None:
    answer = scene.try_to_create(scene.admin, **changes)
    assert answer.status_code == 400
    error = answer.json["error"]
    assert error["code"] == (code or error["code"])
    assert error["details"][0]["field"].startswith(field)


def test_no_forbidden_url_is_stored_or_called(scene: Scene) -> None:
    endpoint = scene.create()
    path = f"{ROOT}/{endpoint['id']}"
    with listening() as canary:
        for forbidden in forbidden_urls():
            # http is allowed here, for the receiver of the test.
            if "hooks.example.org" in forbidden.url or forbidden.url == "http://example.org/":
                continue
            assert scene.try_to_create(scene.admin, url=forbidden.url).status_code == 400, forbidden
            change = {"url": forbidden.url, "revision": 1}
            assert scene.api.patch(path, change, by=scene.admin).status_code == 400, forbidden
        assert scene.send() == 0
    assert [item for item in canary.seen if "accepted" in item or "getaddrinfo" in item] == []


def test_changes_need_the_revision(scene: Scene) -> None:
    path = f"{ROOT}/{scene.create()['id']}"
    change = {"revision": 1, "description": "new", "eventTypes": ["*"], "ordered": False}
    changed = scene.api.patch(path, change, by=scene.admin)
    assert changed.status_code == 200
    assert (changed.json["revision"], changed.json["description"]) == (2, "new")
    assert (changed.json["eventTypes"], changed.json["ordered"]) == (["*"], False)
    for revision in (1, 2**31, 2**63, -(10**60)):
        again = scene.api.patch(path, {**change, "revision": revision}, by=scene.admin)
        assert (again.status_code, error_code(again)) == (409, "error.webhook-endpoint-conflict")


def test_a_rotated_secret_overlaps_with_the_former_one(scene: Scene) -> None:
    endpoint = scene.create()
    body = {"overlapSeconds": 60}
    new = scene.api.post(f"{ROOT}/{endpoint['id']}/rotate-secret", body, by=scene.admin).json
    assert new["secret"] != endpoint["secret"]
    scene.happen(1)
    scene.send()
    scene.api.clock.advance(60_001)
    scene.happen(2)
    scene.send()
    during, after = (message.headers["webhook-signature"] for message in scene.receiver.messages)
    assert (len(during.split()), len(after.split())) == (4, 2)


def test_a_test_message_is_sent_once_and_before_others(scene: Scene) -> None:
    endpoint = scene.create()
    path = f"{ROOT}/{endpoint['id']}"
    scene.receiver.answers["/hook"] = says(500, b"why")
    scene.happen(1)
    scene.send()
    queued = scene.api.post(f"{path}/test", by=scene.admin)
    assert (queued.status_code, queued.json["outcome"]) == (202, "pending")
    assert scene.send() == 1
    assert scene.receiver.messages[-1].json["type"] == "webhook.test"
    tested = scene.api.get(f"{path}/deliveries?outcome=failed", by=scene.admin).json["data"][0]
    assert (tested["status"], tested["answer"], tested["attempt"]) == (500, "why", 1)
    assert scene.send() == 0


def test_deliveries_are_listed_and_delivered_again(scene: Scene) -> None:
    endpoint = scene.create()
    path = f"{ROOT}/{endpoint['id']}/deliveries"
    scene.receiver.answers["/hook"] = says(200, b"ok")
    scene.happen(1, 2)
    scene.send()
    page = scene.api.get(f"{path}?outcome=succeeded", by=scene.admin).json
    newest, oldest = page["data"]
    assert (newest["eventId"], oldest["eventId"]) == ("event-2", "event-1")
    assert (oldest["sequence"], oldest["status"], oldest["answer"]) == (1, 200, "ok")
    assert oldest["durationMs"] >= 0
    assert oldest["nextAttemptAt"] is None
    assert scene.api.get(f"{path}?outcome=pending", by=scene.admin).json["data"] == []
    assert scene.api.get(f"{path}?outcome=odd", by=scene.admin).status_code == 400
    again = scene.api.post(f"{path}/{oldest['id']}/redeliver", by=scene.admin)
    assert (again.status_code, again.json["outcome"]) == (202, "pending")
    scene.send()
    assert scene.receiver.ids("/hook") == ["event-1", "event-2", "event-1"]
    assert scene.api.post(f"{path}/unknown/redeliver", by=scene.admin).status_code == 404


def test_a_disabled_endpoint_notifies_its_owner_and_resumes_when_enabled(scene: Scene) -> None:
    endpoint = scene.create()
    path = f"{ROOT}/{endpoint['id']}"
    scene.receiver.answers["/hook"] = says(410)
    scene.happen(1, 2)
    scene.send()
    got = scene.api.get(path, by=scene.admin).json
    assert (got["status"], got["reason"]) == ("disabled", "the receiver answered 410 Gone")
    message = messages_in(scene.api.container.settings.server.data_dir)[-1]
    assert message["recipient"] == scene.admin.email
    assert "webhook to 127.0.0.1 was turned off" in message["text"]
    assert scene.api.post(f"{path}/test", by=scene.admin).status_code == 409
    del scene.receiver.answers["/hook"]
    change = {"revision": got["revision"], "status": "enabled"}
    enabled = scene.api.patch(path, change, by=scene.admin).json
    assert (enabled["status"], enabled["reason"], enabled["failingSince"]) == ("enabled", None, None)
    scene.send()
    assert scene.receiver.ids("/hook") == ["event-1", "event-2"]


def test_each_change_is_recorded_in_the_audit_log(scene: Scene) -> None:
    endpoint = scene.create(url=f"{scene.receiver.url()}?token=secret")
    path = f"{ROOT}/{endpoint['id']}"
    changes: list[tuple[str, Callable[[], Answer], Json]] = [
        ("create", lambda: scene.api.get(path, by=scene.admin), {"eventTypes": "file.*"}),
        (
            "update",
            lambda: scene.api.patch(path, {"revision": 1, "description": "x"}, by=scene.admin),
            {"changed": "description"},
        ),
        ("rotate-secret", lambda: scene.api.post(f"{path}/rotate-secret", {}, by=scene.admin), {}),
        ("test", lambda: scene.api.post(f"{path}/test", by=scene.admin), {}),
        (
            "replay",
            lambda: scene.api.post(f"{path}/replay", {"fromSequence": 0}, by=scene.admin),
            {"stream": scene.tenant_id, "fromSequence": "0"},
        ),
        (
            "take-over",
            lambda: scene.api.post(f"{path}/take-over", by=scene.admin),
            {"formerOwner": scene.admin.id},
        ),
        ("delete", lambda: scene.api.delete(path, by=scene.admin), {}),
    ]
    for action, change, details in changes:
        assert change().status_code in (200, 202), action
        record = scene.api.get("/audit-events?pageSize=1", by=scene.root).json["data"][0]
        assert record["action"] == f"webhooks.endpoint-{action}"
        assert record["actor"] == {"$ref": scene.admin.id}
        assert record["target"] == {"type": "webhook-endpoint", "id": endpoint["id"]}
        about = {"tenant": scene.tenant_id, "host": "127.0.0.1"}
        assert record["details"] == {**about, **details}


def removed(scene: Scene) -> None:
    path = f"/api/v1/tenants/{scene.tenant_id}/members/{scene.admin.id}"
    assert scene.api.delete(path, by=scene.deputy).status_code == 200


def demoted(scene: Scene) -> None:
    scene.api.join(f"/api/v1/tenants/{scene.tenant_id}", scene.deputy, scene.admin, "member")


def suspended(scene: Scene) -> None:
    assert scene.api.post(f"/users/{scene.admin.id}/suspension", by=scene.root).status_code == 200


def deleted(scene: Scene) -> None:
    assert scene.api.delete(f"/users/{scene.admin.id}", by=scene.root).status_code == 200


@pytest.mark.parametrize("leaves", [removed, demoted, suspended, deleted])
def test_webhooks_stop_when_their_owner_no_longer_administers_the_tenant(
    scene: Scene, leaves: Callable[[Scene], None]
) -> None:
    endpoint = scene.create()
    path = f"{ROOT}/{endpoint['id']}"
    scene.happen(1)
    scene.send()
    # One event of before the change, and one of after it.
    scene.happen(2)
    leaves(scene)
    scene.happen(3)
    assert scene.send() == 0
    assert scene.receiver.ids("/hook") == ["event-1"]
    stopped = scene.api.get(path, by=scene.deputy).json
    assert (stopped["status"], stopped["ownerId"]) == ("disabled", scene.admin.id)
    assert stopped["reason"] == "its owner no longer administers what it covers"
    assert last_audit(scene, "webhooks.endpoint-stop")["details"]["owner"] == scene.admin.id
    # Nobody else's rights make it send again, until an administrator takes it over.
    enable = {"status": "enabled", "revision": stopped["revision"]}
    refused = scene.api.patch(path, enable, by=scene.deputy)
    assert (refused.status_code, error_code(refused)) == (409, "error.webhook-endpoint-ownerless")
    assert scene.api.post(f"{path}/take-over", by=scene.member).status_code == 404
    taken = scene.api.post(f"{path}/take-over", by=scene.deputy)
    assert (taken.status_code, taken.json["ownerId"]) == (200, scene.deputy.id)
    assert taken.json["status"] == "disabled"
    recorded = last_audit(scene, "webhooks.endpoint-take-over")
    assert recorded["actor"] == {"$ref": scene.deputy.id}
    assert recorded["details"]["formerOwner"] == scene.admin.id
    enable["revision"] = taken.json["revision"]
    assert scene.api.patch(path, enable, by=scene.deputy).status_code == 200
    scene.send()
    assert scene.receiver.ids("/hook") == ["event-1", "event-2", "event-3"]


@pytest.mark.parametrize("covers_tenant", [True, False])
def test_webhooks_stop_when_their_owner_no_longer_administers_the_server(
    scene: Scene, covers_tenant: bool
) -> None:
    tenant_id = scene.tenant_id if covers_tenant else None
    endpoint = scene.create(scene.root, tenantId=tenant_id)
    scene.happen(1)
    scene.send()
    scene.happen(2)
    with scene.api.container.database.write() as connection:
        is_root = users.c.id == scene.root.id
        connection.execute(update(users).where(is_root).values(type="USER"))
    assert scene.send() == 0
    assert scene.receiver.ids("/hook") == ["event-1"]
    other = scene.api.person(admin=True)
    path = f"{ROOT}/{endpoint['id']}"
    assert scene.api.get(path, by=other).json["status"] == "disabled"
    assert scene.api.post(f"{path}/take-over", by=other).json["ownerId"] == other.id


def test_the_events_of_a_deleted_tenant_reach_its_administrator(scene: Scene) -> None:
    scene.create()
    scene.happen(1)
    assert scene.api.delete(f"/api/v1/tenants/{scene.tenant_id}", by=scene.admin).status_code == 200
    assert scene.send() == 1


def test_an_endpoint_of_a_tenant_replays_no_stream_of_another(scene: Scene) -> None:
    other = scene.api.tenant(scene.stranger).rpartition("/")[2]
    path = f"{ROOT}/{scene.create()['id']}/replay"
    for stream in (other, "0190a1b2-0000-7000-8000-000000000000"):
        body = {"fromSequence": 0, "stream": stream}
        refused = scene.api.post(path, body, by=scene.admin)
        assert (refused.status_code, error_code(refused)) == (400, "error.webhook-stream-refused")
        assert refused.json["error"]["details"][0]["field"] == "stream"
    for stream in (scene.tenant_id, "server"):
        answer = scene.api.post(path, {"fromSequence": 0, "stream": stream}, by=scene.admin)
        assert answer.status_code == 202
    everything = scene.create(scene.root, tenantId=None)
    body = {"fromSequence": 0, "stream": other}
    assert scene.api.post(f"{ROOT}/{everything['id']}/replay", body, by=scene.root).status_code == 202


def test_a_deleted_endpoint_receives_nothing(scene: Scene) -> None:
    path = f"{ROOT}/{scene.create()['id']}"
    scene.happen(1)
    assert scene.api.delete(path, by=scene.admin).json == {"success": True}
    assert scene.send() == 0
    assert scene.api.delete(path, by=scene.admin).status_code == 404


def test_recorded_events_are_replayed(scene: Scene) -> None:
    api = scene.api
    for name in ("before", "first"):
        api.post(f"/api/v1/tenants/{scene.tenant_id}/folders", {"name": name}, by=scene.admin)
    endpoint = scene.create(eventTypes=["folder.created"])
    path = f"{ROOT}/{endpoint['id']}/replay"
    replayed = api.post(path, {"fromSequence": 0}, by=scene.admin)
    assert (replayed.status_code, replayed.json) == (202, {"count": 2, "nextSequence": None})
    scene.send()
    assert [message.json["data"]["name"] for message in scene.receiver.messages] == ["before", "first"]
    sequence = api.get(f"{ROOT}/{endpoint['id']}/deliveries", by=scene.admin).json["data"][0]["sequence"]
    api.post(path, {"fromSequence": sequence}, by=scene.admin)
    scene.send()
    first, second, again = scene.receiver.messages
    assert again.id == second.id != first.id
