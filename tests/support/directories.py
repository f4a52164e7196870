"""Tenants whose directory provisions users."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.provisioning import ProvisionedUserInfo, UserRecord
from tests.support.api import PASSWORD, Answer, Api, Json, Person

SCIM = "/scim/v2"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@dataclass
class Company:
    """A tenant with a directory, whose requests a plugin serves."""

    api: Api
    owner: Person
    path: str
    account: str
    key: str
    directory: str

    @property
    def tenant(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def host(self) -> HostAPI:
        return self.api.container.hosts.get("storage_local")

    @classmethod
    def made(cls, api: Api, owner: Person | None = None, **options: Any) -> "Company":
        owner = owner or api.person()
        return cls.of_tenant(api, owner, api.tenant(owner), **options)

    @classmethod
    def of_tenant(cls, api: Api, owner: Person, path: str, **options: Any) -> "Company":
        accounts = f"{path}/service-accounts"
        account = api.post(accounts, {"name": "Directory"}, by=owner).json["id"]
        body = {"name": "key", "scopes": ["users:write"], "currentPassword": PASSWORD}
        key = api.post(f"{accounts}/{account}/access-keys", body, by=owner)
        assert key.status_code == 201, key.text
        company = cls(api, owner, path, account, key.json["key"], "")
        with company.host.acting_as(owner.id):
            registered = company.host.provisioning.register_directory(
                company.tenant, "Acme", account, **options
            )
        company.directory = registered.id
        return company

    @contextmanager
    def acting(self, key: str | None = None) -> Iterator[HostAPI]:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        with self.api.app.test_request_context("/scim/v2/Users", headers=headers):
            self.host.authenticate(scope="users:read")
            yield self.host

    def provision(self, login: str = "ann@acme.example", **values: Any) -> ProvisionedUserInfo:
        record = UserRecord(login, values.pop("name", "Ann"), **{"email": login, **values})
        with self.acting() as host:
            return host.provisioning.provision_user(self.tenant, record)[0]

    def change(self, user: ProvisionedUserInfo, **values: Any) -> ProvisionedUserInfo:
        record = UserRecord(user.login_name, user.name, user.external_id, user.login_name)
        with self.acting() as host:
            changed = replace(record, **values)
            return host.provisioning.change_user(self.tenant, user.id, changed)

    def role(self, user: ProvisionedUserInfo) -> str | None:
        return self.host.tenants.find_roles(user.id, [self.tenant]).get(self.tenant)

    # SCIM.

    @property
    def robot(self) -> Person:
        """The service account, with its key."""
        return replace(self.owner, token=self.key)

    def scim(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        named = {"Content-Type": "application/scim+json", **headers}
        options = {} if body is None else {"data": json.dumps(body)}
        return self.api.request(method, f"{SCIM}{path}", by=self.robot, headers=named, **options)

    def patch(self, path: str, *operations: Json, **headers: str) -> Answer:
        body = {"schemas": [PATCH], "Operations": list(operations)}
        return self.scim("PATCH", path, body, **headers)

    def scim_user(self, login: str = "ann@acme.example", **members: Any) -> Json:
        body = {"schemas": [USER], "userName": login, "displayName": "Ann", **members}
        answer = self.scim("POST", "/Users", body)
        assert answer.status_code == 201, answer.text
        user: Json = answer.json
        return user

    def user(self, user_id: str) -> ProvisionedUserInfo:
        with self.acting() as host:
            return host.provisioning.user(self.tenant, user_id)

    @staticmethod
    def query(**members: str) -> str:
        return urlencode(members)

    @staticmethod
    def records(count: int) -> Iterator[UserRecord]:
        for number in range(count):
            login = f"user{number}@acme.example"
            yield UserRecord(login, f"User {number}", f"e{number}", login)
