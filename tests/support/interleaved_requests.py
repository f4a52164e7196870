"""Pairs of requests that tests run in the middle of each other."""

from collections.abc import Callable
from itertools import count
from typing import Any

from tests.support.api import PASSWORD, Answer, Api, Json, Person, creation_headers
from tests.support.interleaving import Action, Interleaving
from tests.support.scene import Scene

PROOF = {"X-Current-Password": PASSWORD}
Pair = tuple[Action, Action]
Preparation = Callable[["Stage"], Pair]
"""Prepares one run, and returns both requests."""


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


def search(stage: Stage, prepare: Preparation, end: Callable[[], Any] = lambda: None) -> None:
    """Check that all outcomes of a pair are those of one request after the other, in either order.

    Args:
        stage: the scene.
        prepare: prepares a run.
        end: called after each run; what it returns is a part of the outcome.
    """
    first, second = prepare(stage)
    right = {((first(), second()), end())}
    first, second = prepare(stage)
    outcome = second()
    right.add(((first(), outcome), end()))
    runs = Interleaving(stage.api.container.database).every(lambda: prepare(stage))
    found = {(outcomes, end()) for outcomes in runs}
    assert found <= right, found - right
