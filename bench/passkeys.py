"""Logins by a passkey alone, compared with logins by password of this server and of the peer."""

import json
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import PASSWORD, HttpClient
from bench.harness import Plan, Row, interleave
from bench.load import Load, build_request, compare, converse, generate
from bench.login import CLIENTS, login_request
from bench.pocketbase import LOGIN as PEER_LOGIN
from bench.pocketbase import NAME as PEER
from bench.pocketbase import PeerClient, pocketbase
from bench.servers import BCRYPT_COST, PLUGINS, Server, strongroom
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator

ORIGIN: Final = "http://localhost"
_ENABLED: Final = (*PLUGINS, "login_passkey")
_LIMIT: Final = 'challenge_per_address = ["1000000/second"]\n'
_JSON: Final = {"Content-Type": "application/json"}


class PasskeyLogins:
    """A user with a passkey, who logs in again and again: two requests for each login."""

    def __init__(self, server: Server, number: int) -> None:
        email = f"passkey{number}@example.com"
        server.create_user(email, PASSWORD)
        client = HttpClient(server.port)
        issued = client.post("/authorizations", {"username": email, "password": PASSWORD})
        client.headers["Authorization"] = f"Bearer {issued['accessToken']}"
        begun = client.post("/users/me/factors", {"kind": "passkey"})
        self._authenticator = SoftwareAuthenticator(ORIGIN)
        answer = self._authenticator.create(begun["shown"]["publicKey"])
        client.post(f"/users/me/factors/{begun['id']}/confirmation", {"answer": answer})
        self._challenge = build_request("POST", "/authorizations/challenges", _JSON, b"{}")
        self.restart()

    def restart(self) -> None:
        """Begin with a new challenge, because the last one may have expired."""
        self._turns = cycle((False, True))
        self._request = self._challenge

    def request(self) -> bytes:
        return self._request

    def receive(self, head: bytes, body: bytes) -> None:  # noqa: ARG002  of the protocol
        is_login = next(self._turns)
        self._request = self._challenge if is_login else self._login(body)

    def _login(self, body: bytes) -> bytes:
        challenge = json.loads(body)["challenge"]
        answer = {"id": challenge["id"], "passkey": self._authenticator.get(challenge["publicKey"])}
        sent = json.dumps({"challenge": answer}).encode()
        return build_request("POST", "/authorizations", _JSON, sent)


def measure(plan: Plan) -> list[Row]:
    """Measure logins a second, and what each costs the server."""
    with (
        TemporaryDirectory() as folder,
        strongroom(
            Path(folder),
            _LIMIT,
            plugins=_ENABLED,
            variables={"STRONGROOM__SERVER__PUBLIC_URL": ORIGIN},
        ) as server,
        pocketbase(Path(folder)) as peer,
    ):
        users = [PasskeyLogins(server, number) for number in range(CLIENTS)]
        server.create_user("bench@example.com", PASSWORD)
        PeerClient(peer)
        ours, theirs = login_request(), login_request(PEER_LOGIN, "identity")
        passkeys, passwords, peers = interleave(
            plan.rounds,
            lambda: _log_in(server, users, plan.seconds),
            lambda: generate(server, ours, clients=CLIENTS, seconds=plan.seconds),
            lambda: generate(peer, theirs, clients=CLIENTS, seconds=plan.seconds),
        )
    others = {f"password login, bcrypt cost {BCRYPT_COST}": passwords, PEER: peers}
    return compare(f"passkey login, {CLIENTS} clients", passkeys, others)


def _log_in(server: Server, users: list[PasskeyLogins], seconds: float) -> Load:
    for user in users:
        user.restart()
    load = converse(server, users, seconds=seconds)
    return Load(load.answers // 2, load.seconds, load.processor_seconds)
