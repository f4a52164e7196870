"""Generates the page of hooks and of the classes that they return."""

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

from generator.kinds import KINDS
from generator.prose import prose
from strongroom.foundation.config.schema import OPTION_TYPES
from strongroom.foundation.plugins import hookspecs
from strongroom.plugin_api import API_VERSION, web
from strongroom.plugin_api.browser import BrowserAPI
from strongroom.plugin_api.files import FilesAPI
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.leases import LeasesAPI
from strongroom.plugin_api.metrics import Counter, Gauge, Histogram
from strongroom.plugin_api.server import ServerAPI
from strongroom.plugin_api.storage import (
    LocalPaths,
    ObjectLock,
    ScopedWrites,
    ServerSideCopy,
    SignedDownloads,
    SignedUploads,
    StorageBackend,
    WrappedKeys,
)
from strongroom.plugin_api.tenants import TenantsAPI
from strongroom.plugin_api.users import UsersAPI

HOOKS = f"""\
# Hooks

A plugin is a module named by an entry point in the group `strongroom.plugins`. It declares
`API_VERSION = "{API_VERSION}"` and implements some of these functions, each decorated with
`strongroom.plugin_api.hookimpl`. `strongroom plugins new` writes a complete plugin, and
[the tutorials](../tutorials/index.md) continue from there.
"""

CAPABILITIES = """
A backend declares an optional capability by also deriving from one of these classes of
`strongroom.plugin_api.storage`. If it depends on the instance, override `capability`.
"""
OPTIONS = f"""
## Options

`register_options` and `options_type` name a frozen dataclass whose fields are made by `option()`. A
field has one of these types: {OPTION_TYPES}. `host.options` has the type that the hook returned.
"""

RESULTS = """
## What the host returns

`host.options` is what `register_options` has declared. `host.log_in`, `host.bind` and `host.unbind`
return what a view returns: a value for `host.tokens_schema`, `credentials_schema` or `done_schema`, with
status and headers. `host.page` and `host.error_response` return a Flask response. All others are these.
"""
HOST: tuple[type[Any], ...] = (
    HostAPI,
    BrowserAPI,
    FilesAPI,
    TenantsAPI,
    UsersAPI,
    LeasesAPI,
    ServerAPI,
    Counter,
    Histogram,
    Gauge,
)
"""The classes that plugins call but do not implement."""
_CAPABILITIES = (
    LocalPaths,
    ObjectLock,
    ServerSideCopy,
    SignedDownloads,
    SignedUploads,
    ScopedWrites,
    WrappedKeys,
)


def hooks_page() -> Iterator[str]:
    """Yield the pieces of the page of hooks and of the classes that they return."""
    yield HOOKS
    for name, hook in vars(hookspecs).items():
        if hasattr(hook, "strongroom_spec"):
            yield f"\n## `{name}`\n\n{prose(hook)}\n"
    for kind in KINDS:
        yield f"\n## class `{kind.__name__}`\n\n`{kind.__module__}`. {prose(kind)}\n\n"
        yield from _methods(kind)
        if kind is StorageBackend:
            yield CAPABILITIES
            for capability in _CAPABILITIES:
                yield f"\n### class `{capability.__name__}`\n\n{prose(capability)}\n\n"
                yield from _methods(capability)
    for kind in HOST:
        yield f"\n## class `{kind.__name__}`\n\n`{kind.__module__}`. {prose(kind)}\n\n"
        yield from _called(kind)
    yield OPTIONS
    yield RESULTS
    for kind in returned_types():
        yield f"\n### class `{kind.__name__}`\n\n`{kind.__module__}`. {prose(kind)}\n\n"
        yield from _called(kind)
        yield from _fields(kind)


def returned_types() -> list[type[Any]]:
    """Return the classes of the plugin API that calls of the host return, directly or in another one."""
    known = {*HOST, *KINDS, *_CAPABILITIES}
    found: dict[type[Any], None] = {}
    waiting: list[type[Any]] = list(HOST)
    while waiting:
        for kind in _classes_in(waiting.pop(0)):
            if kind not in known and kind not in found:
                found[kind] = None
                waiting.append(kind)
    return sorted(found, key=lambda kind: (kind.__module__, kind.__name__))


def _classes_in(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield the classes of the plugin API that the members of a class return or contain."""
    for _, member in _members(kind):
        function = member.fget if isinstance(member, property) else member
        hints = typing.get_type_hints(function, localns=vars(web))
        yield from _parts(hints.get("return"))
    for hint in typing.get_type_hints(kind, localns=vars(web)).values() if is_dataclass(kind) else ():
        yield from _parts(hint)


def _parts(hint: Any) -> Iterator[type[Any]]:
    for argument in typing.get_args(hint):
        yield from _parts(argument)
    kind = typing.get_origin(hint) or hint
    if isinstance(kind, type) and kind.__module__.startswith("strongroom.plugin_api"):
        yield kind


def _fields(kind: type[Any]) -> Iterator[str]:
    """Yield the fields of a dataclass."""
    if is_dataclass(kind):
        hints = inspect.get_annotations(kind)
        for field in fields(kind):
            annotation = hints.get(field.name, field.type)
            spelled = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
            yield f"- `{_plain(f'{field.name}: {spelled}')}`\n"


def _methods(kind: type[Any]) -> Iterator[str]:
    """Yield the methods that a plugin implements."""
    for name, member in _members(kind):
        needed = "required" if name in kind.__abstractmethods__ else "optional"
        yield f"- `{name}{_signature(member)}`, {needed}: {_summary(member)}\n"


def _called(kind: type[Any]) -> Iterator[str]:
    """Yield the methods that a plugin calls but does not implement."""
    for name, member in _members(kind):
        yield f"- `{name}{_signature(member)}`: {_summary(member)}\n"


def _members(kind: type[Any]) -> Iterator[tuple[str, FunctionType | property]]:
    for name, member in vars(kind).items():
        if isinstance(member, (FunctionType, property)) and not name.startswith("_"):
            yield name, member


def _signature(member: FunctionType | property) -> str:
    """Return the parameters with their types, without ``self``, or the type of a property."""
    if isinstance(member, property):
        hints = inspect.get_annotations(member.fget) if member.fget else {}
        return _plain(f": {inspect.formatannotation(hints['return'])}")
    found = inspect.signature(member)
    parameters = list(found.parameters.values())[1:]
    return _plain(str(found.replace(parameters=parameters)))


def _plain(signature: str) -> str:
    """Return a signature without module names, quotes around types and the ``~`` of type variables."""
    bare = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])|~", "", signature)
    return re.sub(r"'([^']+)'", r"\1", bare).replace("mappingproxy({})", "{}")


def _summary(member: FunctionType | property) -> str:
    return " ".join(prose(member).partition("\n\n")[0].split())
