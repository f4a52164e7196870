"""PostgreSQL compiles no statement, because that takes longer than what it makes faster."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.archive import Archive, plant
from sqlalchemy import event
from tests.support.config import write_api_config
from tests.support.databases import migrate
from tests.support.debian_postgresql import debian_postgresql

from strongroom.assembly.container import Container, build
from strongroom.assembly.doctor import assemble_doctor
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.observability.doctor import CheckState
from strongroom.extensions.retention.service import HoldService
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import load

FILES = 2000


@pytest.fixture(scope="module")
def jit_url() -> Iterator[str]:
    """The database of a server that compiles each statement."""
    with debian_postgresql("jit=on", "jit_above_cost=0") as url:
        migrate(url)
        yield url


@pytest.fixture
def container(jit_url: str, tmp_path: Path) -> Iterator[Container]:
    container = build(load(write_api_config(tmp_path, jit_url), {}))
    yield container
    container.close()


@pytest.fixture
def archive(container: Container) -> Archive:
    return plant(container, FILES)


def compiled(container: Container, statements: list[tuple[str, Any]]) -> list[str]:
    """Return the statements that PostgreSQL compiles in a connection of the server."""
    found = []
    with container.database.engine.begin() as connection:
        for statement, parameters in statements:
            explained = connection.exec_driver_sql(
                f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters
            )
            plan = explained.scalar_one()
            plan = plan if isinstance(plan, list) else json.loads(plan)
            found += [statement] if "JIT" in plan[0] else []
    return found


def of_usage(container: Container, archive: Archive) -> list[tuple[str, Any]]:
    """Return the statements that read the usage of a tenant, with their parameters."""
    statements: list[tuple[str, Any]] = []

    def note(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        statements.append((statement, parameters))

    event.listen(container.database.engine, "before_cursor_execute", note)
    container.get(TenantService).usage(archive.admin, archive.tenant)
    event.remove(container.database.engine, "before_cursor_execute", note)
    return statements


def is_recursive(statements: list[tuple[str, Any]]) -> bool:
    return any("RECURSIVE" in statement for statement, _ in statements)


def test_no_statement_of_the_usage_of_a_tenant_is_compiled(
    container: Container, archive: Archive
) -> None:
    # Through a pooler that drops the option, the recursive statement would be.
    assert not is_recursive(of_usage(container, archive))
    records, tenant = archive.nothing, archive.tenant
    tenants = container.get(TenantService)
    tenants.put_member(archive.admin, tenant, records.user_id, Role.RECORDS, Origin())
    container.get(HoldService).place(records, tenant, archive.folder, "Case 1", None, Origin())
    statements = of_usage(container, archive)
    assert is_recursive(statements)
    assert compiled(container, statements) == []


def test_the_doctor_warns_of_a_connection_that_compiles(jit_url: str, tmp_path: Path) -> None:
    for options, state in (("", CheckState.OK), ("?options=-c%20jit%3Don", CheckState.WARNING)):
        container = build(load(write_api_config(tmp_path, f"{jit_url}{options}"), {}))
        findings = {item.part: item for item in assemble_doctor(container, container.jobs).examine()}
        container.close()
        assert findings["database.jit"].state is state
