"""Requests in the middle of others end as if one had followed the other.

Each pair of requests runs one after the other in both orders, which gives the outcomes that are right,
and then with the second at each statement of the first.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers
from tests.support.config import Table, lifted
from tests.support.databases import on_postgresql
from tests.support.interleaving import Action, Interleaving
from tests.support.scene import Scene

pytestmark = on_postgresql

PROOF = {"X-Current-Password": PASSWORD}
Pair = tuple[Action, Action]


@pytest.fixture
def config_changes() -> Table:
    return lifted()


class Stage(Scene):
    """A scene with requests that tests combine; each returns its status, and the code of an error."""

    def __init__(self, api: Api) -> None:
        super().__init__(api)
        self.root = api.person(admin=True)
        self._numbers = count()

    def name(self) -> str:
        """Return a new name."""
        return f"name{next(self._numbers)}"

    def upload(self, name: str, rule: str = "fail", path: str = "") -> Action:
        query = f"?onConflict={rule}" + (f"&relativePath={path}" if path else "")
        return lambda: ended(self.api.send(self.path, self.admin, name, b"x", query=query))

    def tus(self, path: str) -> Action:
        headers = {
            **creation_headers(1, filename=path.rpartition("/")[2], relativePath=path),
            "Content-Type": "application/offset+octet-stream",
        }
        return self.request("POST", f"{self.path}/uploads", headers=headers, data=b"x")

    def request(self, method: str, path: str, by: Person | None = None, **options: Any) -> Action:
        return lambda: ended(self.api.request(method, path, by=by or self.admin, **options))

    def change(self, node: Json, **values: Any) -> Action:
        return self.request("PUT", f"{self.path}/files/{node['id']}/directory", json=values)

    def delete(self, node: Json) -> Action:
        return self.request("DELETE", f"{self.path}/files/{node['id']}")

    def trashed(self, name: str) -> Json:
        node = self.file(name)
        assert self.delete(node)() == 200
        return node

    def restore(self, node: Json) -> Action:
        body = {"onConflict": "rename"}
        return self.request("POST", f"{self.path}/trash/{node['id']}/restore", json=body)

    def invited(self, email: str) -> str:
        """Invite an address, and return the path of the invitation."""
        answer = self.api.post(f"{self.path}/invitations", {"email": email}, by=self.admin)
        assert answer.status_code == 201
        return f"invitations/{answer.json['id']}"

    def register(self, **values: Any) -> Action:
        body = {"name": "New", "password": PASSWORD, **values}
        return lambda: ended(self.api.post("/users", body))

    def proven(self, email: str) -> Json:
        """Return the members of a registration with an address."""
        return {"email": email, "verificationCodes": [self.api.code(email, "register")]}

    def bind(self, user: Person, email: str) -> Action:
        body = {
            "email": email,
            "verificationCode": self.api.code(email, "bind"),
            "heldCode": self.api.code(user.email, "bind"),
        }
        return self.request("POST", "/users/me/emails", user, json=body)

    def leave(self, user: Person) -> Action:
        """Delete the account of a user."""
        return self.request("DELETE", f"/users/{user.id}", user, headers=PROOF)


def ended(answer: Answer) -> int | str:
    """Return the status of an answer, or the code of its error."""
    if answer.status_code < 400:
        return answer.status_code
    return str(answer.json["error"]["code"])


def uploads_of_a_name(rule: str) -> Callable[[Stage], Pair]:
    def prepare(stage: Stage) -> Pair:
        name = stage.name()
        return stage.upload(name, rule), stage.upload(name, rule)

    return prepare


def uploads_into_a_new_folder(stage: Stage) -> Pair:
    name = stage.name()
    return stage.upload("x", path=f"{name}/b/x"), stage.upload("y", path=f"{name}/b/y")


def resumable_uploads_into_a_new_folder(stage: Stage) -> Pair:
    name = stage.name()
    return stage.tus(f"{name}/b/x"), stage.tus(f"{name}/b/y")


def an_upload_into_a_folder_that_is_deleted(stage: Stage) -> Pair:
    folder = stage.folder(stage.name())
    return stage.upload("x", path=f"{folder['name']}/b/x"), stage.delete(folder)


def folders_that_are_moved_into_each_other(stage: Stage) -> Pair:
    one, other = stage.folder(stage.name()), stage.folder(stage.name())
    return stage.change(one, parentId=other["id"]), stage.change(other, parentId=one["id"])


def restorations_of_a_name(stage: Stage) -> Pair:
    name = stage.name()
    return stage.restore(stage.trashed(name)), stage.restore(stage.trashed(name))


def invitations_of_an_address(stage: Stage) -> Pair:
    invite = stage.request("POST", f"{stage.path}/invitations", json={"email": f"{stage.name()}@b.com"})
    return invite, invite


def a_registration_whose_invitation_is_withdrawn(stage: Stage) -> Pair:
    email = f"{stage.name()}@b.com"
    one = stage.invited(email)
    register = stage.register(**stage.proven(email))
    return register, stage.request("DELETE", f"{stage.path}/{one}")


def an_invitation_that_is_accepted_and_declined(stage: Stage) -> Pair:
    user = stage.api.person()
    path = f"/users/me/{stage.invited(user.email)}"
    return stage.request("POST", f"{path}/acceptance", user), stage.request("DELETE", path, user)


def registrations_of_a_username(stage: Stage) -> Pair:
    name = stage.name()
    one, other = (stage.register(username=name, captcha=stage.api.captcha()) for _ in range(2))
    return one, other


def usernames_of_a_user(stage: Stage) -> Pair:
    user = stage.api.person()
    one, other = (
        stage.request(
            "PUT",
            "/users/me/username",
            user,
            json={"username": stage.name(), "currentPassword": PASSWORD},
        )
        for _ in range(2)
    )
    return one, other


def a_suspension_of_a_user_who_is_changed(stage: Stage) -> Pair:
    user = stage.api.person()
    rename = stage.request("PATCH", f"/users/{user.id}", stage.root, json={"name": "Other"})
    return stage.request("POST", f"/users/{user.id}/suspension", stage.root), rename


PAIRS: list[Callable[[Stage], Pair]] = [
    *map(uploads_of_a_name, ("fail", "rename", "replace")),
    uploads_into_a_new_folder,
    resumable_uploads_into_a_new_folder,
    an_upload_into_a_folder_that_is_deleted,
    folders_that_are_moved_into_each_other,
    restorations_of_a_name,
    invitations_of_an_address,
    a_registration_whose_invitation_is_withdrawn,
    an_invitation_that_is_accepted_and_declined,
    registrations_of_a_username,
    usernames_of_a_user,
    a_suspension_of_a_user_who_is_changed,
]


@pytest.fixture
def stage(api: Api) -> Stage:
    return Stage(api)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.__qualname__.partition(".")[0])
def test_the_outcomes_are_those_of_one_after_the_other(
    stage: Stage, pair: Callable[[Stage], Pair]
) -> None:
    first, second = pair(stage)
    right = {(first(), second())}
    first, second = pair(stage)
    outcome = second()
    right.add((first(), outcome))
    found = set(Interleaving(stage.api.container.database).every(lambda: pair(stage)))
    assert found <= right


def test_two_bindings_of_a_user_are_in_order(stage: Stage) -> None:
    """One after the other, the second is refused, because its codes were sent to a former address."""

    def prepare() -> Pair:
        user, email = stage.api.person(), f"{stage.name()}@b.com"
        return stage.bind(user, email), stage.bind(user, email)

    found = set(Interleaving(stage.api.container.database).every(prepare))
    assert found <= {(201, 201), (201, "error.code-invalid"), ("error.code-invalid", 201)}


def test_an_address_is_free_after_its_user_was_deleted_while_binding_it(stage: Stage) -> None:
    addresses = [f"{stage.name()}@b.com"]

    def prepare() -> Pair:
        user = stage.api.person()
        addresses.append(f"{stage.name()}@b.com")
        return stage.bind(user, addresses[-1]), stage.leave(user)

    for outcomes in Interleaving(stage.api.container.database).every(prepare):
        assert outcomes[1] == 200
        path = f"/credentials/{addresses[-1]}/available"
        assert stage.api.get(path).json == {"available": True}, outcomes
