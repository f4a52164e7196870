"""Lets a command send requests to the application in its process, as an administrator."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import urlencode, urlsplit

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.login import Client
from strongroom.plugin_api.schemas import MAX_PAGE_SIZE

USER_AGENT: Final = "strongroom apply"

ORIGIN: Final = Origin(user_agent=USER_AGENT)
"""The origin of audit records of the command itself; its requests have the same user agent."""

_CLIENT: Final = Client("", USER_AGENT)

Json = dict[str, Any]


class RequestRefused(Exception):
    """The server has refused a request; the text has the code, the message and the faults."""


@dataclass(slots=True, eq=False, repr=False)
class Administrators:
    """Finds administrators, and begins the logins by which commands act as them."""

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _authorizations: AuthorizationService
    _audit: AuditService

    def find_user(self, name: str) -> str | None:
        """Return the id of the user with an id or a name for logins; ``None``: there is none."""
        with self._database.read() as connection:
            credential = self._credentials.identify(name)
            if credential is not None:
                holders = self._credentials.find_users(connection, [credential])
                if holders:
                    return next(iter(holders.values()))
            users = self._users.find(connection, [name])
        return users[0].id if users else None

    @contextmanager
    def logged_in(self, user_id: str, set_name: str) -> Iterator[str]:
        """Yield the access token of a login of an administrator, which ends with the block.

        Raises:
            NotFound: there is no such user.
            Forbidden: the user is no administrator of the server.
            UserSuspended: the user is suspended.
        """
        with self._database.write() as connection:
            lock_logins(connection, user_id, shared=True)
            user = self._require_administrator(self._users.get(connection, user_id))
            login, token = self._authorizations.begin_for_command(connection, user, _CLIENT)
            event = AuditEvent(
                "declaration.apply",
                actor_id=user_id,
                target_type="user",
                target_id=user_id,
                origin=ORIGIN,
                details={"authorization": login.id, "set": set_name},
            )
            self._audit.record(connection, event)
        try:
            yield token.access_token
        finally:
            self._authorizations.log_out(login.id, ORIGIN)

    def _require_administrator(self, user: User) -> User:
        if user.type != UserType.ADMIN:
            raise Forbidden
        user.require_active()
        return user


class HttpClient(Protocol):
    """Sends requests to the application of this process; a client of Flask is one."""

    def open(
        self, path: str, *, method: str, base_url: str, json: Any, headers: Mapping[str, str]
    ) -> Any:
        """Return the response."""


@dataclass(slots=True, eq=False, repr=False)
class AdministratorApi:
    """The REST API of the application in this process, as an administrator uses it."""

    _client: HttpClient
    _root: str
    _base_path: str
    _token: str

    def send(self, method: str, path: str, body: Json | None = None) -> Json:
        """Send a request, and return the JSON of the answer.

        Args:
            path: below the base path.

        Raises:
            RequestRefused: the answer is an error.
        """
        return self._open(method, self._base_path + path, body)

    def read_all(self, path: str, query: Mapping[str, str]) -> Iterator[Json]:
        """Iterate over all records of a list; raises as :meth:`send`."""
        parameters = {**query, "pageSize": str(MAX_PAGE_SIZE), "cursor": ""}
        following: str | None = f"{self._base_path}{path}?{urlencode(parameters)}"
        while following is not None:
            page = self._open("GET", following)
            yield from page["data"]
            following = _get_path(page["meta"]["nextPageLink"])

    def _open(self, method: str, path: str, body: Json | None = None) -> Json:
        headers = {"Authorization": f"Bearer {self._token}", "User-Agent": USER_AGENT}
        answer = self._client.open(path, method=method, base_url=self._root, json=body, headers=headers)
        content: Json = json.loads(answer.data)
        if answer.status_code >= HTTPStatus.BAD_REQUEST:
            raise RequestRefused(_text(content["error"]))
        return content


def _get_path(url: str | None) -> str | None:
    if url is None:
        return None
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def _text(error: Json) -> str:
    details = [f"{item['field']}: {item['message']}" for item in error.get("details", ())]
    return " ".join([f"{error['message']} ({error['code']})", *details])
