"""Access keys: their creation, their limits, their end."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.statements import statements

from strongroom.clock import iso_format
from strongroom.identity.access_keys.secrets import KeyText
from strongroom.identity.access_keys.service import AccessKeyService
from strongroom.plugin_api.authentication import Scope
from strongroom.testing.clock import HOUR

DAY = 24 * HOUR
SCOPES = [scope.value for scope in Scope]


def key_of(api: Api, user: Person, *scopes: str, **body: object) -> Person:
    """Return a person who presents a new access key of the user."""
    answer = create(api, user, *scopes, **body)
    assert answer.status_code == 201, answer.text
    return replace(user, token=answer.json["key"])


def create(api: Api, user: Person, *scopes: str, **body: object) -> Answer:
    wanted: Json = {"name": "robot", "scopes": list(scopes or ("files:read",)), **body}
    return api.post("/users/me/access-keys", {"currentPassword": PASSWORD, **wanted}, by=user)


pytestmark = pytest.mark.config({"limits": {"wrong_keys_per_address": ["5/hour"]}})


@pytest.fixture
def owner(api: Api) -> Person:
    return api.person()


@pytest.fixture
def tenant(api: Api, owner: Person) -> str:
    return api.tenant(owner)


class TestCreation:
    def test_the_answer_and_only_it_contains_the_key(self, api: Api, owner: Person) -> None:
        answer = create(api, owner, "files:write", "files:read", name="Backup")
        assert answer.status_code == 201
        key = answer.json.pop("key")
        assert key.startswith(f"srk_{answer.json['id']}_")
        assert answer.json["scopes"] == ["files:read", "files:write"]
        listed = api.get("/users/me/access-keys", by=owner)
        assert listed.json["data"] == [answer.json]
        assert key[13:] not in listed.text
        assert api.get(answer.headers["Location"], by=owner).json == answer.json

    def test_it_ends_after_90_days_by_default(self, api: Api, owner: Person) -> None:
        key = create(api, owner).json
        assert key["expiresAt"] == iso_format(api.clock.now() + 90 * DAY)

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"scopes": []}, "scopes"),
            ({"scopes": ["files:all"]}, "scopes.0"),
            ({"fileId": "x"}, "tenantId"),
            ({"tenantId": "x"}, "tenantId"),
            ({"tenantId": "x", "scopes": ["users:read"]}, "scopes"),
            ({"tenantId": "x", "fileId": "x", "scopes": ["tenants:read"]}, "scopes"),
            ({"addresses": ["10.0.0.1/8"]}, "addresses.0"),
            ({"expiresAt": "2000-01-01T00:00:00Z"}, "expiresAt"),
            ({"expiresAt": "2900-01-01T00:00:00Z"}, "expiresAt"),
        ],
    )
    def test_an_impossible_key_is_400(self, api: Api, owner: Person, body: Json, field: str) -> None:
        answer = create(api, owner, **body)
        assert answer.status_code == 400, answer.text
        assert answer.json["error"]["details"][0]["field"] == field

    def test_its_folder_must_be_visible_to_the_user(self, api: Api, owner: Person, tenant: str) -> None:
        member, tenant_id = api.person(), tenant.rpartition("/")[2]
        api.join(tenant, owner, member)
        folder = api.folder(tenant, owner, "folder")["id"]
        file = api.upload(tenant, owner, "file", b"x")["id"]
        limits: Json = {"tenantId": tenant_id, "fileId": folder}
        assert create(api, owner, **limits).status_code == 201
        assert create(api, member, **limits).json["error"]["details"][0]["field"] == "fileId"
        assert create(api, owner, **{**limits, "fileId": file}).status_code == 400

    def test_it_needs_a_fresh_proof(self, api: Api, owner: Person) -> None:
        body: Json = {"name": "robot", "scopes": ["files:read"]}
        assert api.post("/users/me/access-keys", body, by=owner).status_code == 201
        api.clock.advance(11 * 60_000)
        answer = api.post("/users/me/access-keys", body, by=owner)
        assert error_code(answer) == "error.fresh-proof-required"
        wrong = {**body, "currentPassword": "Wrong1Horse"}
        assert error_code(api.post("/users/me/access-keys", wrong, by=owner)) == "error.wrong-password"

    def test_only_the_user_creates_it(self, api: Api, owner: Person) -> None:
        admin = api.person(admin=True)
        body: Json = {"name": "robot", "scopes": ["files:read"], "currentPassword": PASSWORD}
        path = f"/users/{owner.id}/access-keys"
        assert api.post(path, body, by=admin).status_code == 403
        assert api.get(path, by=admin).status_code == 200
        assert api.get(path, by=api.person()).status_code == 403


class TestUse:
    def test_it_acts_as_its_user(self, api: Api, owner: Person, tenant: str) -> None:
        robot = key_of(api, owner, "files:write", "users:read")
        file = api.upload(tenant, robot, "file", b"content")
        assert file["permission"] == "write"
        assert api.get("/users/me", by=robot).json["id"] == owner.id
        assert api.get(f"{tenant}/files/{file['id']}", by=robot).json["permission"] == "write"
        assert api.get(f"{tenant}/files/{file['id']}/download", by=robot).data == b"content"

    def test_the_header_of_tokens_presents_it_too(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read")
        assert robot.token is not None
        answer = api.get("/users/me", headers={"X-Access-Token": robot.token})
        assert answer.status_code == 200

    def test_its_use_is_recorded_to_the_hour(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read")
        api.get("/users/me", by=robot)
        (key,) = api.get("/users/me/access-keys", by=owner).json["data"]
        now = api.clock.now()
        assert (key["lastUsedAt"], key["lastUsedFrom"]) == (iso_format(now - now % HOUR), "127.0.0.1")

    def test_details_cost_one_statement(self, api: Api, owner: Person, tenant: str) -> None:
        robot = key_of(api, owner, "files:read")
        path = f"{tenant}/files/{api.upload(tenant, owner, 'file', b'x')['id']}"
        # Finds the owner of the key, and records its use in this hour.
        api.get(path, by=robot)
        with statements() as seen:
            assert api.get(path, by=robot).status_code == 200
        assert len(seen) == 1, seen

    @pytest.mark.parametrize("scope", SCOPES)
    def test_it_never_makes_keys_or_changes_credentials(
        self, api: Api, owner: Person, scope: str
    ) -> None:
        robot = key_of(api, owner, scope)
        for answer in (
            create(api, robot),
            api.get("/users/me/access-keys", by=robot),
            api.get("/users/me/credentials", by=robot),
            api.put("/users/me/username", {"username": "robot"}, by=robot),
        ):
            assert error_code(answer) == "error.key-not-accepted"

    def test_a_missing_scope_is_named(self, api: Api, owner: Person, tenant: str) -> None:
        robot = key_of(api, owner, "files:read")
        answer = api.post(f"{tenant}/folders", {"name": "new"}, by=robot)
        assert error_code(answer) == "error.insufficient-scope"
        assert 'error="insufficient_scope", scope="files:write"' in answer.headers["WWW-Authenticate"]

    def test_one_of_a_folder_has_no_role_in_the_tenant(
        self, api: Api, owner: Person, tenant: str
    ) -> None:
        folder = api.folder(tenant, owner, "folder")["id"]
        limits = {"tenantId": tenant.rpartition("/")[2]}
        whole = key_of(api, owner, "files:read", **limits)
        robot = key_of(api, owner, "files:read", **limits, fileId=folder)
        # Only administrators of the tenant read all events.
        for key, status in ((whole, 200), (robot, 403)):
            assert api.get(f"{tenant}/file-events", by=key).status_code == status

    def test_its_addresses_are_checked(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read", addresses=["192.0.2.0/24", "2001:db8::/32"])
        for address, status in (("192.0.2.7", 200), ("2001:db8::7", 200), ("192.0.3.7", 403)):
            answer = api.get("/users/me", by=robot, environ_overrides={"REMOTE_ADDR": address})
            assert answer.status_code == status, address


class TestEnd:
    def test_it_expires(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read", expiresAt=iso_format(api.clock.now() + HOUR))
        api.clock.advance(HOUR - 1)
        assert api.get("/users/me", by=robot).status_code == 200
        api.clock.advance(1)
        assert error_code(api.get("/users/me", by=robot)) == "error.token-invalid"

    def test_it_is_refused_once_revoked(self, api: Api, owner: Person, tenant: str) -> None:
        robot = key_of(api, owner, "files:read", "users:read")
        file = api.upload(tenant, owner, "file", b"x")["id"]
        (key,) = api.get("/users/me/access-keys", by=owner).json["data"]
        assert api.delete(f"/users/me/access-keys/{key['id']}", by=owner).status_code == 200
        for path in ("/users/me", f"{tenant}/files/{file}", f"{tenant}/owners/me/files"):
            assert api.get(path, by=robot).status_code == 401

    def test_another_process_refuses_a_revoked_key_at_once(
        self, api: Api, owner: Person, tenant: str, config: Path
    ) -> None:
        robot = key_of(api, owner, "files:read")
        path = f"{tenant}/files/{api.upload(tenant, owner, 'file', b'x')['id']}"
        key_id = str(robot.token)[4:12]
        with Api.running(config, api.clock) as other:
            assert other.get(path, by=robot).status_code == 200
            assert api.delete(f"/users/me/access-keys/{key_id}", by=owner).status_code == 200
            assert other.get(path, by=robot).status_code == 401

    def test_a_suspended_user_s_key_is_refused(self, api: Api, owner: Person) -> None:
        robot, admin = key_of(api, owner, "users:read"), api.person(admin=True)
        suspension = f"/users/{owner.id}/suspension"
        assert api.post(suspension, by=admin).status_code == 200
        assert api.get("/users/me", by=robot).status_code == 401
        assert api.delete(suspension, by=admin).status_code == 200
        assert api.get("/users/me", by=robot).status_code == 401

    def test_a_key_is_refused_while_its_user_is_not_active(self, api: Api, owner: Person) -> None:
        """A key that an administrator creates for a suspended service account."""
        robot = key_of(api, owner, "users:read")
        for status, answer in (("suspended", 401), ("active", 200)):
            with api.container.database.write() as connection:
                statement = text("UPDATE users SET status = :status WHERE id = :id")
                connection.execute(statement, {"status": status, "id": owner.id})
            assert api.get("/users/me", by=robot).status_code == answer

    def test_a_deleted_user_s_keys_are_gone(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read")
        assert api.delete("/users/me", by=owner).status_code == 200
        assert api.get("/users/me", by=robot).status_code == 401

    def test_a_rotation_overlaps(self, api: Api, owner: Person) -> None:
        created = create(api, owner, "users:read").json
        robot = replace(owner, token=created["key"])
        api.clock.advance(DAY)
        path = f"/users/me/access-keys/{created['id']}/rotate"
        owner = replace(owner, token=api.log_in(owner.email).headers["X-Access-Token"])
        rotated = api.post(path, {"overlapSeconds": 60}, by=owner).json
        assert rotated["id"] == created["id"]
        assert rotated["expiresAt"] == iso_format(api.clock.now() + 90 * DAY)
        new = replace(owner, token=rotated["key"])
        assert [api.get("/users/me", by=key).status_code for key in (robot, new)] == [200, 200]
        api.clock.advance(60_000)
        assert [api.get("/users/me", by=key).status_code for key in (robot, new)] == [401, 200]

    def test_a_leaked_key_is_revoked_and_its_user_notified(self, api: Api, owner: Person) -> None:
        robot, other = key_of(api, owner, "users:read"), key_of(api, owner, "users:read")
        assert robot.token is not None
        wrong = robot.token[:-8] + "00000000"
        answer = api.post("/api/v1/leaked-keys", {"keys": [robot.token, wrong, "srk_x"]})
        assert answer.json == {"revoked": 1}
        assert [api.get("/users/me", by=key).status_code for key in (robot, other)] == [401, 200]
        assert "revoked" in api.outbox()[-1]["text"]

    def test_its_user_is_warned_a_week_before(self, api: Api, owner: Person) -> None:
        key_of(api, owner)
        service = api.container.get(AccessKeyService)
        api.clock.advance(83 * DAY - 1)
        assert service.warn() == 0
        api.clock.advance(1)
        assert service.warn() == 1
        assert service.warn() == 0
        assert "ends within a week" in api.outbox()[-1]["text"]
        assert re.search(r"^Key: \S.*\nEnds: 20\d\d-", api.outbox()[-1]["text"], re.MULTILINE)


class TestWrongKeys:
    def test_each_is_401(self, api: Api, owner: Person) -> None:
        first, second = (str(key_of(api, owner, "users:read").token) for _ in range(2))
        key_id = first[4:12]
        swapped = KeyText(key_id, second[13:56]).text
        unknown = KeyText("0" * 8, first[13:56]).text
        for wrong in ("srk_", first[:-1], first[:-1] + "~", swapped, unknown):
            answer = api.get("/users/me", by=replace(owner, token=wrong))
            assert error_code(answer) == "error.token-invalid", wrong

    def test_a_right_key_that_has_expired_is_not_counted(self, api: Api, owner: Person) -> None:
        ends_at = iso_format(api.clock.now() + 1)
        expired = key_of(api, owner, "users:read", expiresAt=ends_at)
        api.clock.advance(1)
        answers = [api.get("/users/me", by=expired) for _ in range(7)]
        assert [answer.status_code for answer in answers] == [401] * 7

    def test_too_many_from_one_address_refuse_right_keys_too(self, api: Api, owner: Person) -> None:
        robot = key_of(api, owner, "users:read")
        thief = replace(owner, token="srk_00000000_" + "0" * 49)
        there = {"environ_overrides": {"REMOTE_ADDR": "192.0.2.1"}}
        codes = [api.get("/users/me", by=thief, **there).status_code for _ in range(6)]
        assert codes == [401] * 5 + [429]
        assert api.get("/users/me", by=robot, **there).status_code == 429
        assert api.get("/users/me", by=robot).status_code == 200
        assert api.get("/users/me", by=owner, **there).status_code == 200
