"""The configuration keys."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class ClamdOptions:
    """The keys of ``[scanning.clamd]``."""

    socket: str = option("/run/clamav/clamd.ctl", help="The path of clamd's Unix socket.")
    host: str = option(
        "",
        help="The host of clamd, instead of its socket. The protocol has neither encryption nor "
        "authentication, so use it on a private network only.",
    )
    port: int = option(3310, minimum=1, maximum=65535, help="The port of clamd on the host.")
    max_bytes: int = option(
        100 * 1024 * 1024,
        minimum=1,
        maximum=2**31 - 1,
        help="The maximum size in bytes that is sent to clamd; larger files are unscannable. At most "
        "its StreamMaxLength.",
    )
    timeout_seconds: float = option(
        120.0, minimum=1, maximum=120, help="Seconds that clamd may take for each network operation."
    )
    connections: int = option(
        4, minimum=1, maximum=64, help="The maximum number of concurrent scans per process."
    )
