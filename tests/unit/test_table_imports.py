"""A feature calls another feature's service and does not use its tables."""

import ast
from collections.abc import Iterator
from pathlib import Path

import strongroom

CORE = Path(strongroom.__file__).parent

ALLOWED = {
    ("content.files", "content.nodes"),  # files are what clients see of nodes
    # They are rows, selections or owners of nodes.
    ("extensions.bundles", "content.nodes"),
    ("extensions.search", "content.nodes"),
    ("extensions.transfers", "content.nodes"),
    ("extensions.trash", "content.nodes"),
    ("extensions.retention", "content.nodes"),
    ("extensions.locks", "content.nodes"),
    ("extensions.invitations", "content.tenants"),  # an invitation makes a membership
    # What a directory has created are users, members and groups, in one query each.
    ("extensions.provisioning", "content.tenants"),
    ("extensions.provisioning.user_records", "users"),
    ("extensions.storage_maintenance", "content.storage"),  # compares the rows with the objects
    ("extensions.events", "content.nodes"),  # the events are written where nodes change
    # One query for the credentials of those who can act, or of members, who are many.
    ("extensions.platform_logins", "content.tenants"),
    ("extensions.platform_logins", "identity.access_keys"),
    ("extensions.platform_logins", "identity.sessions"),
    ("extensions.platform_logins", "identity.users"),
    ("identity.grants.store", "authorizations"),  # a grant is an authorization of a client
    ("identity.verification.codes", "credentials"),  # voids the codes of a user's contacts
    ("extensions.backup.chain", "blobs"),  # an archive holds the rows of all features
    ("extensions.backup.create", "blobs"),  # likewise
    ("extensions.backup.restore_tenant", "node_versions"),  # likewise
    ("extensions.backup.restore_tenant", "nodes"),  # likewise
    ("extensions.backup.restore_tenant", "tenant_members"),  # likewise
    ("extensions.backup.restore_tenant", "tenants"),  # likewise
    ("extensions.backup.restore_tenant", "trash"),  # likewise
    ("extensions.backup.restore_tenant", "blobs"),  # likewise
    ("extensions.backup.restore_tenant", "users"),  # likewise
    ("extensions.backup.tenant_rows", "blobs"),  # likewise
    ("extensions.backup.tenant_rows", "tenants"),  # likewise
    ("extensions.backup.restore", "authorizations"),  # likewise
    ("extensions.backup.restore", "blobs"),  # likewise
    ("extensions.backup.restore", "retention_clock"),  # likewise
    ("extensions.audit_exports.export", "audit_events"),  # writes its rows to files
    ("extensions.observability.clock_skew", "audit_events"),  # compares the clock with the newest event
}


def feature(module: str) -> str:
    """Return the package below a wing."""
    return ".".join(module.split(".")[:2])


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in CORE.rglob("*.py"):
        name = ".".join(path.relative_to(CORE).with_suffix("").parts)
        yield name, ast.parse(path.read_text(encoding="utf-8"))


def tables(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Call):
            call, target = statement.value.func, statement.target
            if isinstance(call, ast.Name) and call.id == "Table" and isinstance(target, ast.Name):
                yield target.id


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield (node.module or "").removeprefix("strongroom."), alias.name


def test_only_the_listed_modules_use_tables_of_another_feature() -> None:
    owners = {(name, table): feature(name) for name, tree in modules() for table in tables(tree)}
    assert owners
    uses = {
        (name, feature(name), owners[imported], imported[1])
        for name, tree in modules()
        for imported in imports(tree)
        if owners.get(imported, feature(name)) != feature(name)
    }
    built = {(user, owner) for _, user, owner, _ in uses} & ALLOWED
    assert {(name, table) for name, *pair, table in uses if tuple(pair) not in built} | built == ALLOWED
