"""Authenticated requests for a file's details, compared with the peer and an empty Flask route."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client
from bench.forms import raw_headers
from bench.harness import Plan, Row
from bench.load import Contender, build_request, side_by_side
from bench.pocketbase import NAME as PEER
from bench.pocketbase import RECORDS, PeerClient, pocketbase
from bench.servers import bare_flask, strongroom

CLIENTS: Final = 32


def measure(plan: Plan) -> list[Row]:
    """Measure responses per second, and the server's processor time for each."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
        bare_flask(Path(folder)) as bare,
    ):
        return side_by_side(
            plan,
            f"details of a file, {CLIENTS} clients",
            CLIENTS,
            Contender("Strongroom", server, details_request(Client(server))),
            Contender(PEER, peer, peer_request(PeerClient(peer))),
            Contender("bare Flask route", bare, build_request("GET", "/", {})),
        )


def details_request(client: Client) -> bytes:
    """Make a file, and return the request for its details."""
    node = client.upload(client.files, raw_headers("details.txt"), b"content")
    return build_request("GET", f"{client.files}/{node['id']}", client.headers)


def peer_request(client: PeerClient) -> bytes:
    """Make the peer's record of a file, and return the request for it."""
    record = client.upload_file("details.txt", b"content")
    return build_request("GET", f"{RECORDS}/{record['id']}", client.headers)
