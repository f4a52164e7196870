"""A tenant with as many files and folders as are wanted, written straight into a database."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, text

from strongroom.assembly.container import Container
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.collation import sort_key
from strongroom.foundation.ids import new_id
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import UserService

SHOWN: Final = 1000
"""Number of files at the member's top level, for any number of nodes."""

_FOLDERS: Final = """
INSERT INTO nodes (id, tenant_id, parent_id, type, name, size, owner_id,
                   created_at, updated_at, revision)
VALUES (:folder, :tenant, :parent, 'folder', :name, 0, :owner, 1, 1, 1)
"""
_FILES: Final = """
INSERT INTO nodes (id, tenant_id, parent_id, type, name, size, content_type, checksum, owner_id,
                   created_at, updated_at, revision)
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
SELECT '00000000-0000-7000-8000-' || substr('00000000000' || n, length('' || n)), :tenant,
       CASE WHEN n <= :shown THEN :foreign ELSE :own END, 'file', 'file ' || n, 0,
       'text/plain', '', :owner, 1, 1, 1 FROM numbers
"""
_GRANTS: Final = """
INSERT INTO grants (node_id, user_id, tenant_id, permission, expires_at, created_at, node_name,
                    parent_visible_until, node_type, node_sort_key)
SELECT id, :user, tenant_id, 3, NULL, 1, name, CASE WHEN parent_id = :own THEN NULL ELSE 0 END,
       type, sort_key
FROM nodes WHERE tenant_id = :tenant AND id <> :tenant AND id <> :foreign
"""
COUNTS: Final = """
INSERT INTO folder_counts (folder_id, first_name, children)
SELECT parent_id, CASE WHEN run = 0 THEN '' ELSE min(name) END, count(*)
FROM (SELECT parent_id, name,
             (row_number() OVER (PARTITION BY parent_id ORDER BY name) - 1) / 3000 AS run
      FROM nodes WHERE tenant_id = :tenant AND parent_id IS NOT NULL) AS placed
GROUP BY parent_id, run
"""


@dataclass(frozen=True, slots=True)
class Forest:
    """The created nodes.

    Args:
        tenant: the tenant.
        member: manages all nodes but one folder, whose files are the member's top-level nodes.
        folder: the member's folder, which contains all other files.
    """

    tenant: str
    member: Identity
    folder: str


def plant(container: Container, count: int) -> Forest:
    """Write a tenant with so many files."""
    admin, member = (identity(container, name) for name in ("Admin", "Member"))
    tenants = container.get(TenantService)
    tenant = tenants.create(admin, "Forest", Origin()).id
    tenants.put_member(admin, tenant, member.user_id, Role.MEMBER, Origin())
    own, foreign = new_id(), new_id()
    with container.database.write() as connection:
        for folder, parent, name, owner in (
            (tenant, None, "", admin),
            (own, tenant, "own", member),
            (foreign, tenant, "foreign", admin),
        ):
            values = {"folder": folder, "tenant": tenant, "parent": parent, "name": name}
            connection.execute(text(_FOLDERS), {**values, "owner": owner.user_id})
        names = {"tenant": tenant, "own": own, "foreign": foreign}
        connection.execute(
            text(_FILES), {**names, "count": count, "shown": SHOWN, "owner": member.user_id}
        )
        _set_sort_keys(connection)
        connection.execute(text(_GRANTS), {**names, "user": member.user_id})
        connection.execute(text(COUNTS), {"tenant": tenant})
    analyze(container)
    return Forest(tenant, member, own)


def _set_sort_keys(connection: Connection) -> None:
    rows = connection.execute(text("SELECT id, name FROM nodes WHERE name <> ''")).all()
    keys = [{"id": node_id, "key": sort_key(name)} for node_id, name in rows]
    connection.execute(text("UPDATE nodes SET sort_key = :key WHERE id = :id"), keys)


def identity(container: Container, name: str) -> Identity:
    """Create a user."""
    with container.database.write() as connection:
        user = container.get(UserService).create(connection, name, UserType.USER)
    return Identity(user.id, user.type, "bench")


def analyze(container: Container) -> None:
    """Collect the statistics of a database."""
    # The database does the same automatically, some time after many writes.
    engine = container.database.engine
    statement = "VACUUM ANALYZE" if engine.dialect.name == "postgresql" else "ANALYZE"
    raw = engine.execution_options(isolation_level="AUTOCOMMIT")
    with raw.connect() as connection:
        connection.exec_driver_sql(statement)
