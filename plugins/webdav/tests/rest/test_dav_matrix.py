"""Each verb answers as its operation of the REST API: grants x scopes x locks x verbs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from tests.support.api import Answer, Json, Person
from tests.support.databases import on_sqlite
from tests.support.scene import Scene
from tests.support.webdav import PLUGINS, Drive, locked_body

LEVELS: Final = ("none", "read", "write", "manage")
SCOPES: Final = ("files:read", "files:write", "files:share")
PATCH: Final = (
    b'<propertyupdate xmlns="DAV:"><set><prop>'
    b'<color xmlns="urn:a">red</color></prop></set></propertyupdate>'
)

pytestmark = [on_sqlite, pytest.mark.config({"plugins": {"enabled": PLUGINS}})]


@dataclass
class Place:
    """A folder "top" with a file, and a folder "inbox", both granted to Alice."""

    scene: Scene
    drive: Drive
    by: Person
    name: str
    top: Json
    inbox: Json
    file: Json

    @classmethod
    def made(cls, scene: Scene, drive: Drive, key: str, level: str, number: int) -> "Place":
        top, inbox = scene.folder(f"top {number}"), scene.folder(f"inbox {number}")
        file = scene.file("a.txt", top)
        if level != "none":
            for node in (top, inbox):
                assert scene.grant(node, scene.alice, level).status_code == 201
        return cls(scene, drive, replace(scene.alice, token=key), str(number), top, inbox, file)

    def path(self, name: str = "a.txt", folder: str = "top") -> str:
        return f"{folder} {self.name}/{name}"

    def rest(self, method: str, path: str, json: Json | None = None, **options: Any) -> Answer:
        path = f"{self.scene.path}/files/{path}"
        return self.scene.api.request(method, path, by=self.by, json=json, **options)

    def state(self) -> tuple[object, ...]:
        """Return what the verbs may change, as the administrator sees it."""
        api, tenant, admin = self.scene.api, self.scene.path, self.scene.admin
        lists = [
            api.get(f"{tenant}/owners/me/files/{folder['id']}/files?include=locks", by=admin).json[
                "data"
            ]
            for folder in (self.top, self.inbox)
        ]
        names = [(node["name"], node["checksum"]) for nodes in lists for node in nodes]
        return (*names, len(api.get(f"{tenant}/files/{self.file['id']}/locks", by=admin).json["data"]))


Send = Callable[[Place], Answer]


@dataclass(frozen=True)
class Verb:
    """A verb, and the operation of the REST API that does the same; ``None``: there is none.

    Args:
        level: the permission that it needs.
        scope: the scope that the key needs.
        heeds_locks: whether a lock of another user forbids it.
    """

    dav: Send
    rest: Send | None
    level: str
    scope: str
    heeds_locks: bool = True


VERBS: Final[Mapping[str, Verb]] = {
    "GET": Verb(
        lambda p: p.drive.send("GET", p.path()),
        lambda p: p.rest("GET", f"{p.file['id']}/download"),
        "read",
        "files:read",
        heeds_locks=False,
    ),
    "PROPFIND": Verb(
        lambda p: p.drive.send("PROPFIND", p.path(), Depth=0),
        lambda p: p.rest("GET", p.file["id"]),
        "read",
        "files:read",
        heeds_locks=False,
    ),
    "PUT over a file": Verb(
        lambda p: p.drive.put(p.path(), b"changed"),
        lambda p: p.rest(
            "PUT", f"{p.file['id']}/content", data=b"changed", headers={"Content-Type": "text/plain"}
        ),
        "write",
        "files:write",
    ),
    "PUT of a new file": Verb(
        lambda p: p.drive.put(p.path("new.txt"), b"new"),
        lambda p: p.rest(
            "POST",
            f"{p.top['id']}/files",
            data=b"new",
            headers={"Content-Disposition": 'attachment; filename="new.txt"'},
        ),
        "write",
        "files:write",
    ),
    "MKCOL": Verb(
        lambda p: p.drive.send("MKCOL", p.path("new")),
        lambda p: p.rest("POST", f"{p.top['id']}/folders", {"name": "new"}),
        "write",
        "files:write",
    ),
    "DELETE": Verb(
        lambda p: p.drive.send("DELETE", p.path()),
        lambda p: p.rest("DELETE", p.file["id"]),
        "manage",
        "files:share",
    ),
    "MOVE to another name": Verb(
        lambda p: p.drive.transfer("MOVE", p.path(), p.path("b.txt")),
        lambda p: p.rest("PATCH", p.file["id"], {"name": "b.txt"}),
        "write",
        "files:write",
    ),
    "MOVE to another folder": Verb(
        lambda p: p.drive.transfer("MOVE", p.path(), p.path(folder="inbox")),
        lambda p: p.rest("PUT", f"{p.file['id']}/directory", {"parentId": p.inbox["id"]}),
        "manage",
        "files:share",
    ),
    "COPY": Verb(
        lambda p: p.drive.transfer("COPY", p.path(), p.path(folder="inbox")),
        lambda p: p.rest("POST", f"{p.file['id']}/copies", {"parentId": p.inbox["id"]}),
        "write",
        "files:write",
        heeds_locks=False,
    ),
    "PROPPATCH": Verb(
        lambda p: p.drive.send("PROPPATCH", p.path(), PATCH), None, "write", "files:write"
    ),
    "LOCK": Verb(
        lambda p: p.drive.send("LOCK", p.path(), locked_body()),
        lambda p: p.rest("POST", f"{p.file['id']}/locks", {}),
        "write",
        "files:write",
    ),
}


def includes(higher: str, lower: str, order: tuple[str, ...]) -> bool:
    return order.index(higher) >= order.index(lower)


@pytest.mark.parametrize("is_locked", [False, True], ids=["free", "locked"])
@pytest.mark.parametrize("scope", SCOPES)
def test_a_verb_answers_as_its_operation(scene: Scene, scope: str, is_locked: bool) -> None:
    body = {"name": "key", "scopes": [scope]}
    key = scene.api.post("/users/me/access-keys", body, by=scene.alice).json["key"]
    drive, number, wrong = Drive(scene.api, key), 0, []
    for level in LEVELS:
        for name, verb in VERBS.items():
            may = includes(level, verb.level, LEVELS) and includes(scope, verb.scope, SCOPES)
            expected = "done" if may else "refused"
            if may and is_locked and verb.heeds_locks:
                expected = "locked"
            for way, send in (("DAV", verb.dav), ("REST", verb.rest)):
                if send is None:
                    continue
                number += 1
                place = Place.made(scene, drive, key, level, number)
                if is_locked:
                    locks = f"{scene.path}/files/{place.top['id']}/locks"
                    assert scene.api.post(locks, {}, by=scene.admin).status_code == 201
                before = place.state()
                answer = send(place)
                outcome = outcome_of(answer)
                if outcome != expected or (outcome != "done" and place.state() != before):
                    wrong.append((way, name, level, answer.status_code, expected))
    assert wrong == []


def outcome_of(answer: Answer) -> str:
    if answer.status_code == 207 and b"423" in answer.data:
        return "locked"
    if answer.status_code < 300:
        return "done"
    return "locked" if answer.status_code == 423 else "refused"
