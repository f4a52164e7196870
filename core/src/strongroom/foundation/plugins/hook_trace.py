"""Logs calls of plugins' hooks.

``STRONGROOM_TRACE_HOOKS=1`` enables it. The trace contains only names, never values. Hooks neither
receive nor return options, so the trace cannot contain secrets.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pluggy

VARIABLE: Final = "STRONGROOM_TRACE_HOOKS"


def trace_hooks(manager: pluggy.PluginManager) -> None:
    """Trace the hook calls of a manager, if the environment variable is set."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        manager.add_hookcall_monitoring(_before, _after)


def _before(hook_name: str, hook_impls: Sequence[pluggy.HookImpl], _: Mapping[str, Any]) -> None:
    for implementation in hook_impls:
        _say(f"{hook_name}: calling {implementation.plugin_name}")


def _after(
    outcome: "pluggy.Result[Any]",
    hook_name: str,
    hook_impls: Sequence[pluggy.HookImpl],
    _: Mapping[str, Any],
) -> None:
    if outcome.exception is not None:
        # Only the type of the exception; the error message of the server contains its text.
        _say(f"{hook_name}: raised {type(outcome.exception).__name__}")
    elif hook_impls:
        names = [_name(item) for result in outcome.get_result() for item in result or ()]
        _say(f"{hook_name}: got {', '.join(names) or 'nothing'}")


def _name(item: object) -> str:
    if isinstance(item, type):
        return f"{item.__module__}.{item.__qualname__}"
    # Blueprints and commands have a name, kinds of errors have a code.
    named = getattr(item, "name", None) or getattr(item, "code", None)
    return f"{type(item).__name__} {named}" if isinstance(named, str) else type(item).__name__


def _say(text: str) -> None:
    sys.stderr.write(f"strongroom: hook {text}\n")
