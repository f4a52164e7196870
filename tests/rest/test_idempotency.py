"""A repeated request with an Idempotency-Key creates nothing again, and gets the first answer."""

from collections.abc import Callable, Iterator
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from flask import current_app
from sqlalchemy import func, select
from tests.support.api import PASSWORD, Answer, Api, Person, error_code
from tests.support.config import lifted, merged

from strongroom.content.storage.service import BlobService
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.errors import Forbidden, Unavailable
from strongroom.foundation.idempotency import (
    LEASE,
    LIFETIME,
    MAX_ANSWER,
    IdempotencyKeys,
    idempotency_keys,
)
from strongroom.foundation.plugins.shared_values import plugin_shared_values
from strongroom.plugin_api.storage import StorageUnavailable
from strongroom.testing.clock import ManualClock
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Operation
from strongroom_login_pages.plugin import register_tables as page_tables
from strongroom_share_links.plugin import register_tables as share_tables
from strongroom_webhooks.plugin import register_tables as webhook_tables

PLUGINS = {
    "plugins": {
        "enabled": [
            "storage_local",
            "share_links",
            "webhooks",
            "factor_totp",
            "login_passkey",
            "login_pages",
        ],
        "webhooks": {"allow_hosts": ["192.0.2.1:443"]},
    }
}
pytestmark = [pytest.mark.both_databases, pytest.mark.config(merged(PLUGINS, lifted()))]

View = Callable[[], Any]


class Killed(BaseException):
    """Ends a request as a signal ends its process."""


@dataclass
class Node:
    """One of two nodes of a server."""

    api: Api
    root: Person
    _numbers: Iterator[int] = field(default_factory=count)

    def send(self, path: str, key: str, *, by: Person | None = None, **options: Any) -> Answer:
        options = options or {"json": {}}
        headers = {"X-Current-Password": PASSWORD, **options.pop("headers", {}), "Idempotency-Key": key}
        request = partial(self.api.request, "POST", path, by=by or self.root, headers=headers, **options)
        # As in a process of its own, also within a request to the other node.
        return Context().run(request)

    def commit(self) -> None:
        """Have an effect: store a value under a name of its own."""
        self.api.container.base.shared_values.put("made", f"{next(self._numbers)}", 1, None)

    @property
    def effects(self) -> int:
        """The number of effects on both nodes."""
        with self.api.container.database.read() as connection:
            counted = select(func.count()).select_from(plugin_shared_values)
            return connection.execute(counted).scalar_one()


@pytest.fixture
def node(api: Api) -> Node:
    tables = {"share_links": share_tables(), "webhooks": webhook_tables(), "login_pages": page_tables()}
    upgrade(api.container.database.engine, tables)
    return Node(api, api.person(admin=True, name="Root"))


@pytest.fixture
def other(node: Node, config: Path, clock: ManualClock) -> Iterator[Node]:
    with Api.running(config, clock) as api:
        yield Node(api, node.root, count(500))


def creations(api: Api) -> dict[str, Operation]:
    """Return the operations that create for a caller, by their paths."""
    return {
        rule.rule: view
        for rule in api.app.url_map.iter_rules()
        if "POST" in (rule.methods or ())
        and isinstance(view := api.app.view_functions[rule.endpoint], Operation)
        and view.description.status in (201, 202)
        and view.access.name in ("USER", "ADMIN")
    }


def path_of(rule: str, node: Node) -> str:
    """Return a path of a rule; the views are replaced, so that any id will do."""
    return rule.replace("<user_id>", node.root.id).replace("<", "").replace(">", "")


Views = Callable[[str, dict[str, View]], None]
"""Replaces the view of the operation of a path, on each node."""


@pytest.fixture
def views(node: Node, other: Node, monkeypatch: pytest.MonkeyPatch) -> Views:
    """Replaces views and their parsers: what remains is what the platform does for all operations."""
    nodes = {"node": node, "other": other}
    operations = {name: creations(each.api) for name, each in nodes.items()}

    def replace(rule: str, views: dict[str, View]) -> None:
        def view(**_: Any) -> Any:
            # The nodes share the operations of the core.
            name = next(name for name, each in nodes.items() if current_app == each.api.app)
            return views[name]()

        for name in nodes:
            operation = operations[name][rule]
            monkeypatch.setattr(operation, "_view", view)
            monkeypatch.setattr(operation, "_verifies_login", False)
            # The parser reads the body, so that it is a part of the fingerprint.
            monkeypatch.setattr(operation, "inputs", {"body": dict})
            monkeypatch.setattr(operation, "_refuses_query", False)

    return replace


def created(node: Node) -> Any:
    node.commit()
    return Response(b'{"id":"%d"}' % node.effects, 201, {"Location": "/made"})


def unavailable(node: Node | None = None) -> Any:
    if node is not None:
        node.commit()
    raise Unavailable(retry_after=1)


def killed(node: Node | None = None) -> Any:
    if node is not None:
        node.commit()
    raise Killed


class TestEveryCreation:
    def test_declares_the_header(self, node: Node) -> None:
        operations = creations(node.api)
        assert len(operations) >= 40
        for rule, operation in operations.items():
            assert operation.creates, rule
            assert "Idempotency-Key" in operation.description.request_headers, rule

    def test_creates_once(self, node: Node, other: Node, views: Views) -> None:
        for number, rule in enumerate(creations(node.api)):
            path, before = path_of(rule, node), node.effects
            send, send_other = partial(node.send, path), partial(other.send, path)
            running: list[str] = []

            def view(send_other: Any = send_other, running: Any = running) -> Any:
                # The same request, while the first one is running on the other node.
                running.append(error_code(send_other("same", json={"n": 1})))
                return created(node)

            views(rule, {"node": view, "other": partial(created, other)})
            first = send("same", json={"n": 1})
            assert first.status_code == 201, (rule, first.text)
            assert running == ["error.idempotency-running"], rule
            for again in (send("same", json={"n": 1}), send_other('"same"', json={"n": 1})):
                assert (again.status_code, again.data) == (201, first.data), rule
                assert again.headers["Location"] == first.headers["Location"]
                assert again.headers["Idempotency-Replayed"] == "true"
            different = send_other("same", json={"n": 2})
            assert different.status_code == 422, rule
            assert error_code(different) == "error.idempotency-mismatch", rule
            assert node.effects == before + 1, rule
            assert send_other(f"another-{number}", json={"n": 1}).status_code == 201, rule

    def test_is_not_processed_again_after_a_kill(
        self, node: Node, other: Node, views: Views, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # A killed process ends nothing.
        for name in ("_finish", "_release"):
            monkeypatch.setattr(node.api.container.base.idempotency, name, lambda *_: None)
        rules = list(creations(node.api))
        for rule in rules:
            path, before = path_of(rule, node), node.effects
            for key, view in (("late", partial(killed, node)), ("early", killed)):
                views(rule, {"node": view, "other": partial(created, other)})
                with pytest.raises(Killed):
                    node.send(path, key)
                assert error_code(other.send(path, key)) == "error.idempotency-running", rule
            assert node.effects == before + 1
        node.api.clock.advance(LEASE)
        made = node.effects
        for rule in rules:
            path = path_of(rule, node)
            unknown = other.send(path, "late")
            assert (unknown.status_code, error_code(unknown)) == (409, "error.idempotency-unknown")
            assert other.send(path, "early").status_code == 201, rule
        assert node.effects == made + len(rules)


def test_real_routes_create_one_resource(node: Node) -> None:
    api, root = node.api, node.root
    tenant = api.tenant(root)
    folder = api.folder(tenant, root, "folder")["id"]
    service = api.post(f"{tenant}/service-accounts", {"name": "s"}, by=root).json["id"]
    hook = {"url": "https://192.0.2.1/", "eventTypes": ["user.*"]}
    routes: dict[str, dict[str, Any]] = {
        "/api/v1/tenants": {"json": {"name": "b"}},
        "/users/me/access-keys": {"json": {"name": "k", "scopes": ["files:read"]}},
        "/api/v1/service-accounts": {"json": {"name": "t"}},
        f"{tenant}/service-accounts": {"json": {"name": "t"}},
        f"{tenant}/service-accounts/{service}/access-keys": {
            "json": {"name": "k", "scopes": ["files:read"]}
        },
        f"{tenant}/groups": {"json": {"name": "g"}},
        f"{tenant}/invitations": {"json": {"email": "a@example.com"}},
        f"{tenant}/folders": {"json": {"name": "f"}},
        f"{tenant}/files?onConflict=rename": {
            "data": b"content",
            "headers": {"Content-Disposition": "attachment; filename=a"},
        },
        f"{tenant}/files/{folder}/shares": {"json": {"kind": "read"}},
        "/api/v1/webhook-endpoints": {"json": hook},
    }
    others: dict[str, dict[str, Any]] = {
        f"{tenant}/invitations": {"json": {"email": "b@example.com"}},
        f"{tenant}/files?onConflict=rename": {
            "data": b"other content",
            "headers": {"Content-Disposition": "attachment; filename=a"},
        },
        f"{tenant}/files/{folder}/shares": {"json": {"kind": "read", "label": "other"}},
        "/api/v1/webhook-endpoints": {"json": {**hook, "description": "other"}},
    }
    for path, options in routes.items():
        first = node.send(path, "k", **options)
        assert first.status_code == 201, (path, first.text)
        again = node.send(path, "k", **options)
        assert (again.status_code, again.data) == (201, first.data), path
        assert again.headers["Location"] == first.headers["Location"], path
        assert "Idempotency-Replayed" not in first.headers, path
        changed = others.get(path) or {"json": {**options["json"], "name": "other"}}
        assert node.send(path, "k", **changed).status_code == 422, path
    assert len(api.get("/api/v1/tenants", by=root).json["data"]) == 2
    assert len(api.get(f"{tenant}/owners/me/files", by=root).json["data"]) == 3
    assert len(api.get("/users/me/access-keys", by=root).json["data"]) == 1
    assert len(api.get("/api/v1/webhook-endpoints", by=root).json["data"]) == 1


def test_answers_are_sealed_and_of_one_caller(node: Node) -> None:
    api, path = node.api, "/users/me/access-keys"
    body: dict[str, Any] = {"name": "k", "scopes": ["files:read"]}
    alice = api.person()
    keys = [node.send(path, "k", by=by, json=body).json["key"] for by in (node.root, alice)]
    assert keys[0] != keys[1]
    with api.container.database.read() as connection:
        rows = connection.execute(select(idempotency_keys)).all()
    assert len(rows) == 2
    assert not any(key in str(tuple(row)) for row in rows for key in (*keys, "files:read"))
    assert api.delete(f"/users/{alice.id}", by=node.root).status_code == 200
    with api.container.database.read() as connection:
        assert [row.user_id for row in connection.execute(select(idempotency_keys))] == [node.root.id]


def test_a_refused_request_may_be_sent_again(node: Node, views: Views) -> None:
    path = "/api/v1/tenants"

    def forbidden() -> Any:
        raise Forbidden

    for key, view, status in (("a", forbidden, 403), ("b", unavailable, 503)):
        views(path, {"node": view})
        assert node.send(path, key).status_code == status
        views(path, {"node": partial(created, node)})
        assert node.send(path, key).status_code == 201
    views(path, {"node": partial(unavailable, node)})
    assert node.send(path, "c").status_code == 503
    # Whether the first request had its whole effect is not known.
    assert error_code(node.send(path, "c")) == "error.idempotency-unknown"


def test_an_upload_that_the_store_refused_may_be_sent_again(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"{node.api.tenant(node.root)}/files"
    named = {"Content-Disposition": 'attachment; filename="a.txt"', "Content-Type": "text/plain"}
    store = node.api.container.get(BlobService).storages["main"]

    def refuse(*_: object, **__: object) -> None:
        raise StorageUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(type(store), "put", refuse)
        assert node.send(path, "a", data=b"content", headers=dict(named)).status_code == 503
    first = node.send(path, "a", data=b"content", headers=dict(named))
    assert first.status_code == 201, first.text
    assert node.send(path, "a", data=b"content", headers=dict(named)).json == first.json


def test_a_request_that_outlasts_its_lease_has_no_effect_after_another_one(
    node: Node, other: Node, views: Views
) -> None:
    path = "/api/v1/tenants"
    answers: list[Answer] = []

    def slow() -> Any:
        node.api.clock.advance(LEASE)
        answers.append(other.send(path, "k"))
        return created(node)

    views(path, {"node": slow, "other": partial(created, other)})
    late = node.send(path, "k")
    assert answers[0].status_code == 201, answers[0].text
    assert (late.status_code, error_code(late)) == (409, "error.idempotency-running")
    assert node.effects == 1


def test_an_answer_that_is_too_large_is_not_stored(node: Node, views: Views) -> None:
    path = "/api/v1/tenants"
    views(path, {"node": lambda: Response(b"x" * (MAX_ANSWER + 1), 201)})
    assert node.send(path, "large").status_code == 201
    assert error_code(node.send(path, "large")) == "error.idempotency-unknown"


def test_the_keys_of_a_caller_are_bounded(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.foundation.idempotency.MAX_KEYS", 3)
    path, body = "/api/v1/tenants", {"name": "a"}
    statuses = [node.send(path, f"k{number}", json=body).status_code for number in range(5)]
    assert statuses == [201, 201, 201, 429, 429]
    node.api.clock.advance(LIFETIME)
    assert node.api.container.get(IdempotencyKeys).prune() == 3


def test_expired_keys_do_not_count(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.foundation.idempotency.MAX_KEYS", 3)
    path, body = "/api/v1/tenants", {"name": "a"}
    for number in range(3):
        assert node.send(path, f"k{number}", json=body).status_code == 201
    node.api.clock.advance(LIFETIME)
    node.root.token = node.api.log_in(node.root.email).headers["X-Access-Token"]
    statuses = [node.send(path, f"n{number}", json=body).status_code for number in range(4)]
    assert statuses == [201, 201, 201, 429]


def test_the_answer_is_stored_for_a_day(node: Node) -> None:
    path, api = "/api/v1/tenants", node.api
    first = node.send(path, "k", json={"name": "a"}).json["id"]
    api.clock.advance(LIFETIME - 1)
    node.root.token = api.log_in(node.root.email).headers["X-Access-Token"]
    assert node.send(path, "k", json={"name": "a"}).json["id"] == first
    api.clock.advance(1)
    assert node.send(path, "k", json={"name": "b"}).json["id"] != first


@pytest.mark.parametrize("key", ["", '""', "a" * 256, '"a', 'a"b', "\xe9"])
def test_an_invalid_key_is_refused(node: Node, key: str) -> None:
    answer = node.send("/api/v1/tenants", key, json={"name": "a"})
    assert (answer.status_code, error_code(answer)) == (400, "error.validation-failed")
