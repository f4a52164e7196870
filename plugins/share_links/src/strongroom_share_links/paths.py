"""Paths of URLs below the public URL of the server."""

from urllib.parse import urlsplit

from strongroom.plugin_api.host import HostAPI


def path_of(host: HostAPI, path: str) -> str:
    """Return a path below the public URL, whose own path it begins with."""
    return f"{urlsplit(host.public_url).path}{path}"
