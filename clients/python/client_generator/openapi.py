"""Models and operations from the OpenAPI document, parsed by openapi-python-client."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from openapi_python_client import generate
from openapi_python_client.config import Config, ConfigFile, MetaType

from client_generator.formatting import formatted_texts

Json = dict[str, Any]

_TEMPLATES: Final = Path(__file__).with_name("templates")
_RESERVED: Final = "reserved"
"""The tag of routes without a plugin that serves them."""


class GenerationFailed(Exception):
    """The document has a part that the generator does not understand."""


def read_document(config: Path, folder: Path) -> Json:
    """Return the OpenAPI document of a server with a configuration; the folder is for its data."""
    command = (Path(sys.executable).with_name("strongroom"), "--config", config, "openapi")
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    document: Json = json.loads(result.stdout)
    return document


def generated_modules(document: Json, folder: Path) -> dict[str, str]:
    """Return the modules ``models.py`` and ``api/*.py`` by name."""
    source, output = folder / "openapi.json", folder / "generated"
    source.write_text(json.dumps(_prepared(document)))
    problems = generate(config=_config(source, output), custom_template_path=_TEMPLATES)
    if problems:
        raise GenerationFailed("\n".join(f"{each.header}: {each.detail}" for each in problems))
    texts = {"models.py": (output / "models" / "__init__.py").read_text()}
    texts["api/__init__.py"] = (output / "api" / "__init__.py").read_text()
    for path in (output / "api").glob("*/__init__.py"):
        texts[f"api/{path.parent.name}.py"] = path.read_text()
    return formatted_texts(texts, folder / "formatted")


def _config(source: Path, output: Path) -> Config:
    options = ConfigFile(
        literal_enums=True,
        post_hooks=[],
        # JSON lines are streamed, so the client has them as bytes.
        content_type_overrides={"application/x-ndjson": "application/octet-stream"},
    )
    return Config.from_sources(
        options, MetaType.NONE, source, "utf-8", overwrite=True, output_path=output
    )


def _prepared(document: Json) -> Json:
    """Return the document without pages for browsers, and with types that the parser understands."""
    for item in document["paths"].values():
        for method, operation in list(item.items()):
            if method != "parameters" and not _is_called_by_programs(operation):
                del item[method]
    for schema in _schemas(document):
        _split_nullable_enum(schema)
    return document


def _is_called_by_programs(operation: Json) -> bool:
    if _RESERVED in operation["tags"]:
        return False
    contents = [
        set(response.get("content", ()))
        for status, response in operation["responses"].items()
        if status.startswith("2")
    ]
    return not any(types and all(kind.startswith("text/") for kind in types) for types in contents)


def _schemas(value: Any) -> Iterator[Json]:
    """Yield every object of a document."""
    if isinstance(value, dict):
        yield value
        for member in list(value.values()):
            yield from _schemas(member)
    elif isinstance(value, list):
        for member in value:
            yield from _schemas(member)


def _split_nullable_enum(schema: Json) -> None:
    """Replace an enum that contains null by a union, because the parser makes three types of it."""
    values = schema.get("enum")
    if isinstance(values, list) and None in values:
        named = {"type": "string", "enum": [value for value in values if value is not None]}
        del schema["enum"], schema["type"]
        schema.pop("default", None)
        schema["anyOf"] = [named, {"type": "null"}]
