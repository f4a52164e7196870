"""The server of the pages of the console, and what its users have."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from strongroom.testing.server import LiveUser, free_port, live_server
from tests.support.config import Table, merged
from tests.support.page_templates import copy_with_marks
from tests.support.screens.stage import Stage
from tests.support.source_tree import ROOT
from tests.support.waiting import wait_until

_SCANNER: Final = ROOT / "examples/plugins.d/refuse_programs.py"
_PLUGINS: Final = ("factor_totp", "login_pages", "share_links", "webhooks", "console")


class ConsoleStage(Stage):
    """A server with the console, and what its users have."""

    @cached_property
    def versioned(self) -> str:
        """A file with an earlier content."""
        path = f"/api/v1/tenants/{self.tenant}/files/{self.file}/content"
        self.server.request("PUT", path, by=self.maker, body=b"Another content")
        return self.file

    @cached_property
    def link(self) -> str:
        """A share of the file."""
        path = f"/api/v1/tenants/{self.tenant}/files/{self.file}/shares"
        share = self.server.succeed(
            "POST", path, by=self.maker, json_body={"kind": "read", "maxDownloads": 5}
        )
        return str(share["id"])

    @cached_property
    def reader(self) -> LiveUser:
        """A member who may read the file."""
        path = f"/api/v1/tenants/{self.tenant}/files/{self.file}/owners"
        body = {"ownerId": self.colleague.id, "permission": "read"}
        self.server.succeed("POST", path, by=self.maker, json_body=body)
        return self.colleague

    @cached_property
    def endpoint(self) -> str:
        """A webhook with a delivery."""
        body = {"url": "https://127.0.0.1:9/", "eventTypes": ["file.*"], "tenantId": self.tenant}
        path = "/api/v1/webhook-endpoints"
        endpoint = str(self.server.succeed("POST", path, by=self.maker, json_body=body)["id"])
        self.server.succeed("POST", f"{path}/{endpoint}/test", by=self.maker)
        return endpoint

    @cached_property
    def account(self) -> str:
        """A service account with a key."""
        path = f"/api/v1/tenants/{self.tenant}/service-accounts"
        account = str(self.server.succeed("POST", path, by=self.maker, json_body={"name": "Acme"})["id"])
        key = {"name": "Laptop", "scopes": ["files:read"]}
        self.server.succeed("POST", f"{path}/{account}/access-keys", by=self.maker, json_body=key)
        return account

    def new_trash(self) -> str:
        """Delete a new file, and return its id."""
        file = self.new_files(1)[0]
        self.server.succeed("DELETE", f"/api/v1/tenants/{self.tenant}/files/{file}", by=self.maker)
        return file

    def new_files(self, count: int) -> list[str]:
        """Upload files, and return their ids."""
        names = [f"{uuid4().hex}.txt" for _ in range(count)]
        return [str(self.server.upload(self.tenant, self.maker, name, b"note")["id"]) for name in names]

    @cached_property
    def locked(self) -> str:
        """A file that its owner has locked."""
        file = self.new_files(1)[0]
        path = f"/api/v1/tenants/{self.tenant}/files/{file}/locks"
        self.server.succeed("POST", path, by=self.maker, json_body={"note": "Word"})
        return file

    @cached_property
    def scan(self) -> str:
        """A file in quarantine, which a scanner has refused."""
        # Smaller files are scanned before the upload is answered, which refuses them.
        self.server.upload(self.tenant, self.maker, "program.txt", b"MZ" + bytes(2**20))

        def quarantined() -> Any:
            return self.server.succeed("GET", "/api/v1/quarantine", by=self.root)["data"]

        wait_until(lambda: bool(quarantined()))
        return str(quarantined()[0]["id"])

    @cached_property
    def user_import(self) -> str:
        """An import of users, one of whose lines is refused."""
        headers = {"Content-Type": "application/x-ndjson"}
        lines = b'{"email": "no address"}\n'
        reply = self.server.request("POST", "/user-imports", by=self.root, headers=headers, body=lines)
        return str(reply.json()["id"])

    @cached_property
    def server_account(self) -> str:
        """A service account of the server."""
        path = "/api/v1/service-accounts"
        return str(self.server.succeed("POST", path, by=self.root, json_body={"name": "Acme"})["id"])

    @cached_property
    def colleague(self) -> LiveUser:
        """A member of the space."""
        colleague = self.new_user()
        self.server.join(self.tenant, self.maker, colleague)
        return colleague

    @cached_property
    def group(self) -> str:
        """A group with a member."""
        path = f"/api/v1/tenants/{self.tenant}/groups"
        group = str(self.server.succeed("POST", path, by=self.maker, json_body={"name": "Acme"})["id"])
        self.server.succeed("PUT", f"{path}/{group}/members/{self.colleague.id}", by=self.maker)
        return group


def _scanner(folder: Path) -> Path:
    """Write a scanner that reads whole files, so that large ones are scanned after the upload."""
    path = folder / _SCANNER.name
    path.write_text(_SCANNER.read_text().replace("head_only = True", "head_only = False"))
    return path


@contextmanager
def console_stage(folder: Path, *changes: Table) -> Iterator[ConsoleStage]:
    """Run a server with the console, whose pages name their templates."""
    port = free_port()
    origin = f"http://localhost:{port}"
    pages = {"templates": str(copy_with_marks(folder / "templates", _PLUGINS))}
    own = {
        "server": {"public_url": origin},
        "pages": pages,
        # No delivery leaves the machine.
        "plugins": {"webhooks": {"allow_hosts": ["127.0.0.1:9"]}},
        "scanning": {"scanners": ["programs"]},
        "limits": {"login_per_address": [], "invitations_per_user": []},
    }
    data = folder / "server"
    data.mkdir(parents=True)
    with live_server(
        data, plugins=_PLUGINS, config=merged(own, *changes), files=[_scanner(folder)], port=port
    ) as server:
        yield ConsoleStage(server, origin)


@contextmanager
def stage_without_trash(folder: Path) -> Iterator[ConsoleStage]:
    """Run such a server that deletes at once."""
    with console_stage(folder, {"files": {"trash": {"enabled": False}}}) as stage:
        yield stage
