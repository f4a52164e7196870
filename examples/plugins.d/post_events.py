"""Posts events as JSON to a URL of the operator, such as a chat or a build server.

Copy this file to the folder of ``[plugins] folder``. The server calls it after the change is committed,
and repeats the call with growing delays while the receiver is away, so that no event is lost; the
receiver detects repetitions by ``X-Event-Id``::

    [plugins.post_events]
    url = "https://build.example/hooks/files"
    types = ["file.created", "file.replaced"]
"""

from dataclasses import dataclass
from urllib.request import Request, urlopen

from strongroom.plugin_api import hookimpl, option
from strongroom.plugin_api.events import Event, EventSubscriber
from strongroom.plugin_api.host import HostAPI

API_VERSION = "2.0"

TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class PostOptions:
    """The keys of ``[plugins.post_events]``."""

    url: str = option(help="The URL that events are posted to.")
    types: tuple[str, ...] = option(("file.*",), help="The types of the events.")

    def __post_init__(self) -> None:
        if not self.url.startswith(("https://", "http://")):
            raise ValueError("url: must begin with https:// or http://")


@hookimpl
def register_options() -> type[PostOptions]:
    """Return the type of the options."""
    return PostOptions


@hookimpl
def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
    """Return the function that posts an event; if it raises, the server calls it again later."""
    options: PostOptions = host.options

    def post(event: Event) -> None:
        headers = {"Content-Type": "application/json", "X-Event-Id": event.id}
        request = Request(options.url, event.json(), headers)  # noqa: S310  the scheme is checked above
        with urlopen(request, timeout=TIMEOUT_SECONDS):  # noqa: S310  likewise
            pass

    return [EventSubscriber("post", options.types, post)]
