"""A search for a text in the content of files, with a bounded amount of work in each call."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from marshmallow import fields, validate

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_mcp.protocol.registry import ToolResult
from strongroom_mcp.tools.arguments import TenantArguments, identifier
from strongroom_mcp.tools.failures import translate
from strongroom_mcp.tools.records import data_result
from strongroom_mcp.tools.spaces import find_tenant
from strongroom_mcp.tools.tool import FileTool
from strongroom_mcp.tools.walking import MAX_CURSOR, Walk

MAX_FILES: Final = 200
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_LISTS: Final = 100
MAX_MATCHES: Final = 100
MAX_PER_FILE: Final = 20
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
"""Larger files are skipped; they are rarely text."""
SECONDS: Final = 10.0

_LINE: Final = 300
"""The most characters of a line in a result."""
_BEFORE: Final = 100
_MAX_TEXT: Final = 255
_HEAD: Final = 8192


class GrepArguments(TenantArguments):
    """The arguments of a search in content."""

    text = fields.String(
        required=True,
        validate=validate.Length(1, _MAX_TEXT),
        metadata={"description": "The text to find in one line; no regular expression"},
    )
    folderId = identifier("Id of the folder to search, at any depth. Without it: all that you reach.")
    ignoreCase = fields.Boolean(
        truthy={True},
        falsy={False},
        load_default=True,
        metadata={"description": "Whether case is ignored"},
    )
    cursor = fields.String(
        validate=validate.Length(1, MAX_CURSOR),
        metadata={"description": "The cursor of the last result, to continue where it stopped"},
    )


@dataclass(slots=True)
class Budget:
    """What is left of the work of one call."""

    files: int = MAX_FILES
    bytes: int = MAX_BYTES
    lists: int = MAX_LISTS
    matches: int = MAX_MATCHES
    deadline: float = field(default_factory=lambda: monotonic() + SECONDS)

    @property
    def end(self) -> str | None:
        """The name of the limit that is used up; ``None`` while work remains."""
        for name in ("files", "bytes", "lists", "matches"):
            if getattr(self, name) <= 0:
                return name
        return "seconds" if monotonic() >= self.deadline else None


@dataclass(slots=True)
class Search:
    """A search, and what it has found."""

    host: HostAPI
    needle: str
    ignores_case: bool
    budget: Budget
    matches: list[dict[str, Any]] = field(default_factory=list)
    searched: int = 0
    skipped: int = 0

    def run(self, walk: Walk) -> str | None:
        """Search until the end of the walk, or of the budget; return the limit that ended it."""
        for records in walk.pages():
            self.budget.lists -= 1
            for record in records:
                if limit := self.budget.end:
                    return limit
                if walk.take(record):
                    break
                self._search(record)
        return None

    def _search(self, file: FileInfo) -> None:
        self.budget.files -= 1
        if not 0 < file.size <= MAX_FILE_BYTES:
            self.skipped += file.size > 0
            return
        self.budget.bytes -= file.size
        try:
            text = self._read(file)
        except ApiError as error:
            # A file in quarantine, or one that was deleted meanwhile, does not end the search.
            translate(error)
            text = None
        if text is None:
            self.skipped += 1
            return
        self.searched += 1
        self.matches += self._matches(file, text)

    def _read(self, file: FileInfo) -> str | None:
        """Return the text of a file; ``None`` if it is none."""
        with self.host.files.open(file.tenant_id, file.id) as chunks:
            data = bytearray()
            for chunk in chunks:
                data += chunk
                if b"\0" in data[:_HEAD]:
                    return None
        return data.decode(errors="replace")

    def _matches(self, file: FileInfo, text: str) -> Iterator[dict[str, Any]]:
        most = min(MAX_PER_FILE, self.budget.matches)
        for number, line in enumerate(text.splitlines(), 1):
            position = (line.lower() if self.ignores_case else line).find(self.needle)
            if position < 0:
                continue
            start = max(0, position - _BEFORE)
            yield {"fileId": file.id, "name": file.name, "line": number, "text": line[start:][:_LINE]}
            self.budget.matches -= 1
            most -= 1
            if not most:
                return


def grep_files(host: HostAPI, values: dict[str, Any]) -> ToolResult:
    """Return the lines that contain a text."""
    tenant_id, ignores_case = find_tenant(host, values), values["ignoreCase"]
    walk = Walk.begin(host, tenant_id, values.get("folderId"), values.get("cursor"))
    needle = values["text"].lower() if ignores_case else values["text"]
    search = Search(host, needle, ignores_case, Budget())
    limit = search.run(walk)
    return data_result(
        {
            "tenantId": tenant_id,
            "matches": search.matches,
            "filesSearched": search.searched,
            "filesSkipped": search.skipped,
            "stoppedBy": limit,
            "cursor": walk.cursor() if limit else None,
        }
    )


TOOLS = (
    FileTool(
        "files_grep",
        "Find text in files",
        "Find the lines of text files that contain a text, at any depth. One call searches at most "
        f"{MAX_FILES} files and {MAX_BYTES // 1024 // 1024} MiB, and returns at most "
        f"{MAX_MATCHES} lines ({MAX_PER_FILE} of one file). If stoppedBy is not null, continue with "
        "cursor. Files above "
        f"{MAX_FILE_BYTES // 1024 // 1024} MiB and binary files are skipped.",
        GrepArguments,
        grep_files,
    ),
)
