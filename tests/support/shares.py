"""A tenant with a shared folder, and visitors of its shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strongroom.foundation.database.upgrade import upgrade
from strongroom_share_links.plugin import register_tables
from tests.support.api import Answer, Api, Json, Person

PLUGINS = ["storage_local", "share_links"]
ALL_KINDS = ["read", "preview", "drop", "write"]
PASSWORD = "open sesame"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0"
    "f01f00050001ff56c72f0d0000000049454e44ae426082"
)


@dataclass
class Shared:
    """A folder with files, whose maker manages it without administering the tenant."""

    api: Api
    admin: Person
    maker: Person
    tenant: str
    folder: str
    inside: str
    file: str
    picture: str
    outside: str

    @classmethod
    def made(cls, api: Api) -> "Shared":
        upgrade(api.container.database.engine, {"share_links": register_tables()})
        admin, maker = api.person(), api.person()
        tenant = api.tenant(admin)
        api.join(tenant, admin, maker)
        folder = api.folder(tenant, admin, "Shared")["id"]
        inside = api.folder(tenant, admin, "Inside", folder)["id"]
        file = api.upload(tenant, admin, "note.txt", b"0123456789" * 10, folder)["id"]
        picture = api.upload(tenant, admin, "dot.png", PNG, inside)["id"]
        outside = api.upload(tenant, admin, "secret.txt", b"outside", None)["id"]
        shared = cls(api, admin, maker, tenant, folder, inside, file, picture, outside)
        shared.grant("manage")
        return shared

    @property
    def host(self) -> Any:
        return self.api.container.hosts.get("share_links")

    def grant(self, level: str, node: str | None = None) -> None:
        url = f"{self.tenant}/files/{node or self.folder}/owners"
        reply = self.api.post(url, {"ownerId": self.maker.id, "permission": level}, by=self.admin)
        assert reply.status_code in (200, 201), reply.text

    def try_to_share(
        self, node: str | None = None, kind: str = "read", by: Person | None = None, **body: Any
    ) -> Answer:
        path = f"{self.tenant}/files/{node or self.folder}/shares"
        return self.api.post(path, {"kind": kind, **body}, by=by or self.maker)

    def share(self, node: str | None = None, kind: str = "read", **body: Any) -> "Visitor":
        reply = self.try_to_share(node, kind, **body)
        assert reply.status_code == 201, reply.text
        return Visitor(self.api, reply.json)

    def change(self, share: Json, by: Person | None = None, **body: Any) -> Answer:
        return self.api.patch(f"{self.tenant}/shares/{share['id']}", body, by=by or self.maker)

    def state(self, share: Json) -> str:
        reply = self.api.get(f"{self.tenant}/shares/{share['id']}", by=self.admin)
        return str(reply.json["state"])


@dataclass
class Visitor:
    """A visitor of a share, without a token unless ``person`` is set."""

    api: Api
    share: Json
    proof: str | None = None
    person: Person | None = None

    @property
    def secret(self) -> str:
        return str(self.share["url"].rpartition("/")[2])

    @property
    def root(self) -> str:
        return f"/api/v1/shares/{self.secret}"

    def send(self, method: str, path: str = "", **options: Any) -> Answer:
        headers: Mapping[str, str] = options.pop("headers", {})
        proof = {"X-Share-Proof": self.proof} if self.proof else {}
        token = {"Authorization": f"Bearer {self.person.token}"} if self.person else {}
        sent = {**proof, **token, **headers}
        # The client's own cookies would replace those of the header.
        client = self.api.app.test_client(use_cookies=False)
        return Answer(client.open(f"{self.root}{path}", method=method, headers=sent, **options))

    def get(self, path: str = "", **options: Any) -> Answer:
        return self.send("GET", path, **options)

    def prove(self, password: str = PASSWORD) -> Answer:
        reply = self.send("POST", "/proofs", json={"password": password})
        self.proof = reply.headers.get("X-Share-Proof") or self.proof
        return reply

    def drop(self, name: str, content: bytes, query: str = "") -> Answer:
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Type": "application/octet-stream",
        }
        return self.send("POST", f"/files{query}", headers=headers, data=content)
