"""A directory that provisions users and groups by SCIM over HTTP, and synchronizes again."""

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from queue import SimpleQueue
from random import Random
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import quote

from bench.client import EMAIL, PASSWORD, HttpClient, Json
from bench.harness import MEBIBYTE, Plan, Row
from bench.servers import HOST, PLUGINS, Server, strongroom
from bench.usage import resident_bytes

CLIENTS: Final = 4
"""Requests of the directory at the same time."""

PER_USER: Final = 100
"""Files of the plan per user: a million files stand for 10,000 users."""

PER_GROUP: Final = 20
"""Users of the tenant per group."""

SMALLEST, LARGEST = 20, 5000
"""Members of a group."""

_PART: Final = 1000
"""Members that a PATCH adds."""

_CONFIG: Final = """
[plugins.scim]
max_requests_per_minute = 1000000
"""
_USER: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
_GROUP: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
_PATCH: Final = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
_TIMEOUT: Final = 300

Group = tuple[str, Sequence[int]]


def measure(plan: Plan) -> list[Row]:
    """Measure the seconds of both synchronizations, and the memory that the server has afterwards.

    Raises:
        RuntimeError: the second synchronization changes a user, a group or the audit log.
    """
    count = max(SMALLEST, plan.files // PER_USER)
    groups = _choose_members(count)
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder), _CONFIG, plugins=[*PLUGINS, "scim"], workers=1) as server,
        closing(Directory(server)) as directory,
    ):
        # The first request imports the models.
        directory.send("GET", "/Users?count=1")
        memory = [resident_bytes(server.pid)]
        seconds = [directory.synchronize(count, groups)]
        memory.append(resident_bytes(server.pid))
        before = directory.state()
        seconds.append(directory.synchronize(count, groups))
        memory.append(resident_bytes(server.pid))
        if directory.state() != before:
            raise RuntimeError("the second synchronization has changed something")
    of = f"{count:,} users, {len(groups):,} groups, {sum(len(ids) for _, ids in groups):,} members"
    figures = {
        f"first synchronization: {of}": ("s", seconds[0]),
        f"second synchronization: {of}": ("s", seconds[1]),
        "memory before": ("MiB", memory[0] / MEBIBYTE),
        "memory after the first synchronization": ("MiB", memory[1] / MEBIBYTE),
        "memory after the second synchronization": ("MiB", memory[2] / MEBIBYTE),
    }
    return [Row(name, unit, [value], is_cost=True) for name, (unit, value) in figures.items()]


def _choose_members(count: int) -> list[Group]:
    """Return the groups with the numbers of their members; most groups are small."""
    random = Random(4)  # noqa: S311
    largest = min(LARGEST, count)
    number = max(1, count // PER_GROUP)
    ratio = largest / SMALLEST
    sizes = [round(SMALLEST * ratio ** (index / max(1, number - 1)) ** 3) for index in range(number)]
    return [
        (f"Group {index}", sorted(random.sample(range(count), size))) for index, size in enumerate(sizes)
    ]


class Directory:
    """Sends the requests of a directory to a server, each client on a connection of its own."""

    def __init__(self, server: Server) -> None:
        self._port = server.port
        self._admin = _log_in(server)
        tenant = self._admin.post("/api/v1/tenants", {"name": "Bench"})["id"]
        accounts = f"/api/v1/tenants/{tenant}/service-accounts"
        account = self._admin.post(accounts, {"name": "Directory"})["id"]
        key = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
        self._key = self._admin.post(f"{accounts}/{account}/access-keys", key)["key"]
        registered = {"name": "Bench", "accountId": account}
        self._admin.post(f"/api/v1/tenants/{tenant}/directories", registered)
        self._ids: dict[int, str] = {}
        self._connections: SimpleQueue[HTTPConnection] = SimpleQueue()
        for _ in range(CLIENTS):
            self._connections.put(HTTPConnection(HOST, self._port, timeout=_TIMEOUT))

    def close(self) -> None:
        """Close the connections."""
        while not self._connections.empty():
            self._connections.get().close()

    def synchronize(self, count: int, groups: Sequence[Group]) -> float:
        """Look each user and group up, create it if it is new, and otherwise replace it as it is."""
        start = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as pool:
            for _ in pool.map(self._put_user, range(count)):
                pass
            for _ in pool.map(self._put_group, groups):
                pass
        return time.monotonic() - start

    def state(self) -> Json:
        """Return the versions of all users and groups, and the number of audit events."""
        events = self._admin.get("/audit-events?pageSize=1")["meta"]["totalCount"]
        versions = {
            item["id"]: item["meta"]["version"]
            for kind in ("Users", "Groups")
            for item in self._all(kind)
        }
        return {"events": events, "versions": versions}

    def send(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send a request, and return the JSON of the response."""
        connection = self._connections.get()
        try:
            headers = {
                "Authorization": f"Bearer {self._key}",
                "Content-Type": "application/scim+json",
            }
            content = None if body is None else json.dumps(body)
            connection.request(method, f"/scim/v2{path}", content, headers)
            response = connection.getresponse()
            received = response.read()
        finally:
            self._connections.put(connection)
        if response.status not in (200, 201, 204):
            raise RuntimeError(f"unexpected answer {response.status}: {received!r}")
        answer: Json = json.loads(received or b"{}")
        return answer

    def _put_user(self, number: int) -> None:
        name = f"user{number}@acme.example"
        body = {
            "schemas": [_USER],
            "userName": name,
            "externalId": f"e{number}",
            "displayName": f"User {number}",
            "name": {"givenName": "User", "familyName": str(number)},
            "emails": [{"value": name, "type": "work", "primary": True}],
            "active": True,
        }
        present = self._find("Users", f'userName eq "{name}"')
        if present is None:
            self._ids[number] = self.send("POST", "/Users", body)["id"]
        else:
            self.send("PUT", f"/Users/{present['id']}", body)

    def _put_group(self, group: Group) -> None:
        name, numbers = group
        body: Json = {"schemas": [_GROUP], "displayName": name, "externalId": name}
        present = self._find("Groups", f'displayName eq "{name}"')
        if present is None:
            present = self.send("POST", "/Groups", body)
        members = [{"value": self._ids[number]} for number in numbers]
        for start in range(0, len(members), _PART):
            part = {"op": "Add", "path": "members", "value": members[start : start + _PART]}
            patch = {"schemas": [_PATCH], "Operations": [part]}
            self.send("PATCH", f"/Groups/{present['id']}", patch)

    def _find(self, kind: str, condition: str) -> Json | None:
        query = f"filter={quote(condition)}&excludedAttributes=members"
        resources = self.send("GET", f"/{kind}?{query}").get("Resources") or [None]
        found: Json | None = resources[0]
        return found

    def _all(self, kind: str) -> Iterator[Json]:
        start = 1
        while True:
            page = self.send("GET", f"/{kind}?startIndex={start}&count=200&excludedAttributes=members")
            yield from (resources := page.get("Resources", []))
            start += len(resources)
            if not resources or start > page["totalResults"]:
                return


class _Administrator(HttpClient):
    def get(self, path: str) -> Json:
        """Return the JSON object of a resource."""
        with closing(self._begin("GET", path, {}, 0)) as connection:
            answer: Json = json.load(connection.getresponse())
            return answer


def _log_in(server: Server) -> _Administrator:
    server.create_user(EMAIL, PASSWORD, "--admin")
    admin = _Administrator(server.port)
    issued = admin.post("/authorizations", {"username": EMAIL, "password": PASSWORD})
    admin.headers["Authorization"] = f"Bearer {issued['accessToken']}"
    return admin
