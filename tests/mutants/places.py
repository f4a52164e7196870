"""Where a mutant replaces code: a function, and a part of it however it is formatted."""

import ast
import re
from itertools import accumulate, pairwise

_LEXEMES = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\w+|[^\w\s]')
_GAP = r"(?:\s|#[^\n]*\n)*"
_CLOSING = {")", "]", "}"}


def replaced(text: str, function: str, old: str, new: str) -> str:
    """Return a module's text with a part of a function replaced.

    Args:
        text: the text of the module.
        function: the name of the function or class, as in ``Class.method``; empty for all of the module.
        old: a part that occurs once in it, in any layout, and with any comments in between.
        new: its replacement; its lines after the first are indented like the line of ``old``.

    Raises:
        LookupError: there is no such function, or it does not contain ``old`` once.
    """
    begin, end = _span(text, function)
    matches = list(_pattern(old).finditer(text, begin, end))
    if len(matches) != 1:
        raise LookupError(f"{function or 'the module'} contains {len(matches)} times, not once: {old}")
    first, last = matches[0].span()
    line = text[text.rfind("\n", 0, first) + 1 : first]
    indentation = line[: len(line) - len(line.lstrip())]
    return text[:first] + new.replace("\n", f"\n{indentation}") + text[last:]


def _span(text: str, function: str) -> tuple[int, int]:
    """Return the offsets between which a function stands."""
    if not function:
        return 0, len(text)
    node: ast.AST = ast.parse(text)
    for name in function.split("."):
        node = _definition(node, name)
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    lines = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return lines[first - 1], lines[node.end_lineno or node.lineno]


def _definition(parent: ast.AST, name: str) -> ast.AST:
    for node in ast.walk(parent):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and node is not parent:
            return node
    raise LookupError(f"there is no {name}")


def _pattern(code: str) -> re.Pattern[str]:
    """Return a pattern of the lexemes of some code, which may be any part of a statement."""
    lexemes = _LEXEMES.findall(code)
    # A formatter adds and removes a comma before a closing bracket.
    kept = [one for one, other in pairwise([*lexemes, ""]) if not (one == "," and other in _CLOSING)]
    parts = [f",?{_GAP}{re.escape(one)}" if one in _CLOSING else re.escape(one) for one in kept]
    return re.compile(r"(?<!\w)" * kept[0].isidentifier() + _GAP.join(parts))
