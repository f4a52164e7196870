"""Mixed load for a long time: memory and descriptors of the server afterwards.

``python -m bench endurance --files 1000000 --seconds 1200`` is the complete measurement.
"""

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple
from urllib.parse import quote

from bench import archive, people
from bench.client import EMAIL, PASSWORD, HttpClient
from bench.forms import raw_headers
from bench.harness import MEBIBYTE, Limit, Plan, Row
from bench.load import Load, MakeRequest, build_request, generate
from bench.login import login_request
from bench.servers import Server, strongroom
from bench.usage import count_descriptors, resident_bytes
from strongroom.assembly.app import create_app, get_container
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.service import TenantService
from strongroom.foundation.caller import Origin
from strongroom.foundation.config import load
from strongroom.identity.accounts.registration import Registration, RegistrationService

CLIENTS: Final = 8
PARTS: Final = 8
"""The first part fills the caches; the memory after it is compared with the one after the last."""

PER_USER: Final = 10
"""Files of the plan per user of the server, and per file of one folder."""

WEIGHTS: Final = {"login": 1, "upload": 10, "page": 20, "search": 10, "details": 59}
"""The percentages of the requests."""

_PAGE: Final = 50
_SEARCHES: Final = ("annual report", "budget", "draft plan", "报告", "合同")
_CONTENT: Final = b"x" * 10_240


class Sample(NamedTuple):
    """What the processes of a server have together."""

    resident: int
    descriptors: int


def measure(plan: Plan) -> list[Row]:
    """Measure memory and descriptors after the first and the last part of the load."""
    with TemporaryDirectory() as name, strongroom(Path(name)) as server:
        planted = _plant(server, plan.files)
        loads, samples = list[Load](), list[Sample]()
        for part in range(PARTS):
            requests = _mixed(server, planted, plan.files, part)
            seconds = plan.seconds / PARTS
            loads.append(generate(server, requests, clients=CLIENTS, seconds=seconds))
            samples.append(Sample(resident_bytes(server.pid), count_descriptors(server.pid)))
    return _rows(plan, Load.total(loads), samples)


def _plant(server: Server, files: int) -> archive.Archive:
    """Write users and files next to the running server, and a user who administers the files."""
    container = get_container(create_app(load(server.config, {})))
    try:
        people.plant(container, files // PER_USER)
        planted = archive.plant(container, files, in_one_folder=files // PER_USER)
        member = Registration(name="Member", email=EMAIL, password=PASSWORD)
        user = container.get(RegistrationService).create(member, Origin())
        tenants = container.get(TenantService)
        tenants.put_member(planted.admin, planted.tenant, user.id, Role.ADMIN, Origin())
    finally:
        container.close()
    return planted


def _mixed(server: Server, planted: archive.Archive, files: int, part: int) -> MakeRequest:
    """Return a source of requests in a random order, with an access token of their own."""
    credentials = {"username": EMAIL, "password": PASSWORD}
    token = HttpClient(server.port).post("/authorizations", credentials)["accessToken"]
    tenant = f"/api/v1/tenants/{planted.tenant}"
    headers = {"Authorization": f"Bearer {token}"}
    login, kinds, weights = login_request(), [*WEIGHTS], [*WEIGHTS.values()]
    pages = max(1, files // PER_USER // _PAGE)
    random, numbers = Random(part), count()  # noqa: S311

    def get(path: str) -> bytes:
        return build_request("GET", tenant + path, headers)

    def make() -> bytes:
        (kind,) = random.choices(kinds, weights)
        if kind == "login":
            return login
        if kind == "upload":
            file = raw_headers(f"{part}-{next(numbers)}.bin")
            return build_request("POST", f"{tenant}/files", {**headers, **file}, _CONTENT)
        if kind == "page":
            inside = f"/owners/me/files/{planted.folder}/files"
            return get(f"{inside}?pageSize={_PAGE}&pageNumber={random.randint(1, pages)}")
        if kind == "search":
            return get(f"/search?query={quote(random.choice(_SEARCHES))}")
        return get(f"/files/{archive.node_id(random.randrange(files))}")

    return make


def _rows(plan: Plan, all_: Load, samples: Sequence[Sample]) -> list[Row]:
    load = f"{plan.seconds:,.0f} s of mixed load, {plan.files:,} files, {CLIENTS} clients"
    first, last = samples[0], samples[-1]
    after = f"after {plan.seconds / PARTS:,.0f} s"
    descriptors = Limit(after, [first.descriptors])
    resident = Limit(after, [first.resident / MEBIBYTE])
    return [
        Row(load, "/s", [all_.rate]),
        Row(f"memory after {load}", "MiB", [last.resident / MEBIBYTE], resident, is_cost=True),
        Row(f"descriptors after {load}", "", [last.descriptors], descriptors, is_cost=True),
    ]
