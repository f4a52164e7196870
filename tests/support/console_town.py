"""A server with the console: people, and a thing of each kind whose name says who may see it."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from werkzeug.routing import Rule

from strongroom.foundation.database.upgrade import upgrade
from strongroom_console.application import create_application
from strongroom_login_pages.plugin import register_tables as page_tables
from strongroom_share_links.plugin import register_tables as share_tables
from strongroom_webhooks.plugin import register_tables as webhook_tables
from tests.support.api import Answer, Api, Json, Person, creation_headers
from tests.support.config import FIXED_CAPTCHA, Table, lifted, merged

PLUGINS: Final = ("storage_local", "factor_totp", "login_pages", "share_links", "webhooks", "console")
CONFIG: Final[Table] = merged(
    FIXED_CAPTCHA,
    lifted(),
    {
        "plugins": {
            "enabled": [*PLUGINS],
            # No test sends a request to a server that is not its own.
            "webhooks": {"allow_hosts": ["127.0.0.1:9"]},
        }
    },
)
CONSOLE: Final = "/console"
UNKNOWN: Final = "x" * 32


def routes(api: Api) -> list[Rule]:
    """Return the routes of the console. The logout is last, because the others need the login."""
    application = create_application(api.container.hosts.get("console"))
    return sorted(application.url_map.iter_rules(), key=lambda rule: (rule.rule == "/logout", rule.rule))


@dataclass
class ConsoleTown:
    """The people and the things.

    Args:
        name: returns the name of a thing by its kind.
        root: an administrator of the server, who is a member of no tenant.
        owner: the administrator of the tenant.
        reader: a member with a permission to read the folder, through a grant.
        member: a member without a permission.
        other: the administrator of another tenant.
        parameters: the values of the parameters of routes.
    """

    api: Api
    name: Callable[[str], str]
    root: Person
    owner: Person
    reader: Person
    member: Person
    other: Person
    tenant: str
    parameters: dict[str, str] = field(default_factory=dict)

    @classmethod
    def built(cls, api: Api, name: Callable[[str], str]) -> "ConsoleTown":
        """Create all of them."""
        tables = {
            "share_links": share_tables(),
            "webhooks": webhook_tables(),
            "login_pages": page_tables(),
        }
        upgrade(api.container.database.engine, tables)
        root = api.person(admin=True, name=name("root"))
        owner, reader, member, other = (
            api.person(name=name(kind)) for kind in ("owner", "reader", "member", "other")
        )
        tenant = api.tenant(owner, name("tenant"))
        town = cls(api, name, root, owner, reader, member, other, tenant)
        for person in (town.reader, town.member):
            api.join(tenant, town.owner, person)
        town.parameters["tenant_id"] = tenant.rpartition("/")[2]
        api.tenant(town.other, name("other tenant"))
        town._settle_people()
        town._settle_files()
        town._settle_connections()
        return town

    def path(self, rule: str) -> str:
        """Return the path of a route with the ids of the town."""
        one_of_many = re.sub(r"<any\('?([\w-]+)[^>]*>", r"\1", rule)
        return CONSOLE + re.sub(r"<(?:\w+:)?(\w+)>", self._value, one_of_many)

    def _value(self, parameter: re.Match[str]) -> str:
        return self.parameters.get(parameter[1], UNKNOWN)

    def unknown_parameters(self) -> Iterator[str]:
        """Yield the parameters of routes for which there is no value."""
        for rule in routes(self.api):
            yield from (name for name in rule.arguments if name not in self.parameters)

    def _settle_people(self) -> None:
        groups = f"{self.tenant}/groups"
        group = self._post(groups, {"name": self.name("group")})["id"]
        _made(self.api.put(f"{groups}/{group}/members/{self.member.id}", by=self.owner))
        invited = {"email": "zqinvitedxj@example.com"}
        account = self._post(f"{self.tenant}/service-accounts", {"name": self.name("account")})["id"]
        key = {"name": self.name("key"), "scopes": ["files:read"]}
        self.parameters |= {
            "user_id": self.member.id,
            "session_id": self._session_of(self.member),
            # A user with a factor could not log in by the password alone.
            "factor_id": UNKNOWN,
            # The first of the choices is in the path.
            "kind": "",
            "import_id": self._import(),
            # A quarantine needs a scanner; test_quarantine.py has one.
            "scan_id": UNKNOWN,
            "group_id": group,
            "invitation_id": self._post(f"{self.tenant}/invitations", invited)["id"],
            "account_id": account,
            "key_id": self._post(f"{self.tenant}/service-accounts/{account}/access-keys", key)["id"],
        }

    def _session_of(self, person: Person) -> str:
        sessions = self.api.get(f"/users/{person.id}/authorizations", by=self.root)
        return str(sessions.json["data"][0]["id"])

    def _import(self) -> str:
        lines = {"Content-Type": "application/x-ndjson"}
        user = json.dumps({"name": self.name("import"), "email": self.name("address")})
        path = "/user-imports?dryRun=true"
        begun = self.api.request("POST", path, by=self.root, data=user.encode(), headers=lines)
        return str(_made(begun)["id"])

    def _settle_files(self) -> None:
        api, owner, tenant = self.api, self.owner, self.tenant
        folder = api.folder(tenant, owner, self.name("folder"))["id"]
        file = api.upload(tenant, owner, self.name("file"), b"words", folder)["id"]
        url = f"{tenant}/files/{file}"
        _made(api.request("PUT", f"{url}/content", by=owner, data=b"other words"))
        _made(api.patch(f"{url}/versions/1", {"label": self.name("label")}, by=owner))
        api.upload(tenant, owner, self.name("private"), b"private")
        trashed = api.upload(tenant, owner, self.name("trashed"), b"trashed")["id"]
        _made(api.delete(f"{tenant}/files/{trashed}", by=owner))
        grant = {"ownerId": self.reader.id, "permission": "read"}
        self._post(f"{tenant}/files/{folder}/owners", grant)
        self._post(f"{tenant}/files/{folder}/group-grants", self._group_grant())
        bundle = api.post(f"{tenant}/multi-files-download", {"fileIds": [file]}, by=owner)
        share = self._post(
            f"{tenant}/files/{folder}/shares", {"kind": "read", "label": self.name("share")}
        )
        self.parameters |= {
            "folder_id": folder,
            "node_id": file,
            # No scanner is enabled, and an import ends in the background.
            "scan_id": UNKNOWN,
            "import_id": UNKNOWN,
            "number": "1",
            "name": "main",
            "names": "x",
            "operation": "move",
            "page": "details",
            "bundle_id": bundle.headers["Content-Location"].rpartition("/")[2],
            "share_id": share["id"],
            "upload_id": self._upload(),
        }

    def _upload(self) -> str:
        headers = creation_headers(5, filename=self.name("upload"))
        begun = self.api.post(f"{self.tenant}/uploads", by=self.owner, headers=headers)
        return begun.headers["Location"].rpartition("/")[2]

    def _group_grant(self) -> Json:
        return {"groupId": self.parameters["group_id"], "permission": "read"}

    def _settle_connections(self) -> None:
        body = {
            "url": "https://127.0.0.1:9/hook",
            "eventTypes": ["file.*"],
            "tenantId": self.parameters["tenant_id"],
            "description": self.name("endpoint"),
        }
        endpoints = "/api/v1/webhook-endpoints"
        endpoint = self._post(endpoints, body)["id"]
        delivery = self._post(f"{endpoints}/{endpoint}/test")["id"]
        self.parameters |= {"endpoint_id": endpoint, "delivery_id": delivery}

    def _post(self, path: str, body: Json | None = None) -> Any:
        return _made(self.api.post(path, body, by=self.owner))


def _made(answer: Answer) -> Any:
    assert answer.status_code in (200, 201, 202), answer.text
    return answer.json
