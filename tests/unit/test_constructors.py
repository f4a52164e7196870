"""No constructor only copies its arguments: such a class is a dataclass (ADR 0115)."""

import ast
from pathlib import Path

import strongroom

ROOT = Path(__file__).resolve().parents[2]


def copies_argument(statement: ast.stmt, method: ast.FunctionDef) -> bool:
    """Return whether a statement of a constructor is ``self.NAME = ARGUMENT``."""
    names = {argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)}
    match statement:
        case (
            ast.Assign(targets=[ast.Attribute(value=ast.Name("self"))], value=ast.Name(name))
            | ast.AnnAssign(target=ast.Attribute(value=ast.Name("self")), value=ast.Name(name))
        ):
            return name in names
    return False


def copying_constructors(source: str) -> list[str]:
    """Return the names of the classes with a constructor all of whose statements copy arguments."""
    classes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]
    names = []
    for item in classes:
        for method in item.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                body = method.body[1:] if ast.get_docstring(method) else method.body
                if body and all(copies_argument(statement, method) for statement in body):
                    names.append(item.name)
    return names


def test_a_copying_constructor_is_found() -> None:
    source = 'class Desk:\n def __init__(self, lamp: int):\n  """Docs."""\n  self._lamp = lamp\n'
    assert copying_constructors(source) == ["Desk"]
    assert copying_constructors(source.replace("= lamp", "= lamp + 1")) == []
    assert copying_constructors(source.replace("= lamp", "= LAMP")) == []


def test_no_constructor_only_copies_its_arguments() -> None:
    folders = [Path(strongroom.__file__).parent, *ROOT.glob("plugins/*/src")]
    assert len(folders) > 20
    classes = {
        f"{module.name}: {name}"
        for folder in folders
        for module in folder.rglob("*.py")
        for name in copying_constructors(module.read_text(encoding="utf-8"))
    }
    assert classes == set()
