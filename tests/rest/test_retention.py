"""Holds and retention: roles, governance mode, what remains possible, and when it ends."""

import io
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.config import Table
from tests.support.features import needs
from tests.support.scene import Scene

from strongroom.clock import iso_format
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.nodes.retention_models import RetentionMode
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.extensions.retention.feature import RetentionFeature
from strongroom.extensions.trash.removal import EntryRemoval, TrashRemoval
from strongroom.extensions.versions.service import VersionService
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.upgrade import read_schema, upgrade
from strongroom.testing.clock import HOUR
from strongroom.web.http.input_bounds import LARGEST_BYTES

pytestmark = needs(RetentionFeature)

DAY = 24 * HOUR
PROOF = {"X-Current-Password": PASSWORD}
COMPLIANCE: Table = {"files": {"retention": {"minimum_days": 30, "mode": "compliance"}}}
HELD, RETAINED, LOCKED = "error.held", "error.retained", "error.retention-locked"


class Archive:
    """A scene's tenant with a member who has the role ``records``."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.api, self.path = scene, scene.api, scene.path
        self.records = self.api.person(name="Records")
        self.api.join(self.path, scene.admin, self.records, "records")

    def hold(self, node: Json, by: Person | None = None, **body: Any) -> Answer:
        """Try to place a hold."""
        path = f"{self.path}/files/{node['id']}/hold"
        return self.api.put(path, {"reason": "Case 7", **body}, by=by or self.records)

    def release(self, node: Json, by: Person | None = None, query: str = "") -> Answer:
        """Try to release it."""
        path = f"{self.path}/files/{node['id']}/hold{query}"
        return self.api.delete(path, by=by or self.records, headers=PROOF)

    def remove(self, node: Json, query: str = "") -> Answer:
        """Try to remove a node permanently."""
        path = f"{self.path}/files/{node['id']}?permanently=true{query}"
        return self.api.delete(path, by=self.scene.admin, headers=PROOF)

    def retain(self, **settings: Any) -> Answer:
        """Try to set the retention."""
        path = f"{self.path}/retention"
        return self.api.put(path, settings, by=self.scene.admin, headers=PROOF)

    def run(self, days: int) -> None:
        """Let a server run, and leave the clock of the machine behind."""
        elapsed = [0.0]
        services = self.api.container
        running = RetentionClock(
            self.api.container.database,
            self.api.clock,
            services.get(RemovalGuard).defaults,
            lambda: elapsed[0],
        )
        running.tick()
        elapsed[0] = days * DAY / 1000
        running.tick()

    def later(self, days: int) -> None:
        """Let time pass, while a server runs."""
        self.run(days)
        self.api.clock.advance(days * DAY)
        for person in (self.scene.admin, self.scene.alice, self.records):
            self.scene.token_of(person)


def audited(api: Api, action: str) -> list[Json]:
    """Return the audit records of an action."""
    admin = api.person(admin=True)
    found: list[Json] = api.get(f"/audit-events?action={action}", by=admin).json["data"]
    return found


@pytest.fixture
def archive(scene: Scene) -> Archive:
    return Archive(scene)


def test_code_that_knows_no_holds_is_refused_from_the_first_hold_on(archive: Archive) -> None:
    engine, scene = archive.api.container.database.engine, archive.scene
    assert (read_schema(engine).oldest_code or "") < "0013"
    assert archive.hold(scene.file("file")).status_code == 200
    assert read_schema(engine).oldest_code == "0025"
    # An upgrade does not lower it.
    upgrade(engine)
    assert read_schema(engine).oldest_code == "0025"


def test_the_role_records_holds_what_it_cannot_see(archive: Archive, scene: Scene) -> None:
    file = scene.file("file", by=scene.alice)
    assert scene.permission(file, archive.records) is None
    placed = archive.hold(file)
    assert placed.json == {
        "fileId": file["id"],
        "reason": "Case 7",
        "until": None,
        "placedBy": {"$ref": archive.records.id},
        "placedAt": iso_format(scene.api.clock.now()),
    }
    for by in (scene.admin, scene.alice):
        assert error_code(archive.hold(file, by)) == "error.forbidden"
    assert scene.permission(file, archive.records) is None
    assert archive.api.get(f"{scene.path}/holds", by=archive.records).json["data"] == [placed.json]
    assert archive.api.get(f"{scene.path}/holds", by=scene.alice).status_code == 403


def test_the_holds_that_apply_to_a_file_are_listed(archive: Archive, scene: Scene) -> None:
    folder, other = scene.folder("folder"), scene.file("other")
    file = scene.file("file", folder)
    around, own = archive.hold(folder).json, archive.hold(file).json
    archive.hold(other)

    def holds(node: str) -> list[Json]:
        path = f"{scene.path}/holds?fileId={node}"
        listed: list[Json] = archive.api.get(path, by=archive.records).json["data"]
        return sorted(listed, key=lambda hold: hold["fileId"] != folder["id"])

    assert holds(file["id"]) == [around, own]
    assert holds(folder["id"]) == [around]
    assert holds("01a1fd35-41a4-7159-832d-f9df39268981") == []
    elsewhere = archive.api.tenant(scene.alice)
    path = f"{elsewhere}/holds?fileId={file['id']}"
    assert archive.api.get(path, by=scene.alice).json["data"] == []
    path = f"{scene.path}/holds?fileId={file['id']}"
    assert archive.api.get(path, by=scene.alice).status_code == 403


@pytest.mark.parametrize("node", ["01a1fd35-41a4-7159-832d-f9df39268981", "root"])
def test_a_hold_needs_a_node(archive: Archive, node: str) -> None:
    root = archive.path.rpartition("/")[2]
    assert archive.hold({"id": root if node == "root" else node}).status_code == 404


def test_batches_respect_holds(archive: Archive, scene: Scene) -> None:
    held, free, folder = scene.file("held"), scene.file("free"), scene.folder("folder")
    assert archive.hold(held).status_code == 200
    items = [
        {"operation": "trash", "fileId": held["id"]},
        {"operation": "trash", "fileId": free["id"]},
        {"operation": "move", "fileId": held["id"], "parentId": folder["id"]},
    ]
    path, body = f"{scene.path}/files-batches", {"atomic": False, "items": items}
    results = archive.api.post(path, body, by=scene.admin).json["results"]
    assert [result["error"] and result["error"]["code"] for result in results][:2] == [
        "error.held",
        None,
    ]
    refused = archive.api.post(path, {"items": items[:1]}, by=scene.admin)
    assert (refused.status_code, error_code(refused)) == (409, "error.held")


def test_a_hold_in_the_past_is_refused(archive: Archive, scene: Scene) -> None:
    answer = archive.hold(scene.file("file"), until=iso_format(scene.api.clock.now()))
    assert answer.json["error"]["details"][0]["code"] == "in-the-past"


def test_a_released_hold_holds_no_longer(archive: Archive, scene: Scene) -> None:
    folder = scene.folder("folder")
    file = scene.file("file", folder)
    archive.hold(folder)
    assert error_code(archive.remove(file)) == HELD
    usage = archive.api.get(f"{scene.path}/usage", by=scene.admin).json
    assert (usage["heldBytes"], usage["usedBytes"]) == (1, 1)
    assert archive.release(folder).status_code == 200
    assert archive.release(folder).status_code == 404
    assert archive.remove(file).status_code == 200
    assert [event["action"] for event in audited(archive.api, "hold.release")] == ["hold.release"]


def test_a_held_file_does_not_go_to_the_trash(archive: Archive, scene: Scene) -> None:
    folder = scene.folder("folder")
    file = scene.file("file", folder)
    archive.hold(file)
    for node in (file, folder):
        answer = archive.api.delete(f"{scene.path}/files/{node['id']}", by=scene.admin)
        assert answer.json["hold"] == {"reason": "Case 7", "until": None}


def test_administrators_release_with_a_reason(archive: Archive, scene: Scene) -> None:
    file = scene.file("file")
    archive.hold(file, until=iso_format(scene.api.clock.now() + DAY))
    assert archive.release(file, scene.admin).status_code == 403
    assert archive.release(file, scene.alice, "?overrideReason=x").status_code == 403
    assert archive.release(file, scene.admin, "?overrideReason=closed").status_code == 200
    (event,) = audited(archive.api, "hold.release")
    assert event["details"]["reason"] == "closed"


def test_a_hold_ends_by_the_time_that_servers_run(archive: Archive, scene: Scene) -> None:
    file, other = scene.file("file"), scene.file("other")
    archive.hold(file, until=iso_format(scene.api.clock.now() + 2 * DAY))
    archive.hold(other)
    archive.later(1)
    assert error_code(archive.remove(file)) == HELD
    scene.api.clock.advance(50 * DAY)
    scene.token_of(scene.admin)
    assert error_code(archive.remove(file)) == HELD
    archive.later(2)
    assert archive.remove(file).status_code == 200
    assert error_code(archive.remove(other)) == HELD


def test_a_file_moves_within_its_hold(archive: Archive, scene: Scene) -> None:
    outer = scene.folder("outer")
    inner, file = scene.folder("inner", outer), scene.file("file", outer)
    archive.hold(outer)
    path = f"{scene.path}/files/{file['id']}/directory"
    assert archive.api.put(path, {"parentId": inner["id"]}, by=scene.admin).status_code == 200
    refused = archive.api.put(path, {"parentId": None}, by=scene.admin)
    assert error_code(refused) == HELD
    archive.hold(file)
    archive.release(outer)
    assert archive.api.put(path, {"parentId": None}, by=scene.admin).status_code == 200
    assert error_code(archive.remove(file)) == HELD


def test_what_is_being_removed_cannot_be_held(
    archive: Archive, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = scene.file("file")
    archive.api.delete(f"{scene.path}/files/{file['id']}", by=scene.admin)
    assert archive.hold(file).status_code == 200
    archive.release(file)
    monkeypatch.setattr(EntryRemoval, "remove", lambda *_: 0)
    path = f"{scene.path}/trash/{file['id']}"
    assert archive.api.delete(path, by=scene.admin, headers=PROOF).status_code == 200
    assert archive.hold(file).status_code == 404


class TestGovernance:
    """Retention that administrators may override."""

    def test_an_override_needs_a_reason_and_an_administrator(
        self, archive: Archive, scene: Scene
    ) -> None:
        file, own = scene.file("file"), scene.file("own", by=scene.alice)
        assert archive.retain(minimumDays=10).status_code == 200
        answer = archive.remove(file)
        assert (answer.status_code, error_code(answer)) == (409, RETAINED)
        path = f"{scene.path}/files/{own['id']}?permanently=true&overrideReason=x"
        assert archive.api.delete(path, by=scene.alice, headers=PROOF).status_code == 403
        assert archive.remove(file, "&overrideReason=by mistake").status_code == 200
        (event,) = audited(archive.api, "retention.override")
        assert event["details"]["reason"] == "by mistake"
        archive.hold(own)
        assert error_code(archive.remove(own, "&overrideReason=x")) == HELD

    def test_retained_content_leaves_the_trash_by_an_override_only(
        self, archive: Archive, scene: Scene
    ) -> None:
        archive.retain(minimumDays=10)
        file = scene.file("file")
        archive.api.delete(f"{scene.path}/files/{file['id']}", by=scene.admin)
        path = f"{scene.path}/trash/{file['id']}"
        answer = archive.api.delete(path, by=scene.admin, headers=PROOF)
        assert (answer.status_code, error_code(answer)) == (409, RETAINED)
        (entry,) = archive.api.get(f"{scene.path}/trash", by=scene.admin).json["data"]
        assert entry["id"] == file["id"]
        path = f"{path}?overrideReason=by mistake"
        assert archive.api.delete(path, by=scene.admin, headers=PROOF).status_code == 200

    def test_an_override_needs_a_proof(self, archive: Archive, scene: Scene) -> None:
        scene.file("file")
        archive.retain(minimumDays=10)
        scene.api.clock.advance(11 * 60 * 1000)
        answer = archive.api.delete(f"{scene.path}?overrideReason=x", by=scene.admin)
        assert error_code(answer) == "error.fresh-proof-required"
        assert error_code(archive.api.delete(scene.path, by=scene.admin)) == RETAINED
        path = f"{scene.path}?overrideReason=x"
        assert archive.api.delete(path, by=scene.admin, headers=PROOF).status_code == 200

    def test_what_is_old_enough_is_removed(self, archive: Archive, scene: Scene) -> None:
        archive.retain(minimumDays=10, trashDays=3)
        file = scene.file("file")
        archive.api.delete(f"{scene.path}/files/{file['id']}", by=scene.admin)
        trash = archive.api.container.get(TrashRemoval)
        (entry,) = archive.api.get(f"{scene.path}/trash", by=scene.admin).json["data"]
        assert entry["purgeAt"] == iso_format(scene.api.clock.now() + 10 * DAY)
        archive.later(9)
        assert trash.purge() == 0
        archive.later(1)
        assert trash.purge() == 1

    def test_an_empty_folder_is_purged_at_the_time_that_the_trash_shows(
        self, archive: Archive, scene: Scene
    ) -> None:
        archive.retain(minimumDays=10, trashDays=3)
        folder = scene.folder("folder")
        archive.api.delete(f"{scene.path}/files/{folder['id']}", by=scene.admin)
        trash = archive.api.container.get(TrashRemoval)
        (entry,) = archive.api.get(f"{scene.path}/trash", by=scene.admin).json["data"]
        assert entry["purgeAt"] == iso_format(scene.api.clock.now() + 10 * DAY)
        archive.later(9)
        assert trash.purge() == 0
        archive.later(1)
        assert trash.purge() == 1

    def test_a_clock_that_is_set_back_makes_no_file_old(self, archive: Archive, scene: Scene) -> None:
        archive.retain(minimumDays=10)
        archive.run(100)
        archive.api.container.get(RetentionClock).tick()
        assert error_code(archive.remove(scene.file("file"))) == RETAINED

    def test_tenants_keep_their_trash_for_their_own_time(self, archive: Archive, scene: Scene) -> None:
        file = scene.file("file")
        archive.retain(trashDays=60)
        archive.api.delete(f"{scene.path}/files/{file['id']}", by=scene.admin)
        trash = archive.api.container.get(TrashRemoval)
        archive.later(59)
        assert trash.purge() == 0
        archive.retain(trashDays=3)
        assert trash.purge() == 1

    def test_tenants_keep_their_own_number_of_versions(self, archive: Archive, scene: Scene) -> None:
        archive.retain(keepVersions=1)
        path = f"{scene.path}/files/{scene.file('file')['id']}"
        for content in (b"2", b"3", b"4"):
            archive.api.request("PUT", f"{path}/content", by=scene.admin, data=content)
        listed = archive.api.get(f"{path}/versions", by=scene.admin).json["data"]
        assert [version["number"] for version in listed] == [3]
        archive.retain(minimumDays=10, keepVersions=0)
        archive.api.request("PUT", f"{path}/content", by=scene.admin, data=b"5")
        listed = archive.api.get(f"{path}/versions", by=scene.admin).json["data"]
        assert [version["number"] for version in listed] == [4, 3]
        version = f"{path}/versions/4"
        refused = archive.api.delete(version, by=scene.admin, headers=PROOF)
        assert error_code(refused) == RETAINED
        forced = archive.api.delete(f"{version}?overrideReason=x", by=scene.admin, headers=PROOF)
        assert forced.status_code == 200

    @pytest.mark.parametrize("replaced_by", ["content", "name"])
    def test_the_quota_follows_the_rules_of_the_tenant(
        self, archive: Archive, scene: Scene, replaced_by: str
    ) -> None:
        api, file = archive.api, scene.api.upload(scene.path, scene.admin, "file", b"12345")
        api.patch(scene.path, {"quotaBytes": 8}, by=api.person(admin=True))
        content = f"{scene.path}/files/{file['id']}/content"

        def is_stored(data: bytes) -> bool:
            if replaced_by == "content":
                answer = api.request("PUT", content, by=scene.admin, data=data)
            else:
                query = "?onConflict=replace"
                answer = api.send(scene.path, scene.admin, "file", data, query=query)
            assert answer.status_code in (200, 201, 507), answer.text
            return answer.status_code < 300

        # The server keeps versions, so the replaced content still counts.
        assert not is_stored(b"1234567")
        archive.retain(keepVersions=0)
        assert (is_stored(b"1234567"), is_stored(b"123456789")) == (True, False)
        # Held and retained content becomes a version nevertheless.
        archive.retain(keepVersions=0, minimumDays=10)
        assert not is_stored(b"12345678")
        archive.retain(keepVersions=0)
        archive.hold(file)
        assert not is_stored(b"12345678")

    @pytest.mark.parametrize("replaced_by", ["content", "name"])
    @pytest.mark.parametrize("rule", ["none", "hold", "retention"])
    def test_content_may_take_the_place_of_the_version_that_it_displaces(
        self, archive: Archive, scene: Scene, replaced_by: str, rule: str
    ) -> None:
        """Unless that version must be kept."""
        api, file = archive.api, scene.api.upload(scene.path, scene.admin, "file", b"12345")

        def store(data: bytes) -> int:
            if replaced_by == "content":
                path = f"{scene.path}/files/{file['id']}/content"
                return api.request("PUT", path, by=scene.admin, data=data).status_code
            query = "?onConflict=replace"
            return api.send(scene.path, scene.admin, "file", data, query=query).status_code

        archive.retain(keepVersions=1)
        assert store(b"678") < 300
        # 3 bytes become the version, in place of 5.
        api.patch(scene.path, {"quotaBytes": 8}, by=api.person(admin=True))
        assert store(b"123456") == 507
        if rule == "hold":
            archive.hold(file)
        elif rule == "retention":
            archive.retain(keepVersions=1, minimumDays=10)
        assert (store(b"12345") < 300) == (rule == "none")
        # A quota below the usage accepts content that does not increase it: 3 bytes displace 3.
        api.patch(scene.path, {"quotaBytes": 1}, by=api.person(admin=True))
        assert (store(b"123") < 300) == (rule == "none")

    def test_content_that_cannot_fit_is_not_received(self, archive: Archive, scene: Scene) -> None:
        api, file = archive.api, scene.api.upload(scene.path, scene.admin, "file", b"12345")
        api.patch(scene.path, {"quotaBytes": LARGEST_BYTES + 1}, by=api.person(admin=True))
        archive.retain(keepVersions=0, minimumDays=10)
        path, body = f"{scene.path}/files/{file['id']}/content", io.BytesIO(bytes(LARGEST_BYTES + 1))
        answer = api.request("PUT", path, by=scene.admin, input_stream=body)
        assert (answer.status_code, body.tell()) == (507, 0)

    def test_versions_are_kept_for_the_days_of_the_tenant(self, archive: Archive, scene: Scene) -> None:
        archive.retain(versionDays=2)
        path = f"{scene.path}/files/{scene.file('file')['id']}"
        archive.api.request("PUT", f"{path}/content", by=scene.admin, data=b"2")
        archive.later(3)
        archive.retain(versionDays=2, minimumDays=4)
        assert archive.api.container.get(VersionService).purge() == 0
        archive.later(1)
        assert archive.api.container.get(VersionService).purge() == 1

    def test_the_settings_may_become_less_strict(self, archive: Archive) -> None:
        for settings in (
            {"minimumDays": 10, "trashDays": 90, "keepVersions": 5, "versionDays": 400},
            {"minimumDays": 0},
        ):
            assert archive.retain(**settings).status_code == 200
        found = archive.api.get(f"{archive.path}/retention", by=archive.scene.alice).json
        assert found == {
            "trashDays": 30,
            "keepVersions": 20,
            "versionDays": 180,
            "minimumDays": 0,
            "mode": "governance",
        }
        assert (
            archive.api.put(f"{archive.path}/retention", {}, by=archive.scene.alice).status_code == 403
        )


class TestCompliance:
    """Retention that becomes stricter only."""

    def test_a_hold_becomes_longer(self, archive: Archive, scene: Scene) -> None:
        file, now = scene.file("file"), scene.api.clock.now()
        archive.retain(mode="compliance")
        assert archive.hold(file).status_code == 200
        for days, expected in ((2, 200), (1, 409), (3, 200)):
            answer = archive.hold(file, until=iso_format(now + days * DAY))
            assert answer.status_code == expected
        assert error_code(archive.release(file)) == LOCKED
        archive.later(4)
        assert archive.remove(file).status_code == 200

    def test_no_setting_becomes_less_strict(self, archive: Archive) -> None:
        strict = {
            "trashDays": 5,
            "keepVersions": 5,
            "versionDays": 5,
            "minimumDays": 5,
            "mode": "compliance",
        }
        assert archive.retain(**strict).status_code == 200
        loose = dict.fromkeys(list(strict)[:4], 4) | {"mode": "governance"}
        for name, value in loose.items():
            assert error_code(archive.retain(**strict | {name: value})) == LOCKED
        assert archive.retain(**strict | {"minimumDays": 6}).json["minimumDays"] == 6

    @pytest.mark.config(COMPLIANCE)
    def test_the_configuration_ends_no_retention(self, archive: Archive, scene: Scene) -> None:
        file = scene.file("file")
        archive.api.container.get(RetentionClock).tick()
        guard = archive.api.container.get(RemovalGuard)
        guard.defaults = guard.defaults._replace(minimum_days=0, mode=RetentionMode.GOVERNANCE)
        assert error_code(archive.remove(file, "&overrideReason=x")) == RETAINED

    @pytest.mark.config(COMPLIANCE)
    def test_the_server_retains_for_all_tenants(self, archive: Archive, scene: Scene) -> None:
        file = scene.file("file")
        archive.api.container.get(RetentionClock).tick()
        assert error_code(archive.remove(file, "&overrideReason=x")) == RETAINED
        assert archive.retain(minimumDays=5).json["minimumDays"] == 30
        archive.later(31)
        assert archive.remove(file).status_code == 200

    def test_a_deleted_tenant_is_not_purged_while_content_is_retained(
        self, archive: Archive, scene: Scene
    ) -> None:
        scene.file("file")
        services = archive.api.container
        assert archive.api.delete(scene.path, by=scene.admin).status_code == 200
        strict = services.get(RemovalGuard).defaults._replace(
            minimum_days=60, mode=RetentionMode.COMPLIANCE
        )
        database, clock = archive.api.container.database, archive.api.clock
        elapsed = [0.0]
        strict_clock = RetentionClock(database, clock, strict, lambda: elapsed[0])
        strict_clock.tick()
        clock.advance(40 * DAY)
        assert services.get(TenantDeletion).purge(Origin()) == 0
        elapsed[0] = 61 * DAY / 1000
        strict_clock.tick()
        assert services.get(TenantDeletion).purge(Origin()) == 1
