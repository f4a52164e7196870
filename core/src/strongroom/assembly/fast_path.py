"""The routes of the fast path."""

from strongroom.addresses import parse_network
from strongroom.assembly.container import Container
from strongroom.database.reader import Reader
from strongroom.files.fast_path.details import FastDetails
from strongroom.files.fast_path.downloads import FastDownloads
from strongroom.files.fast_path.lists import FastLists
from strongroom.files.fast_path.uploads import FastUploads
from strongroom.web.fast_path import FastRoute


def fast_routes(container: Container) -> list[FastRoute]:
    """Return the routes of the fast path, the most frequent ones first."""
    base = container.base
    reader = Reader(base.database, connections=base.settings.database.hot_connections)
    base.resources.callback(reader.close)
    keeping, root, server = container.keeping, base.settings.public_root, base.settings.server
    trusted = tuple(parse_network(text) for text in server.trusted_proxies)
    return [
        FastDetails(reader, base.clock).route(),
        FastDownloads(
            reader, base.clock, keeping.blobs, keeping.delivery, keeping.downloads, trusted
        ).route(),
        *FastLists(reader, base.clock, root).routes(),
        *FastUploads(reader, base.clock, keeping.files, root + server.base_path, trusted).routes(),
    ]
