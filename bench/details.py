"""The details of one file, asked for with a token, against a Flask route that does nothing."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client, raw_headers
from bench.harness import Limit, Plan, Row, interleave
from bench.load import build_request, generate
from bench.servers import Server, bare_flask, strongroom
from bench.usage import processor_seconds

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
            lambda: _take(server, details_request, plan.seconds),
            lambda: _take(bare, bare_request, plan.seconds),
        )
    (rates, costs), (bare_rates, bare_costs) = zip(*details, strict=True), zip(*hello, strict=True)
    route = "bare Flask route"
    return [
        Row(f"details of a file, {CLIENTS} clients", "/s", rates, Limit(route, bare_rates)),
        Row("details of a file, processor time", "ms", costs, Limit(route, bare_costs), is_cost=True),
    ]


def _details_request(client: Client) -> bytes:
    node = client.upload(client.files, raw_headers("details.txt"), b"content")
    return build_request("GET", f"{client.files}/{node['id']}", client.headers)


def _take(server: Server, request: bytes, seconds: float) -> tuple[float, float]:
    """Return answers a second, and milliseconds of the server's processor time for each."""
    before = processor_seconds(server.pid)
    load = generate(server.port, request, clients=CLIENTS, seconds=seconds)
    spent = processor_seconds(server.pid) - before
    return load.rate, spent / load.requests * 1000
