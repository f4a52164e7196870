"""Invitations to a tenant by e-mail or mobile."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, error_code
from tests.support.scene import Scene

DAY = 86_400_000


class Invitations(Scene):
    """A scene with a group ``team``."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.team = api.post(f"{self.path}/groups", {"name": "team"}, by=self.admin).json["id"]

    @property
    def tenant(self) -> str:
        return self.path.rpartition("/")[2]

    def invite(self, email: str, *, by: Person | None = None, **more: Any) -> Answer:
        body = {"email": email, "groups": [self.team], **more}
        return self.api.post(f"{self.path}/invitations", body, by=by or self.admin)

    def messages(self, recipient: str) -> list[Json]:
        """Return the messages sent to a recipient."""
        return [item for item in self.api.outbox() if item["recipient"] == recipient]

    def secret(self, email: str) -> str:
        """Return the secret of the last message."""
        return str(self.messages(email)[-1]["code"])

    def register(self, email: str, **more: Any) -> Answer:
        body = {
            "name": "New",
            "email": email,
            "password": PASSWORD,
            "verificationCodes": [self.api.code(email, "register")],
            **more,
        }
        return self.api.post("/users", body)

    def accept(self, secret: str, by: Person) -> Answer:
        return self.api.post("/api/v1/invitation-acceptances", {"secret": secret}, by=by)

    def roles(self) -> dict[str, str]:
        listed = self.api.get(f"{self.path}/members?pageSize=200", by=self.admin).json["data"]
        return {member["user"]["$ref"]: member["role"] for member in listed}

    def team_members(self) -> list[str]:
        path = f"{self.path}/groups/{self.team}/members"
        return [one["user"]["$ref"] for one in self.api.get(path, by=self.admin).json["data"]]

    def open(self) -> list[Json]:
        listed: list[Json] = self.api.get(f"{self.path}/invitations", by=self.admin).json["data"]
        return listed


@pytest.fixture
def scene(api: Api) -> Invitations:
    return Invitations(api)


class TestRegistration:
    def test_an_invitation_becomes_a_membership(self, scene: Invitations) -> None:
        invited = scene.invite("New@Example.com", role="admin")
        assert (invited.status_code, invited.json["email"]) == (201, "New@example.com")
        assert [one["id"] for one in scene.open()] == [invited.json["id"]]
        user = scene.register("new@example.com").json["id"]
        assert scene.roles()[user] == "admin"
        assert scene.team_members() == [user]
        assert scene.open() == []

    def test_the_secret_of_an_e_mail_proves_the_address(self, scene: Invitations) -> None:
        scene.invite("new@example.com")
        registration = {"name": "New", "email": "new@example.com", "password": PASSWORD}
        registration["invitation"] = scene.secret("new@example.com")
        for more in (
            {"invitation": "x" * 32},
            {"mobile": "13800138000"},
            {"email": "other@example.com"},
        ):
            refused = scene.api.post("/users", {**registration, **more})
            assert error_code(refused) == "error.code-invalid", more
        made = scene.api.post("/users", registration)
        assert (made.status_code, made.json["emailVerified"]) == (201, True)
        assert scene.roles()[made.json["id"]] == "member"
        assert scene.api.log_in("new@example.com").status_code == 200

    def test_the_secret_of_a_text_message_does_not_prove_the_number(self, scene: Invitations) -> None:
        number = "+8613800138000"
        body = {"mobile": number}
        invited = scene.api.post(f"{scene.path}/invitations", body, by=scene.admin)
        assert invited.status_code == 201
        registration = {"name": "New", "mobile": number, "password": PASSWORD}
        registration["invitation"] = scene.secret(number)
        assert error_code(scene.api.post("/users", registration)) == "error.code-invalid"

    def test_an_expired_one_does_not(self, scene: Invitations) -> None:
        scene.invite("new@example.com")
        scene.api.clock.advance(7 * DAY)
        user = scene.register("new@example.com").json["id"]
        scene.token_of(scene.admin)
        assert user not in scene.roles()
        assert scene.open() == []

    def test_a_withdrawn_one_does_not(self, scene: Invitations) -> None:
        one = f"{scene.path}/invitations/{scene.invite('new@example.com').json['id']}"
        assert scene.api.delete(one, by=scene.admin).status_code == 200
        assert scene.api.delete(one, by=scene.admin).status_code == 404
        assert scene.register("new@example.com").json["id"] not in scene.roles()

    def test_one_of_a_former_administrator_does_not(self, scene: Invitations) -> None:
        scene.api.join(scene.path, scene.admin, scene.alice, "admin")
        scene.invite("new@example.com", by=scene.alice)
        scene.api.join(scene.path, scene.admin, scene.alice, "member")
        assert scene.register("new@example.com").json["id"] not in scene.roles()

    def test_a_deleted_group_is_left_out(self, scene: Invitations) -> None:
        scene.invite("new@example.com")
        scene.api.delete(f"{scene.path}/groups/{scene.team}", by=scene.admin)
        assert scene.register("new@example.com").json["id"] in scene.roles()

    def test_a_contact_that_is_bound_later_counts(self, scene: Invitations) -> None:
        scene.invite("second@example.com")
        user = scene.api.person()
        body = {
            "email": "second@example.com",
            "verificationCode": scene.api.code("second@example.com", "bind"),
            "heldCode": scene.api.code(user.email, "bind"),
        }
        assert scene.api.post("/users/me/emails", body, by=user).status_code == 201
        assert scene.roles()[user.id] == "member"


class TestPreview:
    def preview(self, api: Api, secret: str) -> Answer:
        return api.post("/api/v1/invitation-previews", {"secret": secret})

    def test_the_secret_shows_the_invitation_to_people_without_an_account(
        self, scene: Invitations
    ) -> None:
        invited = scene.invite("new@example.com", role="member").json
        shown = self.preview(scene.api, scene.secret("new@example.com")).json
        assert shown == {
            "id": invited["id"],
            "tenantId": scene.tenant,
            "tenantName": scene.api.get(scene.path, by=scene.admin).json["name"],
            "inviterName": scene.api.get("/users/me", by=scene.admin).json["name"],
            "email": "new@example.com",
            "mobile": None,
            "role": "member",
            "expiresAt": invited["expiresAt"],
        }
        assert [one["id"] for one in scene.open()] == [invited["id"]]

    def test_a_secret_that_is_void_or_unknown_has_one_answer(self, scene: Invitations) -> None:
        scene.invite("new@example.com")
        replaced = scene.secret("new@example.com")
        scene.invite("new@example.com")
        expired = scene.secret("new@example.com")
        answers = [self.preview(scene.api, replaced), self.preview(scene.api, "x" * len(replaced))]
        scene.api.clock.advance(7 * DAY)
        answers.append(self.preview(scene.api, expired))
        assert [(one.status_code, error_code(one)) for one in answers] == [(404, "error.not-found")] * 3

    def test_names_have_no_links(self, scene: Invitations) -> None:
        name = "Acme https://evil.example/x"
        scene.api.patch(scene.path, {"name": name}, by=scene.admin)
        scene.invite("new@example.com")
        shown = self.preview(scene.api, scene.secret("new@example.com")).json["tenantName"]
        assert shown == "Acme https evil. example x"


class TestAcceptance:
    def test_a_user_accepts_or_declines_what_a_contact_received(self, scene: Invitations) -> None:
        user, other = scene.api.person(), scene.api.person()
        scene.invite(user.email)
        listed = scene.api.get("/users/me/invitations", by=user).json
        assert listed["meta"]["totalCount"] == 1
        (one,) = listed["data"]
        assert (one["tenantId"], one["role"]) == (scene.tenant, "member")
        path = f"invitations/{one['id']}"
        assert scene.api.post(f"/users/me/{path}/acceptance", by=other).status_code == 404
        assert scene.api.post(f"/users/{user.id}/{path}/acceptance", by=other).status_code == 403
        accepted = scene.api.post(f"/users/me/{path}/acceptance", by=user)
        assert accepted.json == {"tenantId": scene.tenant, "role": "member"}
        assert scene.api.post(f"/users/me/{path}/acceptance", by=user).status_code == 404
        assert scene.team_members() == [user.id]
        scene.invite(other.email)
        (one,) = scene.api.get("/users/me/invitations", by=other).json["data"]
        assert scene.api.delete(f"/users/me/invitations/{one['id']}", by=other).status_code == 200
        assert scene.open() == []
        assert other.id not in scene.roles()

    def test_a_secret_works_once_for_whoever_presents_it(self, scene: Invitations) -> None:
        scene.invite("someone@example.com")
        secret, user = scene.secret("someone@example.com"), scene.api.person()
        assert scene.accept("wrong", user).status_code == 404
        assert scene.accept(secret, user).json == {"tenantId": scene.tenant, "role": "member"}
        assert scene.accept(secret, scene.api.person()).status_code == 404
        assert scene.roles()[user.id] == "member"

    def test_a_secret_ends(self, scene: Invitations) -> None:
        scene.invite("someone@example.com")
        user = scene.api.person()
        scene.api.clock.advance(7 * DAY)
        scene.token_of(user)
        assert scene.accept(scene.secret("someone@example.com"), user).status_code == 404

    def test_an_administrator_stays_one(self, scene: Invitations) -> None:
        scene.invite("someone@example.com")
        answer = scene.accept(scene.secret("someone@example.com"), scene.admin)
        assert answer.json["role"] == "admin"
        assert scene.roles()[scene.admin.id] == "admin"

    def test_resending_voids_the_former_secret(self, scene: Invitations) -> None:
        invited = scene.invite("someone@example.com").json
        former = scene.secret("someone@example.com")
        path = f"{scene.path}/invitations/{invited['id']}/resend"
        scene.api.clock.advance(DAY)
        scene.token_of(scene.admin)
        again = scene.api.post(path, by=scene.admin)
        assert again.status_code == 200
        assert again.json["expiresAt"] > invited["expiresAt"]
        user = scene.api.person()
        assert scene.accept(former, user).status_code == 404
        assert scene.accept(scene.secret("someone@example.com"), user).status_code == 200
        assert scene.api.post(path, by=scene.admin).status_code == 404

    def test_the_database_has_no_secret(self, scene: Invitations) -> None:
        scene.invite("someone@example.com")
        secret = scene.secret("someone@example.com")
        with scene.api.container.database.read() as connection:
            rows = connection.exec_driver_sql("SELECT * FROM invitations").all()
        assert rows
        assert secret not in repr(rows)


class TestWhoInvites:
    @pytest.mark.parametrize(
        "act",
        [
            lambda scene, one, by: scene.invite("b@example.com", by=by),
            lambda scene, one, by: scene.api.get(f"{scene.path}/invitations", by=by),
            lambda scene, one, by: scene.api.get(one, by=by),
            lambda scene, one, by: scene.api.post(f"{one}/resend", by=by),
            lambda scene, one, by: scene.api.delete(one, by=by),
        ],
    )
    def test_only_administrators_of_the_tenant_do(
        self, scene: Invitations, act: Callable[[Invitations, str, Person], Answer]
    ) -> None:
        one = f"{scene.path}/invitations/{scene.invite('a@example.com').json['id']}"
        for person in (scene.alice, scene.api.person(), scene.api.person(admin=True)):
            assert act(scene, one, person).status_code == 403
        assert act(scene, one, scene.admin).status_code < 300

    def test_messages_are_sent_for_administrators_only(self, scene: Invitations) -> None:
        assert scene.invite("a@example.com", by=scene.alice).status_code == 403
        # A refused request must not use up the recipient's messages either.
        for _ in range(4):
            scene.invite("a@example.com", by=scene.alice)
        assert scene.invite("a@example.com").status_code == 201
        assert len(scene.messages("a@example.com")) == 1

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"email": "a@example.com", "mobile": "+8613812345678"},
            {"email": "no address"},
            {"email": "+8613812345678"},
            {"email": "a@example.com", "groups": ["unknown"]},
            {"email": "a@example.com", "role": "owner"},
        ],
    )
    def test_wrong_requests_are_refused(self, scene: Invitations, body: Json) -> None:
        answer = scene.api.post(f"{scene.path}/invitations", body, by=scene.admin)
        assert answer.status_code == 400
        assert scene.open() == []

    def test_messages_are_limited_per_recipient(self, scene: Invitations) -> None:
        statuses = [scene.invite("a@example.com").status_code for _ in range(4)]
        assert statuses == [201, 201, 201, 429]
        assert len(scene.open()) == 1

    def test_nobody_learns_who_is_registered(self, scene: Invitations) -> None:
        known = scene.api.person()
        answers = [scene.invite(email) for email in (known.email, "unknown@example.com")]
        shapes = [
            re.sub(r'"(id|email|createdAt|expiresAt)": ?"[^"]*"', "", answer.text) for answer in answers
        ]
        assert shapes[0] == shapes[1]
        assert known.id not in scene.roles()
        events = [event.data for event in scene.api.container.events.log.read("server", 0, 1000)]
        assert known.email not in json.dumps(events, default=str)

    def test_messages_have_no_links_of_names(self, scene: Invitations) -> None:
        scene.api.patch(scene.path, {"name": "Win at https://evil.example now"}, by=scene.admin)
        scene.invite("a@example.com")
        text = scene.messages("a@example.com")[-1]["text"]
        assert "https://" not in text
        assert "evil.example" not in text
        _, facts, *others = text.split("\n\n")
        assert facts.startswith("Space: Win at https evil. example now\n")
        # The code, and a sentence before and after it.
        assert len(others) == 3

    def test_the_text_is_in_the_language_of_the_request(self, scene: Invitations) -> None:
        scene.api.request(
            "POST",
            f"{scene.path}/invitations",
            by=scene.admin,
            json={"mobile": "+8613812345678"},
            headers={"Accept-Language": "zh"},
        )
        assert "邀请您加入" in scene.messages("+8613812345678")[-1]["text"]


@pytest.mark.config({"tenants": {"add_known_invitees": True}})
class TestKnownInvitees:
    def test_they_are_added_at_once_if_configured(self, scene: Invitations) -> None:
        user = scene.api.person()
        assert scene.invite(user.email).status_code == 201
        assert scene.roles()[user.id] == "member"
        assert scene.open() == []


@pytest.mark.config({"tenants": {"add_members": "invited"}})
class TestConsent:
    def test_only_invited_users_become_members_and_no_answer_reveals_who_exists(self, api: Api) -> None:
        root, admin, user = api.person(admin=True), api.person(), api.person()
        tenant = api.tenant(admin)
        known, unknown = (
            api.put(f"{tenant}/members/{user_id}", {"role": "member"}, by=admin)
            for user_id in (user.id, "0190a1b2-0000-7000-8000-000000000000")
        )
        assert known.status_code == 404
        bodies = [answer.json["error"] for answer in (known, unknown)]
        assert [{**body, "requestId": ""} for body in bodies] == [{**bodies[0], "requestId": ""}] * 2
        invited = api.post(f"{tenant}/invitations", {"email": user.email}, by=admin)
        path = f"/users/me/invitations/{invited.json['id']}/acceptance"
        assert api.post(path, by=user).status_code == 200
        # The role of a member changes as before, and administrators of the server need no consent.
        api.join(tenant, admin, user, "admin")
        own = api.tenant(root)
        api.join(own, root, user)

    def test_who_was_a_member_is_invited_again(self, api: Api) -> None:
        root, admin, user = api.person(admin=True), api.person(), api.person()
        tenant = api.tenant(root)
        api.join(tenant, root, admin, "admin")
        api.join(tenant, root, user)
        assert api.delete(f"{tenant}/members/{user.id}", by=user).status_code == 200
        assert api.put(f"{tenant}/members/{user.id}", {"role": "member"}, by=admin).status_code == 404


@pytest.mark.config({"users": {"registration": "invited"}})
class TestInvitedRegistration:
    def test_only_the_invited_contact_registers(self, scene: Invitations) -> None:
        scene.invite("new@example.com")
        secret = scene.secret("new@example.com")
        for recipient, invitation, status in (
            ("new@example.com", None, 403),
            ("new@example.com", "wrong", 403),
            ("other@example.com", secret, 403),
            ("new@example.com", secret, 201),
        ):
            body: Json = {
                "recipient": recipient,
                "purpose": "register",
                "captcha": scene.api.captcha(),
                "invitation": invitation,
            }
            sent = scene.api.post("/verification-codes", body)
            assert sent.status_code == status, sent.text
        code = {"id": sent.json["id"], "code": scene.messages("new@example.com")[-1]["code"]}
        body = {
            "name": "New",
            "email": "new@example.com",
            "password": PASSWORD,
            "verificationCodes": [code],
        }
        assert scene.api.post("/users", body).status_code == 403
        assert scene.api.post("/users", {**body, "invitation": "wrong"}).status_code == 403
        registered = scene.api.post("/users", {**body, "invitation": secret})
        assert registered.status_code == 201, registered.text
        assert scene.roles()[registered.json["id"]] == "member"
