"""Tells on standard error which hooks are called, of which plugins, and what each returned.

``STRONGROOM_TRACE_HOOKS=1`` asks for it. Names alone are shown, never a value: hooks are handed no
option and return none, so that no secret can be among them.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pluggy

VARIABLE: Final = "STRONGROOM_TRACE_HOOKS"


def trace_hooks(manager: pluggy.PluginManager) -> None:
    """Trace the calls of a manager, if the environment asks for it."""
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
        # Only its kind: its words are the plugin's own, and the refusal that follows shows them.
        _say(f"{hook_name}: raised {type(outcome.exception).__name__}")
    elif hook_impls:
        names = [_name(item) for answer in outcome.get_result() for item in answer or ()]
        _say(f"{hook_name}: got {', '.join(names) or 'nothing'}")


def _name(item: object) -> str:
    if isinstance(item, type):
        return f"{item.__module__}.{item.__qualname__}"
    # Blueprints and commands have names, kinds of errors have codes.
    named = getattr(item, "name", None) or getattr(item, "code", None)
    return f"{type(item).__name__} {named}" if isinstance(named, str) else type(item).__name__


def _say(text: str) -> None:
    sys.stderr.write(f"strongroom: hook {text}\n")
