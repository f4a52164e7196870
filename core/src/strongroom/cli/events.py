"""``strongroom events``: prints events, delivers them again, and shows what could not be delivered."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from strongroom.assembly.features import core_events
from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo, echo_json
from strongroom.plugin_api.events import SERVER, Event, matches

if TYPE_CHECKING:
    from strongroom.assembly.events import EventServices

_POLL_SECONDS = 0.5
_PAGE = 500

_stream_option = click.option(
    "--stream",
    default=SERVER,
    show_default=True,
    metavar="ID",
    help="The id of a tenant, for the events of its files, or server, for all others.",
)


@click.group("events")
def events_group() -> None:
    """Print events, deliver them again, and show those that could not be delivered."""


@events_group.command("tail")
@config_option
@_stream_option
@click.option(
    "--after", type=click.IntRange(0), help="Begin after this sequence. Default: with the next event."
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only these, such as file.*.")
@click.option("--follow/--no-follow", default=True, help="Wait for further events.  [default: follow]")
@click.pass_obj
def tail_command(
    context: CommandContext, stream: str, after: int | None, types: tuple[str, ...], *, follow: bool
) -> None:
    """Print the events of a stream, one JSON object per line, until interrupted."""
    with context.container() as container:
        log = container.events.log
        position = log.newest(stream) if after is None else after
        for event in _events(lambda last: log.read(stream, last, _PAGE), position, follow=follow):
            if matches(types or ("*",), event.type):
                echo_json(_line(event))


def _events(read: Callable[[int], Iterable[Event]], position: int, *, follow: bool) -> Iterator[Event]:
    while True:
        batch = list(read(position))
        for event in batch:
            position = event.sequence
            yield event
        if not batch:
            if not follow:
                return
            time.sleep(_POLL_SECONDS)


def _line(event: Event) -> dict[str, Any]:
    known = {"id": event.id, "stream": event.stream, "sequence": event.sequence}
    data: dict[str, Any] = json.loads(event.json())
    return known | data


@events_group.command("replay")
@config_option
@_stream_option
@click.option("--sink", required=True, help="The name of the event sink; see `events status`.")
@click.option(
    "--after",
    type=click.IntRange(0),
    required=True,
    help="Deliver the events after this sequence again.",
)
@click.pass_obj
def replay_command(context: CommandContext, stream: str, sink: str, after: int) -> None:
    """Deliver recorded events of a stream to a sink again; safe while servers run.

    The servers deliver them within a second. The dead letters among them get new attempts.
    """
    with context.container() as container:
        services = container.events
        sinks = services.positions.sinks()
        if sink not in sinks:
            hint = f"known are: {', '.join(sinks)}" if sinks else "no server has registered one"
            raise click.ClickException(f'there is no event sink "{sink}"; {hint}')
        newest = services.log.newest(stream)
        if after > newest:
            raise click.ClickException(f"the newest event of {stream} has the sequence {newest}")
        services.positions.move(sink, stream, after)
    echo(f"{sink} gets the events {after + 1} to {newest} of {stream} again")


@events_group.command("status")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def status_command(context: CommandContext, *, as_json: bool) -> None:
    """Show the event sinks, their streams with failed deliveries, and their dead letters."""
    with context.container() as container:
        status = _status(container.events)
    if as_json:
        echo(json.dumps(status))
        return
    echo(f"sinks: {', '.join(map(str, status['sinks'])) or 'none'}")
    for kind in ("failing", "dead"):
        for item in status[kind]:
            echo(f"{kind}: " + ", ".join(f"{name} {value}" for name, value in item.items()))


def _status(services: "EventServices") -> dict[str, list[Any]]:
    return {
        "sinks": [*services.positions.sinks()],
        "failing": [asdict(position) for position in services.positions.failing()],
        "dead": [asdict(letter) for letter in services.positions.dead_letters()],
    }


@events_group.command("schemas")
def schemas_command() -> None:
    """Print the JSON Schemas of all types of events as one JSON object, by the name of the type."""
    schemas = {name: event_type.schema() for name, event_type in core_events().types.items()}
    echo(json.dumps(schemas, indent=2))
