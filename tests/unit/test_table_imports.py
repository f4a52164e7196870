"""A feature calls another feature's service and does not use its tables."""

import ast
from collections.abc import Iterator
from pathlib import Path

import strongroom

CORE = Path(strongroom.__file__).parent

ALLOWED = {
    ("accounts.service", "users"),  # filters users by their contacts
    ("backup.create", "blobs"),  # an archive holds the rows of all features
    ("backup.restore", "authorizations"),  # likewise
    ("backup.restore", "blobs"),  # likewise
    ("backup.restore", "retention_clock"),  # likewise
    ("observability.doctor", "audit_events"),  # compares the clock with the newest event
}


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
    owners = {(name, table): name.split(".")[0] for name, tree in modules() for table in tables(tree)}
    assert owners
    found = {
        (name, imported[1])
        for name, tree in modules()
        for imported in imports(tree)
        if owners.get(imported, name.split(".")[0]) != name.split(".")[0]
    }
    assert found == ALLOWED
