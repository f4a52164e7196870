"""No URL or host that a client sends makes the server connect anywhere (SSRF).

Every text field, parameter and header of every operation of the OpenAPI document is filled with the
address of a listener. ``STRONGROOM_TEST_SSRF_FORMS`` is how many spellings of the address are tried.
"""

import json
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.api import Api, Json, Person
from tests.support.campaign import campaign_size

from strongroom.testing.outbound import Canary, listening

FORMS = campaign_size("SSRF_FORMS", 2)
METHODS = ("get", "post", "put", "patch", "delete", "head")
NAME = "canary.invalid"
HEADERS = (
    "Content-Location",
    "Forwarded",
    "Location",
    "Origin",
    "Profile",
    "Referer",
    "Upload-Metadata",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "X-Original-URL",
    "X-Real-IP",
    "X-Rewrite-URL",
)
DESTRUCTIVE = re.compile(
    r"delete /users/|put /users/.*/(password|status|suspension|type)|authorizations"
)


class AddressCanary(Canary):
    """A listener, and all that would reach it: the server itself connects to its database."""

    def notice(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an attempt to resolve the canary's name, or to connect to its port."""
        if not self.is_watching or event not in ("socket.connect", "socket.getaddrinfo"):
            return
        target = str(arguments[1:] if event == "socket.connect" else arguments)
        if NAME in target or str(self.port) in target:
            self.seen.append(f"{event} {target}")

    def forms(self) -> list[str]:
        """Return spellings of its address."""
        numeric = int.from_bytes(socket.inet_aton("127.0.0.1"))
        return [
            f"http://127.0.0.1:{self.port}/a.png",
            f"//{NAME}:{self.port}/a",
            f"http://localhost:{self.port}",
            f"http://{numeric}:{self.port}/",
            f"http://[::ffff:127.0.0.1]:{self.port}/",
            f"http://0:{self.port}/",
            f"http://example.com@127.0.0.1:{self.port}/",
            f"gopher://127.0.0.1:{self.port}/_x",
            f"file://{NAME}/etc/passwd",
            f"\\\\{NAME}\\share",
            f"127.0.0.1:{self.port}",
            NAME,
            f"a@[127.0.0.1:{self.port}]",
            f"jdbc:postgresql://{NAME}:{self.port}/a",
            f"http://127.0.0.1:{self.port}#@{NAME}",
        ]


class Document:
    """The OpenAPI document, and requests that follow it."""

    def __init__(self, document: Json, known: dict[str, str]) -> None:
        self._document = document
        self._known = known

    def operations(self) -> Iterator[tuple[str, str, Json]]:
        for path, item in self._document["paths"].items():
            for method in METHODS:
                if method in item:
                    shared = item.get("parameters", [])
                    operation = {**item[method]}
                    operation["parameters"] = [*shared, *operation.get("parameters", [])]
                    yield method, path, operation

    def path(self, path: str, form: str, *, seeded: bool) -> str:
        """Fill the parameters of a path, with what exists or with a spelling of the address."""
        quoted = form.replace("/", "%2F").replace("#", "%23").replace("?", "%3F")

        def fill(match: re.Match[str]) -> str:
            return self._known.get(match[1], quoted) if seeded else quoted

        return re.sub(r"{(\w+)}", fill, path)

    def bodies(self, operation: Json, form: str) -> Iterator[Any]:
        """Yield the body with every text replaced, and with each one alone."""
        content = self._resolved(operation.get("requestBody", {})).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema is None:
            yield None
            return
        for target in (None, *self._texts(schema)):
            yield self._value(schema, form, target, ())

    def query(self, operation: Json, form: str) -> Json:
        parameters = map(self._resolved, operation["parameters"])
        return {item["name"]: form for item in parameters if item["in"] == "query"}

    def _resolved(self, item: Json) -> Json:
        while "$ref" in item:
            section, name = item["$ref"].split("/")[-2:]
            item = self._document["components"][section][name]
        return item

    def _texts(self, schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        schema = self._resolved(schema)
        for name, inner in schema.get("properties", {}).items():
            yield from self._texts(inner, (*path, name))
        if "items" in schema:
            yield from self._texts(schema["items"], path)
        if "string" in str(schema.get("type")):
            yield path

    def _value(self, schema: Json, form: str, target: Any, path: tuple[str, ...]) -> Any:
        schema = self._resolved(schema)
        kind = str(schema.get("type"))
        if "object" in kind or "properties" in schema:
            properties = schema.get("properties", {}).items()
            return {name: self._value(inner, form, target, (*path, name)) for name, inner in properties}
        if "array" in kind:
            return [self._value(schema["items"], form, target, path)]
        if "string" in kind:
            return form if target in (None, path) else self._text(schema, path)
        return True if "boolean" in kind else 1

    def _text(self, schema: Json, path: tuple[str, ...]) -> str:
        if "enum" in schema:
            return str(next(item for item in schema["enum"] if item))
        plausible = {"email": "a@example.com", "mobile": "+8613800000000", "answer": "42"}
        return {**plausible, **self._known}.get(path[-1] if path else "", "text")


def seeds(api: Api) -> tuple[Person, dict[str, str]]:
    """Return an administrator, and path parameters that name what exists."""
    root, member = api.person(admin=True), api.person()
    tenant = api.tenant(root)
    api.join(tenant, root, member)
    folder = api.folder(tenant, root, "folder")
    node = api.upload(tenant, root, "a.txt", b"x")
    return root, {
        "tenantId": tenant.rpartition("/")[2],
        "fileId": node["id"],
        "parentId": folder["id"],
        "ownerId": member.id,
        "userId": member.id,
    }


def attack(api: Api, root: Person, document: Document, form: str) -> int:
    """Send each operation with a spelling of the address in every place; return how many were sent."""
    sent = 0
    headers = dict.fromkeys(HEADERS, form.encode("ascii", "replace").decode())
    for method, path, operation in document.operations():
        is_destructive = DESTRUCTIVE.search(f"{method} {path}")
        for body in document.bodies(operation, form):
            for seeded in (False,) if is_destructive else (False, True):
                options = {"json": body} if body is not None else {"data": form.encode()}
                filled = document.path(path, form, seeded=seeded)
                query = {} if seeded else document.query(operation, form)
                api.request(
                    method.upper(), filled, by=root, headers=headers, query_string=query, **options
                )
                sent += 1
    return sent


def test_the_canary_notices_what_connects_to_it() -> None:
    with listening(AddressCanary) as canary:
        socket.create_connection(("127.0.0.1", canary.port)).close()
        with pytest.raises(OSError, match=r".*"):
            socket.getaddrinfo(NAME, 80)
    assert {item.split()[0] for item in canary.seen} == {
        "accepted",
        "socket.connect",
        "socket.getaddrinfo",
    }


def test_no_address_of_a_client_is_ever_connected_to(api: Api) -> None:
    root, known = seeds(api)
    document = Document(json.loads(api.get("/openapi.json").data), known)
    with listening(AddressCanary) as canary:
        sent = sum(attack(api, root, document, form) for form in canary.forms()[:FORMS])
        uploads = [
            {"Content-Disposition": f"attachment; filename=\"{form}\"; filename*=http''{form}"}
            for form in canary.forms()
        ]
        for headers in uploads:
            api.request("POST", "/api/v1/files", by=root, headers=headers, data=b"x")
    assert sent > 150 * FORMS
    assert api.get("/users", by=root).status_code == 200
    assert canary.seen == []
