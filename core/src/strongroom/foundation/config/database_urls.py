"""The URL of PostgreSQL with several hosts before the database, as libpq writes it.

SQLAlchemy accepts several hosts as parameters only.
"""

import re
from collections.abc import Iterator
from typing import Final

INVALID_HOST: Final = "has an invalid host or port; write HOST:PORT, and a password with % encodings"

_URL: Final = re.compile(
    r"(?P<login>[^:/]+://(?:[^/?#]*@)?)(?P<hosts>[^/?#]*)(?P<path>[^?]*)\??(?P<query>.*)"
)
_HOST: Final = re.compile(r"(?P<name>\[[\da-fA-F:.%]+\]|[^:\[\]]*)(?::(?P<port>\d{1,5})?)?")
_DEFAULT_PORT: Final = "5432"
_LAST_PORT: Final = 65535


def with_host_parameters(url: str) -> str:
    """Return the URL with the hosts before its database as parameters, if there are several.

    Raises:
        ValueError: a host or its port is invalid.
    """
    parts = _URL.fullmatch(url)
    if parts is None:
        return url
    hosts = list(_split(parts["hosts"]))
    if len(hosts) == 1:
        return url
    names, ports = (",".join(values) for values in zip(*hosts, strict=True))
    query = "&".join(filter(None, [parts["query"], f"host={names}", f"port={ports}"]))
    return f"{parts['login']}{parts['path']}?{query}"


def _split(hosts: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the port of each host."""
    for text in hosts.split(","):
        host = _HOST.fullmatch(text)
        if host is None or int(host["port"] or _DEFAULT_PORT) > _LAST_PORT:
            raise ValueError(INVALID_HOST)
        yield host["name"].strip("[]"), host["port"] or _DEFAULT_PORT
