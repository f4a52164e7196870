"""A tracer that listens to SQLAlchemy's events sees the statements of hot requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event
from tests.support.api import PASSWORD, Api

pytestmark = pytest.mark.both_databases


@contextmanager
def traced(api: Api) -> Iterator[list[str]]:
    """Yield the statements that end, as tracing would record them."""
    seen: list[str] = []

    def begin(_: Any, __: Any, statement: str, ___: Any, context: Any, ____: bool) -> None:
        context.span = statement

    def end(_: Any, __: Any, ___: str, ____: Any, context: Any, _____: bool) -> None:
        seen.append(context.span)

    engines = api.container.database.engines
    for engine in engines:
        event.listen(engine, "before_cursor_execute", begin)
        event.listen(engine, "after_cursor_execute", end)
    yield seen
    for engine in engines:
        event.remove(engine, "before_cursor_execute", begin)
        event.remove(engine, "after_cursor_execute", end)


def reads(statements: list[str], table: str) -> bool:
    return any(table in statement for statement in statements)


def test_each_statement_of_a_request_is_seen(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    file = api.upload(tenant, person, "a.txt", b"x")
    with traced(api) as statements:
        assert api.get(f"{tenant}/files/{file['id']}", by=person).json == file
    assert reads(statements, "FROM nodes")
    with traced(api) as statements:
        assert api.log_in(person.email, PASSWORD).status_code == 200
    for table in ("passwords", "authorizations", "refresh_tokens", "audit_events"):
        assert reads(statements, table)
    with traced(api) as statements:
        api.upload(tenant, person, "b.txt", b"x")
    for table in ("nodes", "blobs", "tenants", "file_events"):
        assert reads(statements, table)


def test_nothing_is_seen_after_the_tracer_has_gone(api: Api) -> None:
    person = api.person()
    tenant = api.tenant(person)
    with traced(api) as statements:
        api.get(f"{tenant}/owners/me/files", by=person)
    count = len(statements)
    assert count > 0
    assert api.get(f"{tenant}/owners/me/files", by=person).status_code == 200
    assert len(statements) == count
