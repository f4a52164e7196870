"""The details of one file, asked for with a token, against a Flask route that does nothing."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client, raw_headers
from bench.harness import Plan, Row, interleave
from bench.load import build_request, compare, generate
from bench.servers import bare_flask, strongroom

CLIENTS: Final = 32


def measure(plan: Plan) -> list[Row]:
    """Measure answers a second, and what each costs the server."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        bare_flask(Path(folder)) as bare,
    ):
        details_request = _details_request(Client(server))
        bare_request = build_request("GET", "/", {})
        details, hello = interleave(
            plan.rounds,
            lambda: generate(server, details_request, clients=CLIENTS, seconds=plan.seconds),
            lambda: generate(bare, bare_request, clients=CLIENTS, seconds=plan.seconds),
        )
    return compare(f"details of a file, {CLIENTS} clients", details, "bare Flask route", hello)


def _details_request(client: Client) -> bytes:
    node = client.upload(client.files, raw_headers("details.txt"), b"content")
    return build_request("GET", f"{client.files}/{node['id']}", client.headers)
