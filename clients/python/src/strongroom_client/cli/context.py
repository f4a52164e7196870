"""What all commands use: the login, the output, and prompts for secrets."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import click

from .._sync.client import Client
from ..errors import ApiError
from .output import Output
from .stored_login import StoredLogin

Result = TypeVar("Result")

_STEP_UP: Final = "error.step-up-required"


@dataclass(frozen=True, slots=True)
class Context:
    """What every command uses."""

    login: StoredLogin
    output: Output


def secret(title: str, *, from_stdin: bool) -> str:
    """Return a secret, which is never an argument: other users of the machine see those."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    answer: str = click.prompt(title, hide_input=True, err=True)
    return answer


def prompt_factor(challenge: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Ask for the code of an app, or for a recovery code; the server refuses a wrong one."""
    if not sys.stdin.isatty():
        return None
    code: str = click.prompt("Code of your app, or a recovery code", err=True)
    is_totp = code.isdigit() and "totp" in challenge["methods"]
    return {"totp" if is_totp else "recoveryCode": code}


def stepped_up(client: Client, action: Callable[[], Result]) -> Result:
    """Return the result of an action, before which the user may have to prove a second factor."""
    try:
        return action()
    except ApiError as error:
        if error.code != _STEP_UP:
            raise
        client.step_up(second_factor=prompt_factor)
        return action()
