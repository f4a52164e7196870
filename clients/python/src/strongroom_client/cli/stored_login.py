"""The login of the command, in a folder that only its owner may read."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import msgspec

from .._sync.captchas import Captcha
from .._sync.client import Client
from ..errors import NotLoggedIn
from ..files import write_durably
from ..retries import Retries
from ..tokens import FileTokens
from ..transfers import FolderUploads

FOLDER_VARIABLE: Final = "STRONGROOM_CLIENT_DIR"
URL_VARIABLE: Final = "STRONGROOM_URL"
KEY_VARIABLE: Final = "STRONGROOM_KEY"


class Server(msgspec.Struct):
    """Where the user is logged in, and the access key, if the login is by one."""

    url: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class StoredLogin:
    """The stored login, and the state of unfinished work.

    Args:
        folder: by default, the folder of the user's configuration.
    """

    folder: Path
    on_wait: Callable[[float, Exception], None] | None = None

    @classmethod
    def of_user(cls, on_wait: Callable[[float, Exception], None]) -> "StoredLogin":
        """Return the login in the folder of the environment, or of the user's configuration.

        ``on_wait`` is called before each wait for the server with the seconds and the fault.
        """
        folder = os.environ.get(FOLDER_VARIABLE) or click.get_app_dir("strongroom-client")
        return cls(Path(folder), on_wait)

    @property
    def tokens(self) -> FileTokens:
        """The tokens of the login."""
        return FileTokens(self.folder / "tokens.json")

    def store(self, server: Server) -> None:
        """Replace the login."""
        write_durably(self._path, msgspec.json.encode(server))

    def remove(self) -> None:
        """Remove the login."""
        self._path.unlink(missing_ok=True)
        self.tokens.save(None)

    def server(self) -> Server:
        """Return the server of the environment, or else of the stored login.

        Raises:
            NotLoggedIn: there is none.
        """
        url, key = os.environ.get(URL_VARIABLE), os.environ.get(KEY_VARIABLE)
        if url and key:
            return Server(url, key)
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Server)
        except FileNotFoundError:
            raise NotLoggedIn("Not logged in; see strongroom-client login --help.") from None

    @contextmanager
    def client(self, server: Server | None = None, captcha: Captcha | None = None) -> Iterator[Client]:
        """Open a client of the server."""
        server = server or self.server()
        uploads = FolderUploads(self.folder / "uploads")
        with Client(
            server.url,
            key=server.key,
            tokens=self.tokens,
            uploads=uploads,
            captcha=captcha,
            retries=Retries(on_wait=self.on_wait),
        ) as client:
            yield client

    @property
    def _path(self) -> Path:
        return self.folder / "server.json"
