"""A server with all plugins and a resource of every kind: for tests of all operations at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final

from strongroom.clock import DAY, iso_format
from strongroom.content.nodes.events import DownloadRecorder
from strongroom.foundation.database.upgrade import upgrade
from strongroom_login_pages.plugin import register_tables as page_tables
from strongroom_login_sso.plugin import register_tables as sso_tables
from strongroom_share_links.plugin import register_tables as share_tables
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator
from strongroom_webhooks.plugin import register_tables as webhook_tables
from tests.support import passkeys
from tests.support.api import Answer, Api, Json, Person, creation_headers
from tests.support.config import Table, lifted, merged
from tests.support.shares import PNG
from tests.support.wechat import APPS, app_options

PLUGINS: Final = (
    "storage_local",
    "login_sms",
    "login_wechat",
    "login_wecom",
    "login_sso",
    "login_passkey",
    "login_pages",
    "factor_totp",
    "share_links",
    "webhooks",
    "scim",
)
"""The plugins that have routes, with a storage."""

_APPS: Final[Table] = {name: app_options(app, "https://files.example.com") for name, app in APPS.items()}
# Its routes are those of all logins by strongroom-login-oauth, and need no other server to be described.
_WECOM_APP: Final[Table] = {"corpid": "ww00000000000000a1", "agentid": 1000002, "secret": "a-secret"}
ALL_PLUGINS: Final = merged(
    lifted(),
    {
        "plugins": {
            "enabled": [*PLUGINS],
            "share_links": {"kinds": ["read", "preview", "drop", "write"]},
            # No test sends a request to a server that is not its own.
            "webhooks": {"allow_hosts": ["127.0.0.1:9"]},
            "login_sso": {
                "nameservers": ["127.0.0.1:9"],
                "dns_timeout": 0.1,
                "allow_hosts": ["127.0.0.1:9"],
                "providers_per_tenant": 1000,
                "domains_per_tenant": 1000,
            },
        },
        "login": {
            "methods": ["password", "sms", "wechat", "wecom", "sso"],
            "wechat": {"apps": _APPS},
            "wecom": {"apps": {"main": _WECOM_APP}},
        },
        "limits": {"login_failures_before_captcha": 1000},
    },
)
"""Every plugin with routes is enabled, and no limit is reached."""

SHARE_ROOT: Final = "/api/v1/shares"


@dataclass
class Town:
    """The resources.

    Args:
        api: the server.
        root: an administrator of the server, and of the tenant.
        member: a member of the tenant, with a passkey.
        parameters: the path parameters that name a resource of each kind.
    """

    api: Api
    root: Person
    member: Person
    tenant: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def built(cls, api: Api) -> "Town":
        """Create all resources."""
        tables = {
            "share_links": share_tables(),
            "webhooks": webhook_tables(),
            "login_pages": page_tables(),
            "login_sso": sso_tables(),
        }
        upgrade(api.container.database.engine, tables)
        root = api.person(admin=True)
        town = cls(api, root, api.person(), api.tenant(root))
        api.join(town.tenant, root, town.member)
        town._settle_people()
        town._settle_files()
        town._settle_shares()
        town._settle_webhooks()
        town._settle_companies()
        return town

    def path(self, template: str, changes: Mapping[str, Any] | None = None) -> str:
        """Return a path of the OpenAPI document with its parameters filled in."""
        return template.format(**{**self.parameters, **(changes or {})})

    def _made(self, answer: Answer) -> Json:
        assert answer.status_code in (200, 201, 202), answer.text
        made: Json = answer.json
        return made

    def _post(self, path: str, body: Json | None = None, by: Person | None = None) -> Json:
        return self._made(self.api.post(path, body, by=by or self.root))

    def _settle_people(self) -> None:
        api, root, member = self.api, self.root, self.member
        group = self._post(f"{self.tenant}/groups", {"name": "group"})
        self._made(api.put(f"{self.tenant}/groups/{group['id']}/members/{member.id}", by=root))
        invitation = self._post(f"{self.tenant}/invitations", {"email": "new@example.com"})
        elsewhere = api.tenant(member, "Elsewhere")
        received = self._post(f"{elsewhere}/invitations", {"email": root.email}, by=member)
        account = self._post(f"{self.tenant}/service-accounts", {"name": "account"})
        self._post("/api/v1/service-accounts", {"name": "directory"})
        keys = f"{self.tenant}/service-accounts/{account['id']}/access-keys"
        scopes = {"name": "backup", "scopes": ["files:read"]}
        account_key = self._post(keys, scopes)
        key = self._post("/users/me/access-keys", scopes)
        passkeys.enrol(api, member, SoftwareAuthenticator(passkeys.ORIGIN))
        factors = self._made(api.get("/users/me/passkeys", by=member))["data"]
        self.parameters |= {
            "tenantId": self.tenant.rpartition("/")[2],
            "userId": root.id,
            "ownerId": member.id,
            "groupId": group["id"],
            "invitationId": invitation["id"],
            "receivedId": received["id"],
            "accountId": account["id"],
            "keyId": key["id"],
            "accountKeyId": account_key["id"],
            "passkeyId": factors[0]["id"],
            "factorId": factors[0]["id"],
            "accessToken": "current",
            "credential": root.email,
        }

    def _settle_files(self) -> None:
        api, root, tenant = self.api, self.root, self.tenant
        folder = api.folder(tenant, root, "folder")
        node = api.upload(tenant, root, "note.txt", b"words", folder["id"])
        inner = api.folder(tenant, root, "inner", folder["id"])
        api.upload(tenant, root, "dot.png", PNG, inner["id"])
        url = f"{tenant}/files/{node['id']}"
        self._post(f"{url}/owners", {"ownerId": self.member.id, "permission": "read"})
        group = {"groupId": self.parameters["groupId"], "permission": "read"}
        self._post(f"{url}/group-grants", group)
        form = {"file": (BytesIO(b"other words"), "note.txt")}
        self._made(api.request("PUT", f"{url}/content", by=root, data=form))
        kept = api.upload(tenant, root, "kept.txt", b"kept")
        keeper = api.person()
        api.join(tenant, root, keeper, "records")
        self._made(api.put(f"{tenant}/files/{kept['id']}/hold", {"reason": "case 7"}, by=keeper))
        trashed = api.upload(tenant, root, "trashed.txt", b"trashed")
        self._made(api.delete(f"{tenant}/files/{trashed['id']}", by=root))
        upload = api.post(f"{tenant}/uploads", by=root, headers=creation_headers(5, filename="t.txt"))
        picture = {"file": (BytesIO(b"words"), "note.txt")}
        business_file = self._made(api.post("/api/v1/files", data=picture, by=root))
        bundle = api.post(f"{tenant}/multi-files-download", {"fileIds": [node["id"]]}, by=root)
        api.container.get(DownloadRecorder).close()
        self.parameters |= {
            "fileId": node["id"],
            "parentId": folder["id"],
            "innerId": inner["id"],
            "trashedId": trashed["id"],
            "number": 1,
            "uploadId": upload.headers["Location"].rpartition("/")[2],
            "fileName": business_file["fileName"],
            "bundleId": bundle.headers["Content-Location"].rpartition("/")[2],
        }

    def _settle_shares(self) -> None:
        url = f"{self.tenant}/files/{self.parameters['parentId']}/shares"
        api = self.api
        share = self._post(url, {"kind": "write", "expiresAt": iso_format(api.clock.now() + DAY)})
        named = {"kind": "read", "audience": {"userIds": [self.member.id]}}
        secret = share["url"].rpartition("/")[2]
        self._post(url, named)
        self._made(api.get(f"{SHARE_ROOT}/{secret}"))
        self.parameters |= {"shareId": share["id"], "secret": secret}

    def _settle_webhooks(self) -> None:
        body = {
            "url": "https://127.0.0.1:9/hook",
            "eventTypes": ["file.*"],
            "tenantId": self.parameters["tenantId"],
        }
        endpoint = self._post("/api/v1/webhook-endpoints", body)
        delivery = self._post(f"/api/v1/webhook-endpoints/{endpoint['id']}/test")
        self.parameters |= {"endpointId": endpoint["id"], "deliveryId": delivery["id"]}

    def _settle_companies(self) -> None:
        """Connect directories and a provider, as companies do."""
        account = self._post(f"{self.tenant}/service-accounts", {"name": "directory"})
        of_server = self._post("/api/v1/service-accounts", {"name": "directory of the server"})
        body = {"name": "directory", "accountId": account["id"]}
        directory = self._post(f"{self.tenant}/directories", body)
        of_all = self._post("/api/v1/directories", {**body, "accountId": of_server["id"]})
        domain = self._post(f"{self.tenant}/domains", {"domain": "acme.example"})
        client = {"clientId": "files", "clientSecret": "a-secret"}
        issuer = {"label": "Acme", "issuer": "https://127.0.0.1:9"}
        provider = self._post(f"{self.tenant}/identity-providers", {**issuer, **client})
        self.parameters |= {
            "directoryId": directory["id"],
            "serverDirectoryId": of_all["id"],
            "domainId": domain["id"],
            "providerId": provider["id"],
        }
