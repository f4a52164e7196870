"""Requests in the middle of others end as if one had followed the other.

Each pair of requests runs one after the other in both orders, which gives the outcomes that are right,
and then with the second at each statement of the first.
"""

import pytest
from tests.support.api import PASSWORD, Api
from tests.support.config import lifted
from tests.support.databases import on_postgresql
from tests.support.interleaved_requests import Pair, Preparation, Stage, search
from tests.support.interleaving import Interleaving

pytestmark = [on_postgresql, pytest.mark.extended, pytest.mark.config(lifted())]


def uploads_of_a_name(rule: str) -> Preparation:
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


PAIRS: list[Preparation] = [
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
def test_the_outcomes_are_those_of_one_after_the_other(stage: Stage, pair: Preparation) -> None:
    search(stage, pair)


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
