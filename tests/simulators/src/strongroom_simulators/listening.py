"""What all commands ``strongroom NAME simulator`` have in common."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from strongroom_simulators.serving import LocalServer

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def listening(port: int) -> Callable[[FunctionT], FunctionT]:
    """Add the options ``--host`` and ``--port`` to a command.

    Args:
        port: the default port.
    """
    host = click.option(
        "--host", default="127.0.0.1", show_default=True, help="The address to listen on."
    )
    number = click.option(
        "--port", default=port, show_default=True, help="The port; 0 selects a free one."
    )
    return lambda function: host(number(function))


def run(server: LocalServer, manual: str, people: Iterable[str], **values: object) -> None:
    """Print the configuration for a platform, and serve it until interrupted.

    Args:
        manual: the text, with the fields ``url``, ``people`` and those of ``values``.
    """
    click.echo(manual.format(url=server.url, people=", ".join(people), **values))
    server.serve()
