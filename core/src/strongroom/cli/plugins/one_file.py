"""Joins the modules of a plugin's template to the source of a one-file plugin."""

import ast
import sys
from collections.abc import Iterable, Mapping
from typing import Final

_LAST: Final = "plugin"
"""The module with the hooks, which imports the others."""

_WIDTH: Final = 88


def joined(package: str, modules: Mapping[str, str]) -> str:
    """Return one module with the code of all modules of a package.

    Args:
        package: the name of the package, whose modules import each other by it.
        modules: the sources by their names, without the empty ``__init__``.
    """
    ordered = sorted(modules, key=lambda name: (name == _LAST, name != "options", name))
    trees = {name: ast.parse(modules[name]) for name in ordered}
    # The docstring of the extension's module says more than the entry point's.
    described = [ast.get_docstring(trees[name]) for name in (*ordered[-2:-1], _LAST)]
    docstring = next(filter(None, described), "")
    imports = _imports(package, trees.values())
    bodies = [_body(modules[name], trees[name]) for name in ordered]
    return "\n\n\n".join([f'"""{docstring}"""\n\n{imports}', *filter(None, bodies)]) + "\n"


def _imports(package: str, trees: Iterable[ast.Module]) -> str:
    """Return the imports of all modules, of the standard library first."""
    nodes = [node for tree in trees for node in tree.body]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imports: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] != package:
            imports.setdefault(node.module or "", set()).update(map(ast.unparse, node.names))
    lines = [(_is_standard(module), f"import {module}") for module in sorted(plain)]
    lines += [
        (_is_standard(module), _import_line(module, sorted(imports[module], key=_order)))
        for module in sorted(imports)
    ]
    groups = ["\n".join(line for is_own, line in lines if is_own is kind) for kind in (True, False)]
    return "\n\n".join(filter(None, groups))


def _order(name: str) -> tuple[bool, str]:
    # As formatters sort: constants, then classes, then functions.
    return (not name.isupper(), name)


def _import_line(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def _is_standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def _body(source: str, tree: ast.Module) -> str:
    """Return the code of a module after its docstring and its imports."""
    first = next((node for node in tree.body if not _is_head(node)), None)
    if first is None:
        return ""
    begin = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", []))])
    return "\n".join(source.splitlines()[begin - 1 :]).strip("\n")


def _is_head(node: ast.stmt) -> bool:
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or isinstance(node, ast.Import | ast.ImportFrom)
