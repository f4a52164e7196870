"""Arguments of tools: their schemas, which validate and are described as JSON Schema."""

from collections.abc import Mapping
from typing import Any, Final

from apispec import APISpec
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import RAISE, Schema, ValidationError, fields, validate

from strongroom_mcp.tools.failures import ToolFailed

MAX_ID: Final = 36
MAX_PAGE: Final = 100_000
MAX_REVISION: Final = 2**53 - 1
PAGE_SIZE: Final = 100
"""Records in a page of a tool, and the default."""

_MAX_FAULTS: Final = 10


class Arguments(Schema):
    """The arguments of a tool; unknown ones are refused by name."""

    class Meta:
        unknown = RAISE


def identifier(description: str, *, required: bool = False) -> fields.String:
    """Return the field of an id."""
    return fields.String(
        required=required,
        validate=validate.Length(1, MAX_ID),
        metadata={"description": description},
    )


def integer(
    description: str, least: int, most: int, default: int | None = None, *, required: bool = True
) -> fields.Integer:
    """Return the field of a whole number; without a default, it is required or left out."""
    presence: dict[str, Any] = {"required": required} if default is None else {"load_default": default}
    return fields.Integer(
        strict=True,
        validate=validate.Range(least, most),
        metadata={"description": description},
        **presence,
    )


class TenantArguments(Arguments):
    """Arguments of tools that work within one space."""

    tenantId = identifier("Id of the space, from spaces_list. Without it: the only one that you reach.")


class FileArguments(TenantArguments):
    """Arguments of tools for one file or folder."""

    fileId = identifier("Id of the file or folder", required=True)


class PageArguments(TenantArguments):
    """Arguments of tools that return a page of a list."""

    page = integer("The page, from 1 on; see nextPage of the result", 1, MAX_PAGE, 1)
    pageSize = integer("Records per page", 1, PAGE_SIZE, PAGE_SIZE)


def describe(schema: type[Arguments]) -> Mapping[str, Any]:
    """Return the JSON Schema of arguments."""
    spec = APISpec("arguments", "1", "3.1.0")
    converter = OpenAPIConverter("3.1.0", schema_name_resolver=lambda _: None, spec=spec)
    described: Mapping[str, Any] = converter.schema2jsonschema(schema())  # type: ignore[no-untyped-call]
    return described


def parse(schema: type[Arguments], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with their defaults.

    Raises:
        ToolFailed: they are invalid; the message names each fault.
    """
    try:
        values: dict[str, Any] = schema().load(arguments)
    except ValidationError as error:
        messages = error.messages_dict
        faults = [f"{name[:MAX_ID]}: {_first(messages[name])}" for name in [*messages][:_MAX_FAULTS]]
        raise ToolFailed(f"Invalid arguments. {' '.join(faults)}", "invalid-arguments") from error
    return values


def _first(messages: Any) -> str:
    return str(messages[0] if isinstance(messages, list) else messages)
