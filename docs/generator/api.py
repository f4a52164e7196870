"""Generates the pages of the HTTP API, one for each tag of the OpenAPI document."""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from generator.prose import cell, required
from generator.schemas import Json, Schemas, type_name

_CONFIG: Final = Path(__file__).parents[2] / "clients" / "openapi.toml"
_RESERVED: Final = "reserved"
"""The tag of routes without a plugin that serves them."""

_INDEX: Final = """\
# HTTP API

All requests of a server with all plugins, by subject. [Call the HTTP API](../../guides/rest.md) has the
rules for all of them, and [Errors](../errors.md) all codes. A server describes its own requests at
`/openapi.json`, and `/docs` sends them from the browser.
"""


def api_pages() -> dict[str, str]:
    """Return the pages by file name."""
    document = _document()
    schemas = Schemas(document)
    tags = {tag["name"]: tag["description"] for tag in document["tags"] if _is_served(tag, document)}
    pages = {"index.md": _INDEX + "".join(_index_of(tag, document) for tag in tags)}
    for tag, description in tags.items():
        sections = (_section(request, item, schemas) for request, item in _operations(document, tag))
        pages[_file(tag)] = f"# {_title(tag)}\n\n{description}\n" + "".join(sections)
    names = "".join(f"{name.removesuffix('.md')}\n" for name in pages if name != "index.md")
    pages["index.md"] += f"\n```{{toctree}}\n:hidden:\n\n{names}```\n"
    return pages


def _document() -> Json:
    command = (Path(sys.executable).with_name("strongroom"), "--config", _CONFIG, "openapi")
    with tempfile.TemporaryDirectory() as folder:
        # The command of this environment, with a configuration of this tree.
        result = subprocess.run(  # noqa: S603
            command, cwd=folder, capture_output=True, text=True, check=True
        )
    document: Json = json.loads(result.stdout)
    return document


def _is_served(tag: Json, document: Json) -> bool:
    return tag["name"] != _RESERVED and any(_operations(document, tag["name"]))


def _operations(document: Json, tag: str) -> Iterator[tuple[str, Json]]:
    """Yield each request of a tag, such as ``GET /users``, with its operation."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters" and operation["tags"] == [tag]:
                shared = item.get("parameters", [])
                parameters = [*shared, *operation.get("parameters", [])]
                yield f"{method.upper()} {path}", {**operation, "parameters": parameters}


def _title(tag: str) -> str:
    return re.sub("[-_]", " ", tag).capitalize()


def _file(tag: str) -> str:
    return re.sub("[ _]", "-", tag) + ".md"


def _anchor(request: str) -> str:
    """Return the anchor that Markdown gives a heading."""
    return re.sub(r"[^\w -]", "", request.lower()).replace(" ", "-")


def _index_of(tag: str, document: Json) -> str:
    rows = [
        f"| [`{request}`]({_file(tag)}#{_anchor(request)}) | {cell(_summary(request, operation))} |\n"
        for request, operation in _operations(document, tag)
    ]
    return f"\n## [{_title(tag)}]({_file(tag)})\n\n| request | purpose |\n|---|---|\n{''.join(rows)}"


def _summary(request: str, operation: Json) -> str:
    return required(operation.get("summary"), request)


def _section(request: str, operation: Json, schemas: Schemas) -> str:
    pieces = [f"\n## `{request}`\n", f"{_summary(request, operation)}\n"]
    if "description" in operation:
        pieces.append(f"{operation['description']}\n")
    pieces += [_access(operation), _parameters(operation["parameters"])]
    pieces += _body(operation.get("requestBody", {}), schemas)
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            pieces += _response(status, response, schemas)
    return "\n".join([*filter(None, pieces), _errors(operation["responses"])])


def _access(operation: Json) -> str:
    """Return the line about tokens, access keys and recent proofs."""
    security = operation.get("security", [])
    token = "required" if security == [{"bearer": []}] else "optional" if security else "none"
    parts = [f"Access token: {token}"]
    if scope := operation.get("x-access-key-scope"):
        parts.append(f"[access key](../../guides/access-keys.md): `{scope}`")
    if effect := operation.get("x-strongroom-sensitive"):
        condition = operation.get("x-strongroom-sensitive-if")
        when = f", if {condition}" if condition else ""
        parts.append(f"[recent proof](../step-up.md): {effect}{when}")
    return " · ".join(parts) + "\n"


def _parameters(parameters: list[Json]) -> str:
    rows = [
        f"| `{item['name']}` | {item['in']}{', required' if item.get('required') else ''} "
        f"| {type_name(item['schema'])} | {cell(item.get('description', ''))} |\n"
        for item in parameters
    ]
    head = "| parameter | in | type | meaning |\n|---|---|---|---|\n"
    return head + "".join(rows) if rows else ""


def _body(body: Json, schemas: Schemas) -> Iterator[str]:
    for media_type, content in body.get("content", {}).items():
        yield f"Body: `{media_type}`\n"
        yield schemas.members(content["schema"])
        yield _example(content)


def _response(status: str, response: Json, schemas: Schemas) -> Iterator[str]:
    contents = response.get("content", {})
    media_types = ", ".join(f"`{media_type}`" for media_type in contents)
    yield f"Response {status}: {media_types or 'no body'}\n"
    for content in contents.values():
        yield _example(content)
        yield schemas.members(content.get("schema", {}), only_described=True)


def _example(content: Json) -> str:
    if not content.get("example"):
        return ""
    return f"```json\n{json.dumps(content['example'], indent=2, ensure_ascii=False)}\n```\n"


def _errors(responses: Json) -> str:
    rows = [
        f"| {status} | {cell(response['description'].replace('; `error.', '<br>`error.'))} |\n"
        for status, response in responses.items()
        if status[0] in "45"
    ]
    return f"| error | meaning |\n|---|---|\n{''.join(rows)}" if rows else ""
