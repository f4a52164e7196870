"""Writes the pages below docs/reference from the code they describe.

``python docs/generate.py`` writes them; with ``--check`` it only tells which are stale. What the code
does not describe (a hook, a key, an error, a command, an option) ends it with a line that names it.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import click

from strongroom import hookspecs
from strongroom.cli.main import root
from strongroom.config.describe import Section, core_sections, template
from strongroom.config.keeping import StorageSettings
from strongroom.errors import StrongroomError, catalogue
from strongroom.plugin_api import API_VERSION, Extension
from strongroom.plugin_api.captcha import CaptchaProvider
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.messages import MessageSender
from strongroom.plugin_api.storage import StorageBackend
from strongroom.plugin_api.web import ErrorKind, Server
from strongroom.plugin_manager import PluginManager
from strongroom.selection import BUILTIN, offered_sections

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Written by docs/generate.py; change the code that it describes instead. -->"

ERRORS = """\
# Errors

Every error answer has this body; the code is stable, the message is for developers and may change:

```json
{"error": {"code": "error.not-found", "message": "The resource does not exist.",
           "details": [{"field": "name", "code": "required", "message": "..."}], "requestId": "..."}}
```

`details` names fields where some are to blame, and is empty otherwise. `requestId` is that of the
response header `X-Request-Id`, by which the server's log knows the request.

| status | code | message |
|---|---|---|
"""

PLUGIN_ERRORS = """
## The plugin `{plugin}`

| status | code | message |
|---|---|---|
"""

CONFIGURATION = """\
# Configuration

One TOML file, named by `strongroom --config FILE` or `STRONGROOM_CONFIG`; without one, everything is at
its default. Below, every key stands at its default. What is not known is refused, with the line and
what would be right.

- Each key can be set by environment, over the file: `STRONGROOM__SERVER__PORT=8080`.
- Each can be read from a file, as secrets should be: `STRONGROOM__DATABASE__URL_FILE=/run/secrets/url`.
- `strongroom config check` says whether the server would start, `config show --origin` where each value
  was set, and `config template` prints all of this for the plugins that are enabled.

## The core
"""

EXTENSIONS = """\
## What the core brings for its own hooks

The options of a plugin's extensions are in the plugin's README.
"""

HOOKS = f"""\
# Hooks

A plugin is a module named by an entry point in the group `strongroom.plugins`. It states
`API_VERSION = "{API_VERSION}"` and implements some of these functions, each marked with
`strongroom.plugin_api.hookimpl`. `strongroom plugins new` writes a whole one;
[the tutorials](../tutorials/index.md) tell how to go on from there.
"""

COMMANDS = """\
# Commands

`strongroom --help` shows them too. Each takes the configuration from `strongroom --config FILE`, which
stands before the command, or from `STRONGROOM_CONFIG`. What goes wrong is one line on standard error.
The exit code is 0 when all went well, 2 when the configuration or the command line is wrong, and 1 when
anything else is.
"""

CONTRACTS = """\
# Contracts

The suites of `strongroom.testing`, version {version}: what every extension of a kind holds to, the
built-in ones too. [Plugins](../tutorials/kit.md) tells how a plugin inherits one.
"""

KINDS: tuple[type[Extension[Any]], ...] = (StorageBackend, LoginMethod, CaptchaProvider, MessageSender)


def errors_page() -> Iterator[str]:
    """Yield the pieces of the page of error codes: the core's, then those of its own plugins."""
    yield ERRORS
    for error in catalogue():
        yield _error(error)
    for plugin, errors in _plugin_errors().items():
        yield PLUGIN_ERRORS.format(plugin=plugin)
        yield from map(_error, errors)


def configuration_page() -> Iterator[str]:
    """Yield the pieces of the page of configuration keys."""
    yield CONFIGURATION
    yield from map(_section, [*core_sections(), Section(("storages", "NAME"), StorageSettings)])
    yield "\n" + EXTENSIONS
    yield from map(_section, offered_sections(PluginManager(BUILTIN, ())))


def hooks_page() -> Iterator[str]:
    """Yield the pieces of the page of hooks, and of what they return."""
    yield HOOKS
    for name, hook in vars(hookspecs).items():
        if name.startswith("register_"):
            yield f"\n## `{name}`\n\n{_prose(hook)}\n"
    for kind in KINDS:
        yield f"\n## class `{kind.__name__}`\n\n`{kind.__module__}`. {_prose(kind)}\n\n"
        yield from _methods(kind)
    yield f"\n## class `{Server.__name__}`\n\n`{Server.__module__}`. {_prose(Server)}\n\n"
    yield from _lent(Server)


def commands_page() -> Iterator[str]:
    """Yield the pieces of the page of commands."""
    yield COMMANDS
    for name, command in sorted(root.commands.items()):
        yield from _command(("strongroom", name), command)
    for plugin, command in _plugins().ask("register_commands"):
        yield from _command(("strongroom", command.name), command, f"\nOf the plugin `{plugin.name}`.\n")


def contracts_page() -> Iterator[str]:
    """Yield the pieces of the page of contracts."""
    testing = import_module("strongroom.testing")
    yield CONTRACTS.format(version=testing.CONTRACT_VERSION)
    for kind in KINDS:
        module = kind.__module__.rpartition(".")[2]
        contract = getattr(import_module(f"strongroom.testing.{module}"), f"{kind.__name__}Contract")
        yield f"\n## class `{contract.__name__}`\n\n`{contract.__module__}`. {_prose(contract)}\n"
        yield from _contract(contract)


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "errors.md": errors_page,
    "configuration.md": configuration_page,
    "hooks.md": hooks_page,
    "commands.md": commands_page,
    "contracts.md": contracts_page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    texts = {FOLDER / name: f"{NOTE}\n\n{''.join(page())}" for name, page in PAGES.items()}
    stale = [path for path, text in texts.items() if not path.exists() or path.read_text() != text]
    if arguments == ["--check"]:
        sys.stderr.writelines(f"{path} is stale; run: python docs/generate.py\n" for path in stale)
        return len(stale)
    for path in stale:
        path.write_text(texts[path])
    return 0


def _plugin_errors() -> dict[str, list[ErrorKind]]:
    found: dict[str, list[ErrorKind]] = {}
    for plugin, error in _plugins().ask("register_errors"):
        found.setdefault(plugin.name, []).append(error)
    return found


def _plugins() -> PluginManager:
    names = sorted(path.parent.name for path in FOLDER.parents[1].glob("plugins/*/pyproject.toml"))
    return PluginManager(BUILTIN, names)


def _error(error: ErrorKind | type[StrongroomError]) -> str:
    message = _required(error.message, f"the error {error.code}")
    return f"| {error.status} | `{error.code}` | {message} |\n"


def _command(path: tuple[str, ...], command: click.Command, origin: str = "") -> Iterator[str]:
    title = " ".join(path)
    if isinstance(command, click.Group):
        for name, subcommand in sorted(command.commands.items()):
            yield from _command((*path, name), subcommand, origin)
        return
    yield f"\n## `{title}`\n{origin}\n{_prose(command.callback, title)}\n"
    arguments = [item for item in command.params if isinstance(item, click.Argument)]
    options = [item for item in command.params if isinstance(item, click.Option)]
    context = click.Context(command, info_name=title)
    usage = " ".join([title, "[OPTIONS]", *(item.make_metavar(context) for item in arguments)])
    yield f"\n```text\n{usage}\n```\n" if options or arguments else ""
    for option in options:
        spelled, _ = option.get_help_record(context) or ("", "")
        yield f"\n- `{spelled}`: {_required(option.help, f'{title} {option.name}')}"
    yield "\n" if options else ""


def _contract(contract: type[Any]) -> Iterator[str]:
    (suite,) = ast.parse(inspect.getsource(contract)).body
    functions = [item for item in getattr(suite, "body", []) if isinstance(item, ast.FunctionDef)]
    supplied = [item for item in functions if "NotImplementedError" in ast.unparse(item)]
    yield "\nTo supply:\n\n"
    for fixture in supplied:
        told = " ".join((ast.get_docstring(fixture) or "an empty one").rstrip(".").split())
        yield f"- `{fixture.name}`: {_code(told)}\n"
    yield "\nIt holds that:\n\n"
    for test in functions:
        if test.name.startswith("test_"):
            yield f"- {test.name.removeprefix('test_').replace('_', ' ')}\n"


def _required(text: str | None, what: str) -> str:
    if not text:
        sys.exit(f"{what} is not documented where it is declared")
    return text


def _section(section: Section) -> str:
    for item in fields(section.options_type):
        _required(item.metadata["help"], f"the key {'.'.join((*section.path, item.name))}")
    lines = "\n".join(template([section])).rstrip()
    return f"\n{_prose(section.options_type)}\n\n```toml\n{lines}\n```\n"


def _methods(kind: type[Any]) -> Iterator[str]:
    for name, member in vars(kind).items():
        if isinstance(member, FunctionType) and not name.startswith("_"):
            needed = "required" if name in kind.__abstractmethods__ else "optional"
            parameters = ", ".join([*inspect.signature(member).parameters][1:])
            summary = " ".join(_prose(member).partition("\n\n")[0].split())
            yield f"- `{name}({parameters})`, {needed}: {summary}\n"


def _lent(kind: type[Any]) -> Iterator[str]:
    """Yield what a plugin is lent: it calls all of it, and implements none."""
    for name, member in vars(kind).items():
        if isinstance(member, FunctionType) and not name.startswith("_"):
            parameters = ", ".join([*inspect.signature(member).parameters][1:])
            summary = " ".join(_prose(member).partition("\n\n")[0].split())
            yield f"- `{name}({parameters})`: {summary}\n"


def _prose(documented: object, name: str = "") -> str:
    """Return the part of a docstring before its sections, in Markdown."""
    text = (inspect.getdoc(documented) or "").partition("\n\nArgs:")[0]
    return _code(_required(text, name or str(documented)))


def _code(text: str) -> str:
    return re.sub(r":\w+:`~?([^`]*)`|``([^`]*)``", lambda match: f"`{match[1] or match[2]}`", text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
