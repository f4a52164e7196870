"""Authenticated requests for a file's details, compared with the peer and an empty Flask route."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.examples import install

from bench.client import Client
from bench.forms import raw_headers
from bench.harness import Plan, Row
from bench.load import Contender, build_request, side_by_side
from bench.pocketbase import NAME as PEER
from bench.pocketbase import RECORDS, PeerClient, pocketbase
from bench.servers import PLUGINS, bare_flask, strongroom

CLIENTS: Final = 32
NAME: Final = f"details of a file, {CLIENTS} clients"
HOOKED: Final = ("maintenance_mode", "served_by")


def measure(plan: Plan) -> list[Row]:
    """Measure responses per second, and the server's processor time for each."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
        bare_flask(Path(folder)) as bare,
    ):
        rows = side_by_side(
            plan,
            NAME,
            CLIENTS,
            Contender("Strongroom", server, details_request(Client(server))),
            Contender(PEER, peer, peer_request(PeerClient(peer))),
            Contender("bare Flask route", bare, build_request("GET", "/", {})),
        )
    return [*rows, *_measure_hooks(plan)]


def _measure_hooks(plan: Plan) -> list[Row]:
    """Measure what plugins cost that have a hook before, and one after, each request."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        for each in ("plugins", "with", "without"):
            (folder / each).mkdir()
        variables = {
            "PYTHONPATH": str(install(*HOOKED, target=folder / "plugins")),
            "STRONGROOM_MAINTENANCE_FILE": str(folder / "maintenance"),
        }
        hooked = strongroom(folder / "with", plugins=(*PLUGINS, *HOOKED), variables=variables)
        bare = strongroom(folder / "without")
        ours, others = (stack.enter_context(server) for server in (hooked, bare))
        return side_by_side(
            plan,
            f"{NAME}, 2 plugins with request hooks",
            CLIENTS,
            Contender("Strongroom", ours, details_request(Client(ours))),
            Contender("without plugins", others, details_request(Client(others))),
        )


def details_request(client: Client) -> bytes:
    """Make a file, and return the request for its details."""
    node = client.upload(client.files, raw_headers("details.txt"), b"content")
    return build_request("GET", f"{client.files}/{node['id']}", client.headers)


def peer_request(client: PeerClient) -> bytes:
    """Make the peer's record of a file, and return the request for it."""
    record = client.upload_file("details.txt", b"content")
    return build_request("GET", f"{RECORDS}/{record['id']}", client.headers)
