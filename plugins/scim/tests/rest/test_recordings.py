"""The requests of Entra and Okta in the form in which they send them, from ``tests/recordings``.

A recording has requests with the expected responses: a line with the method and the path, the body, a
line ``=> STATUS MEMBERS``, and perhaps ``save NAME``, which stores the id of the response for
``@NAME@``, or ``members`` with the ids of a group.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.config import lifted, merged
from tests.support.databases import on_sqlite
from tests.support.directories import Company

RECORDINGS = Path(__file__).parents[1] / "recordings"
AGENTS = {"entra": "Microsoft Azure Active Directory", "okta": "Okta SCIM Client 1.0.0"}
_REQUEST = re.compile(r"^(GET|POST|PUT|PATCH|DELETE) (/\S*)$", re.MULTILINE)

pytestmark = [
    on_sqlite,
    pytest.mark.config(merged(lifted(), {"plugins": {"enabled": ["storage_local", "scim"]}})),
]


@dataclass(frozen=True)
class Exchange:
    """A request, and what is expected of the response.

    Args:
        body: the bytes as the client sends them, with names in place of ids.
        saved: the name of the id.
        members: the ids in the group; ``None``: not looked at.
    """

    method: str
    path: str
    body: str
    status: int
    expected: dict[str, Any]
    saved: str
    members: list[str] | None


def exchanges(text: str) -> Iterator[Exchange]:
    """Yield the exchanges of a recording."""
    starts = [match.start() for match in _REQUEST.finditer(text)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        request, _, response = text[start:end].partition("\n=> ")
        line, _, body = request.partition("\n")
        method, _, path = line.partition(" ")
        lines = response.splitlines()
        status, _, expected = lines[0].partition(" ")
        rest = [line.split() for line in lines[1:] if line.strip() and not line.startswith("#")]
        words = {line[0]: line[1:] for line in rest}
        yield Exchange(
            method,
            path,
            body,
            int(status),
            json.loads(expected or "{}"),
            (words.get("save") or [""])[0],
            words.get("members"),
        )


@pytest.mark.parametrize("client", AGENTS)
@pytest.mark.parametrize("names_tenant", [False, True], ids=["account", "tenant"])
def test_a_recording_is_answered(api: Api, client: str, names_tenant: bool) -> None:
    company, ids, count = Company.made(api), dict[str, str](), 0
    base = f"/scim/v2/tenants/{company.tenant}" if names_tenant else "/scim/v2"
    headers = {"Content-Type": "application/scim+json", "User-Agent": AGENTS[client]}

    def filled(text: str) -> str:
        return re.sub(r"@(\w+)@", lambda match: ids.get(match[1], match[0]), text)

    for item in exchanges((RECORDINGS / f"{client}.http").read_text("utf-8")):
        count += 1
        options = {"data": filled(item.body).encode()} if item.body.strip() else {}
        path = f"{base}{filled(item.path)}"
        answer = api.request(item.method, path, by=company.robot, headers=headers, **options)
        name = f"{item.method} {item.path}"
        assert answer.status_code == item.status, (name, answer.text)
        body = answer.json if answer.data else {}
        assert {key: body.get(key) for key in item.expected} == item.expected, (name, answer.text)
        if item.saved:
            ids[item.saved] = body["id"]
        if item.members is not None:
            listed = sorted(member["value"] for member in body.get("members", []))
            assert listed == sorted(map(filled, item.members)), name
    assert count >= 20
