"""Generates a page for each module of the plugin API, with all that its docstrings declare."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, Final

from generator.prose import cell, code, prose, required
from strongroom import plugin_api

_PACKAGE: Final = plugin_api.__name__
"""Former names of modules, which import what others define."""

_WIDTH: Final = 100
"""The length of a signature in one line."""

_SECTION: Final = re.compile(r"(Args|Returns|Yields|Raises|Attributes):")
_ITEM: Final = re.compile(r" {4}(\*{0,2}[\w.]+(?:, \*{0,2}[\w.]+)*): (.*)")


@dataclass(frozen=True)
class Documented:
    """A constant, type or attribute of a class with the string below it.

    Args:
        value: its annotation or value, as in the source.
    """

    name: str
    value: str
    text: str


def plugin_api_pages() -> dict[str, str]:
    """Return the pages by file name, and ``index.md`` with all names."""
    modules = [module for module in api_modules() if list(public_names(module))]
    pages = {_file(module): "".join(_page(module)) for module in modules}
    pages["index.md"] = "".join(_index(modules))
    return pages


def api_modules() -> list[ModuleType]:
    """Return the public modules of the plugin API, sorted by name."""
    names = {info.name for info in pkgutil.iter_modules(plugin_api.__path__)}
    return [importlib.import_module(f"{_PACKAGE}.{name}") for name in sorted(names)]


def public_names(module: ModuleType) -> Iterator[str]:
    """Yield the public classes and functions that a module defines, and its documented constants."""
    for name, item in vars(module).items():
        is_defined = isinstance(item, type | FunctionType) and item.__module__ == module.__name__
        if not name.startswith("_") and (is_defined or name in _constants(module)):
            yield name


def _page(module: ModuleType) -> Iterator[str]:
    text = described(inspect.getdoc(module) or "", module.__name__)
    yield f"# `{module.__name__}`\n\n{text}"
    constants = _constants(module)
    if constants:
        yield f"\n## Constants and types\n\n{_attributes(constants)}"
    for name in public_names(module):
        item = getattr(module, name)
        if name in constants:
            continue
        yield from _class(item) if isinstance(item, type) else _function(item, name, "## function ")


def _class(kind: type[Any]) -> Iterator[str]:
    """Yield a class: its bases, constructor, values, attributes and methods."""
    yield f"\n## class `{kind.__name__}`\n\n"
    bases = [link(base) for base in kind.__bases__ if _is_public(base) or issubclass(base, Exception)]
    if bases:
        yield f"Derives from {', '.join(bases)}.\n\n"
    yield described(required(kind.__doc__, kind.__name__), kind.__name__)
    if constructor := _constructor(kind):
        yield f"\n{_fenced(constructor)}"
    if issubclass(kind, Enum):
        yield "\n" + "".join(f"- `{member.name}` = `{member.value!r}`\n" for member in kind)
    if attributes := _class_attributes(kind):
        yield f"\n{_attributes(attributes)}"
    for name, member in members_of(kind).items():
        yield from _member(kind, name, member)


def _member(kind: type[Any], name: str, member: Any) -> Iterator[str]:
    heading = f"### `{kind.__name__}.{name}`\n\n"
    if isinstance(member, property | cached_property):
        getter: Any = member.fget if isinstance(member, property) else member.func
        result = inspect.formatannotation(inspect.get_annotations(getter).get("return", Any))
        yield f"\n{heading}{_fenced(plain(f'{name}: {result}'))}\n"
        yield described(inspect.getdoc(member) or "", f"{kind.__name__}.{name}")
        return
    is_static = isinstance(member, staticmethod)
    function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
    needed = "Required. " if name in getattr(kind, "__abstractmethods__", ()) else ""
    yield f"\n{heading}{_fenced(name + signature(function, bound=not is_static))}\n{needed}"
    # An overridden method has the documentation of the one that it overrides.
    text = inspect.getdoc(getattr(kind, name)) or ("" if _is_plain(kind) else None)
    yield described(required(text, name), f"{kind.__name__}.{name}") if text else ""


def _function(function: FunctionType, name: str, heading: str) -> Iterator[str]:
    yield f"\n{heading}`{name}`\n\n{_fenced(name + signature(function, bound=False))}\n"
    yield described(required(inspect.getdoc(function), name), name)


def members_of(kind: type[Any]) -> dict[str, Any]:
    """Return the public methods and properties of a class, and of its private base classes."""
    owners = [base for base in reversed(kind.__mro__) if base is kind or _is_private(base)]
    types = (FunctionType, property, cached_property, staticmethod, classmethod)
    return {
        name: member
        for owner in owners
        for name, member in vars(owner).items()
        if isinstance(member, types) and not name.startswith("_")
    }


def _is_public(kind: type[Any]) -> bool:
    return kind.__module__.startswith(f"{_PACKAGE}.") and not kind.__name__.startswith("_")


def _is_private(kind: type[Any]) -> bool:
    return kind.__module__.startswith(f"{_PACKAGE}.") and kind.__name__.startswith("_")


def _is_plain(kind: type[Any]) -> bool:
    """Return whether the methods of a class need no text: a protocol, which its own text describes."""
    return bool(getattr(kind, "_is_protocol", False))


def _constructor(kind: type[Any]) -> str | None:
    """Return the call that makes an instance, if a plugin's code makes or raises some."""
    if is_dataclass(kind) or (issubclass(kind, Exception) and "__init__" in vars(kind)):
        return kind.__name__ + signature(kind.__init__, bound=True).removesuffix(" -> None")
    return None


@cache
def _constants(module: ModuleType) -> dict[str, Documented]:
    tree = ast.parse(inspect.getsource(module))
    return {item.name: item for item in _documented(tree.body)}


def _class_attributes(kind: type[Any]) -> dict[str, Documented]:
    """Return the attributes of a class with a string below each."""
    (tree,) = ast.parse(inspect.getsource(kind)).body
    return {item.name: item for item in _documented(getattr(tree, "body", []))}


def _documented(body: list[ast.stmt]) -> Iterator[Documented]:
    for statement, following in pairwise(body):
        text = following.value if isinstance(following, ast.Expr) else None
        is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
        name = _assigned(statement)
        if name and not name.startswith("_") and is_text and isinstance(text, ast.Constant):
            yield Documented(name, _spelled(statement), inspect.cleandoc(str(text.value)))


def _assigned(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.AnnAssign):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
    else:
        return None
    return target.id if isinstance(target, ast.Name) else None


def _spelled(statement: ast.stmt) -> str:
    """Return an assignment as in the source, on one line."""
    return " ".join(ast.unparse(statement).split())


def _attributes(attributes: dict[str, Documented]) -> str:
    return "".join(f"- `{item.value}`: {_indented(code(item.text))}\n" for item in attributes.values())


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def described(docstring: str, name: str) -> str:
    """Return a docstring in Markdown: its text, and its sections as lists."""
    text = inspect.cleandoc(required(docstring, name))
    lines: list[str] = []
    section = False
    for line in _literal_blocks(text.splitlines()):
        if _SECTION.fullmatch(line):
            section = True
            lines += [f"**{line}**", ""]
        elif section and (found := _ITEM.fullmatch(line)):
            lines.append(f"- `{found[1]}`: {code(found[2])}")
        elif section and line.startswith("    "):
            lines.append(f"  {line.strip()}")
        else:
            lines.append(line)
    return code("\n".join(lines)).rstrip() + "\n"


def _literal_blocks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a docstring; an indented block after ``::`` becomes a fenced one."""
    is_block = is_open = False
    for line in lines:
        if is_block and line and not line.startswith("    "):
            yield from ["```", ""] if is_open else []
            is_block = is_open = False
        if is_block and line and not is_open:
            is_open = True
            yield "```python"
        if is_block:
            yield line.removeprefix("    ")
        elif line.endswith("::"):
            is_block = True
            yield line[:-1]
        else:
            yield line
    if is_open:
        yield "```"


def signature(function: Any, *, bound: bool) -> str:
    """Return the parameters with their types, and the result; without ``self`` if it is bound."""
    found = inspect.signature(function)
    parameters = list(found.parameters.values())[1 if bound else 0 :]
    return plain(str(found.replace(parameters=parameters)))


def plain(text: str) -> str:
    """Return a signature without module names, quotes around types and the ``~`` of type variables."""
    # A default that is an object has an address, which differs between runs.
    text = re.sub(r"<bound method (\S+) of <[^>]*>>", r"\1", text)
    text = re.sub(r"<[^<>]* object at 0x[0-9a-f]+>", "...", text)
    text = re.sub(r"<class '?([\w.]+)'?>", r"\1", text)
    factory = text.replace("<factory>", "...").replace("mappingproxy({})", "{}")
    bare = re.sub(r"\b(?:[a-z_0-9]+\.)+(?=[A-Z])|~", "", factory)
    bare = re.sub(r"<(\w+)\.(\w+): [^>]+>", r"\1.\2", bare)
    return re.sub(r"'([A-Z][^' ]*)'", r"\1", bare)


def _fenced(text: str) -> str:
    """Return a signature in a block; one longer than a line has a parameter on each."""
    if len(text) > _WIDTH and "(" in text:
        text = _wrapped(text)
    return f"```python\n{text}\n```\n"


def _wrapped(text: str) -> str:
    """Break the outer parameters of a signature into lines."""
    lines, depth, current = [], 0, ""
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if (letter == "(" and depth == 1) or (letter == "," and depth == 1):
            lines.append(current + letter)
            current = "    "
        elif letter == ")" and depth == 0:
            lines.append(current + ",")
            current = ")"
        else:
            current += letter if current.strip() or letter != " " else ""
    return "\n".join([*lines, current])


def link(kind: type[Any], folder: str = "") -> str:
    """Return a link to a class of the plugin API, or the name of another one."""
    if not _is_public(kind):
        return f"`{kind.__name__}`"
    page = f"{folder}{kind.__module__.rpartition('.')[2]}.md"
    return f"[`{kind.__name__}`]({page}#class-{kind.__name__.lower()})"


def _file(module: ModuleType) -> str:
    return f"{module.__name__.rpartition('.')[2]}.md"


def _summary(item: Any, name: str) -> str:
    text = required(inspect.getdoc(item), name).partition("\n\n")[0]
    return cell(code(text))


def _index(modules: list[ModuleType]) -> Iterator[str]:
    yield (
        "# Plugin API\n\nAll classes, functions and constants for plugins, by module: what a plugin"
        " implements, calls, receives, returns and raises. [Hooks](../hooks.md) has the functions that a"
        " plugin registers them with.\n"
    )
    for module in modules:
        yield f"\n## [`{module.__name__}`]({_file(module)})\n\n{_first(module)}\n"
        yield "\n| name | |\n|---|---|\n"
        constants = _constants(module)
        for name in public_names(module):
            item = getattr(module, name)
            if name in constants:
                text = cell(code(constants[name].text.partition("\n\n")[0]))
                yield f"| `{name}` | {text} |\n"
            else:
                kind = "class" if isinstance(item, type) else "function"
                anchor = f"{_file(module)}#{kind}-{name.lower()}"
                yield f"| [`{name}`]({anchor}) | {_summary(item, name)} |\n"
    names = "".join(f"{_file(module).removesuffix('.md')}\n" for module in modules)
    yield f"\n```{{toctree}}\n:hidden:\n\n{names}```\n"


def _first(module: ModuleType) -> str:
    return " ".join(prose(module).partition("\n\n")[0].split())
