"""A file that tests read by HTTP, an id that no file has, and the name that a download has."""

from typing import Any, Final
from urllib.parse import unquote

from tests.support.api import Answer, Api

MISSING: Final = "01890000-0000-7000-8000-000000000000"
"""The id of no node."""


class File:
    """A file, its owner, and the paths of the routes that read it."""

    def __init__(self, api: Api, name: str = "a.txt", content: bytes = b"content") -> None:
        self.api = api
        self.owner = api.person()
        self.tenant = api.tenant(self.owner)
        self.node = api.upload(self.tenant, self.owner, name, content)
        self.path = f"{self.tenant}/files/{self.node['id']}"
        self.download = f"{self.path}/download"
        self.top = f"{self.tenant}/owners/me/files"

    def get(self, path: str = "", **options: Any) -> Answer:
        """Read a path, the details by default, as the owner."""
        return self.api.get(path or self.path, by=self.owner, **options)


def sent_name(disposition: str) -> str:
    """Decode the file name of a Content-Disposition header (RFC 6266, RFC 8187)."""
    _, _, plain = disposition.partition('filename="')
    plain, _, extended = plain.partition('"')
    _, marked, encoded = extended.partition("filename*=UTF-8''")
    return unquote(encoded, errors="strict") if marked else plain
