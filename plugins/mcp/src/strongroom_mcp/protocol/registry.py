"""What a server offers: tools, resources and prompts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """The program that sent a request, by its own account, and its capabilities."""

    name: str = ""
    version: str = ""
    capabilities: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool.

    Args:
        content: blocks such as ``{"type": "text", "text": "..."}``.
        structured: the same as a JSON object, for programs.
        is_error: whether the tool has failed, for a reason that the content names.
        meta: members of ``_meta``.
    """

    content: Sequence[Json]
    structured: Json | None = None
    is_error: bool = False
    meta: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hints:
    """What a tool does, for clients that ask the user before some calls. None of it is a promise."""

    is_read_only: bool = False
    is_destructive: bool = False
    is_idempotent: bool = False

    def serialize(self) -> dict[str, bool]:
        """Return the annotations of the protocol."""
        return {
            "readOnlyHint": self.is_read_only,
            "destructiveHint": self.is_destructive,
            "idempotentHint": self.is_idempotent,
            "openWorldHint": False,
        }


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a client calls by its name.

    Args:
        input_schema: the JSON Schema of the arguments, an object.
        call: runs the tool with arguments that are not checked yet.
        is_available: returns whether the caller of the current request may use it.
        requires: the capabilities that a client must have for it.
    """

    name: str
    description: str
    input_schema: Json
    call: Callable[[Json, Client], ToolResult]
    title: str = ""
    hints: Hints = Hints()
    is_available: Callable[[], bool] = _always
    requires: Json = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A page of resources. ``cursor`` leads to the next page; ``None`` on the last one."""

    items: Sequence[Json]
    cursor: str | None = None


class ResourceNotFound(LookupError):
    """No resource has the URI, as far as the caller can see."""


class InvalidCursor(ValueError):
    """The cursor is not one of the list."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Content that a client reads by URI.

    Args:
        list: returns a page by its cursor, ``None`` for the first one; raises :class:`InvalidCursor`.
        read: returns the contents of a URI; raises :class:`ResourceNotFound`.
        templates: descriptions of the URIs.
    """

    list: Callable[[str | None], ResourcePage]
    read: Callable[[str, Client], Sequence[Json]]
    templates: Sequence[Json] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with arguments that a client offers to its user.

    Args:
        arguments: descriptions with ``name``, ``description`` and ``required``.
        render: returns the messages.
    """

    name: str
    description: str
    render: Callable[[Mapping[str, str]], Sequence[Json]]
    arguments: Sequence[Json] = ()


@dataclass(frozen=True, slots=True)
class Registry:
    """What a server offers. Without resources or prompts, their methods do not exist."""

    tools: Sequence[Tool]
    resources: Resources | None = None
    prompts: Sequence[Prompt] = ()


def text_block(text: str) -> dict[str, str]:
    """Return a block of text."""
    return {"type": "text", "text": text}
