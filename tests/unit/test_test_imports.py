"""No test module imports another: shared code belongs to ``tests/support`` or a conftest."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported_by(path: Path) -> set[str]:
    """Return the names of all modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def is_test_module(name: str) -> bool:
    package, _, module = name.rpartition(".")
    return module.startswith("test_") and package.split(".")[0] in {"", "tests", "plugins"}


def test_no_test_module_is_imported() -> None:
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("plugins/*/tests/**/*.py")]
    assert len(files) > 200
    modules = {path.stem for path in files if path.stem.startswith("test_")}
    found = {
        (str(path.relative_to(ROOT)), name)
        for path in files
        for name in imported_by(path)
        if is_test_module(name) and name.rpartition(".")[2] in modules
    }
    assert found == set()
