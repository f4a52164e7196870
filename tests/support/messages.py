"""Finds the error messages in source code: the texts of errors, and of the fields in them."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from strongroom.foundation.errors import catalogue

ROOT: Final = Path(__file__).parents[2]

Functions = Mapping[str, int]
"""The position of the message among the arguments, by the name of a function."""

_ANY: Final[Functions] = {
    "Detail": 2,
    "ErrorKind": 2,
    "FactorRejected": 0,
    "FieldError": 2,
    "ValidationError": 0,
    "of_field": 2,
}
_CORE: Final[Functions] = {**_ANY, "refusal": 2, **{kind.__name__: 0 for kind in catalogue()}}
_WITHOUT_MESSAGE: Final = frozenset(
    {
        "FactorEnrolmentRequired",
        "InsufficientScope",
        "RangeNotSatisfiable",
        "SecondFactorRequired",
        "StepUpRequired",
    }
)
"""Errors whose first argument is not their message."""


@cache
def messages_in(folder: Path) -> dict[str, Path]:
    """Return the messages in the modules of a folder; ``{}`` stands for a part that varies."""
    return {text: path for path in sorted(folder.rglob("*.py")) for text in _messages(path)}


def _messages(path: Path) -> Iterator[str]:
    # Plugins have errors of their own with names of the core's.
    known, source = _CORE if path.is_relative_to(ROOT / "core") else _ANY, path.read_text()
    if not any(f"{name}(" in source for name in known):
        return
    tree = ast.parse(source)
    functions = {**known, **_wrappers(tree, known)}
    for function, call in _calls(tree):
        name = _name(call)
        if name in functions and name not in _WITHOUT_MESSAGE:
            yield from _texts(_argument(call, functions[name]), (function, tree))


def _wrappers(tree: ast.Module, known: Functions) -> dict[str, int]:
    """Return the functions of a module that pass on one of their parameters as a message."""
    found = {}
    for function, call in _calls(tree):
        passed = _argument(call, known.get(_name(call), -1))
        names = (
            [item.arg for item in function.args.args] if isinstance(function, ast.FunctionDef) else []
        )
        if isinstance(passed, ast.Name) and passed.id in names and isinstance(function, ast.FunctionDef):
            found[function.name] = names.index(passed.id)
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Call]]:
    """Yield each call with the innermost function that contains it."""
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while pending:
        function, node = pending.pop()
        if isinstance(node, ast.Call):
            yield function, node
        inner = node if isinstance(node, ast.FunctionDef) else function
        pending += [(inner, child) for child in ast.iter_child_nodes(node)]


def _name(call: ast.Call) -> str:
    called = call.func
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _argument(call: ast.Call, position: int) -> ast.expr | None:
    if 0 <= position < len(call.args):
        return call.args[position]
    return next((item.value for item in call.keywords if item.arg == "message"), None)


def _texts(node: ast.expr | None, scopes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the texts that an expression may be, as far as the module has them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from _filled(node, scopes)
    elif isinstance(node, ast.IfExp):
        yield from (*_texts(node.body, scopes), *_texts(node.orelse, scopes))
    elif isinstance(node, (ast.Name, ast.Subscript)):
        named = node.value if isinstance(node, ast.Subscript) else node
        for value in _assigned(getattr(named, "id", ""), scopes):
            # Variables of variables are not followed.
            yield from (text for item in _members(value) for text in _texts(item, ()))


def _members(node: ast.expr) -> list[ast.expr]:
    """Return the values of a table: of a dictionary, or the last ones of the tuples in a list."""
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.List):
        return [item.elts[-1] for item in node.elts if isinstance(item, ast.Tuple)]
    return [node]


def _filled(node: ast.JoinedStr, scopes: tuple[ast.AST, ...]) -> Iterator[str]:
    """Yield the texts of an f-string, including those of a variable that it begins with."""
    texts = [""]
    for part in node.values:
        known = list(_texts(part.value, scopes)) if isinstance(part, ast.FormattedValue) else []
        ends = known or [str(part.value) if isinstance(part, ast.Constant) else "{}"]
        texts = [text + end for text in texts for end in ends]
    yield from texts


def _assigned(name: str, scopes: tuple[ast.AST, ...]) -> Iterator[ast.expr]:
    for scope in scopes:
        # Of a module only its own variables, not those of its functions.
        for node in scope.body if isinstance(scope, ast.Module) else ast.walk(scope):
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            value = getattr(node, "value", None)
            if value is not None and any(getattr(item, "id", "") == name for item in targets):
                yield value
