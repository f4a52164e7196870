"""Implements ``host.grants``."""

from collections.abc import Sequence
from dataclasses import dataclass

from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.identity.grants.service import ClientGrantService
from strongroom.plugin_api.grants import (
    ClientGrant,
    Describe,
    GrantClient,
    GrantsAPI,
    GrantTerms,
    GrantTokens,
    TokenReport,
)


@dataclass(slots=True, eq=False, repr=False)
class HostGrants(GrantsAPI):
    """Implements ``host.grants``, for the clients of one plugin."""

    _plugin: str
    _user: ActingUser

    def begin(
        self,
        login_id: str,
        client: GrantClient,
        terms: GrantTerms,
        *,
        describe: Describe | None = None,
    ) -> GrantTokens:
        origin = self._user.signed_origin()
        return self._grants.begin(self._plugin, login_id, client, terms, origin, describe)

    def begin_as(self, user_id: str, client: GrantClient, terms: GrantTerms) -> GrantTokens:
        return self._grants.begin_as(self._plugin, user_id, client, terms, self._user.signed_origin())

    def refresh(
        self,
        token: str,
        client_id: str,
        *,
        scopes: Sequence[str] | None = None,
        describe: Describe | None = None,
    ) -> GrantTokens:
        origin = self._user.signed_origin()
        return self._grants.refresh(self._plugin, token, client_id, scopes, origin, describe)

    def inspect(self, token: str) -> TokenReport | None:
        return self._grants.inspect(self._plugin, token)

    def revoke(self, token: str, client_id: str) -> bool:
        return self._grants.revoke(self._plugin, token, client_id, self._user.signed_origin())

    def end(
        self,
        *,
        grant_id: str | None = None,
        user_id: str | None = None,
        client_id: str | None = None,
    ) -> int:
        return self._grants.end(
            self._plugin,
            self._user.signed_origin(),
            grant_id=grant_id,
            user_id=user_id,
            client_id=client_id,
            actor_id=self._user.id,
        )

    def find_last_use(self, client_id: str) -> int | None:
        return self._grants.find_last_use(self._plugin, client_id)

    def of_user(self, user_id: str) -> Sequence[ClientGrant]:
        return self._grants.of_user(self._plugin, user_id)

    @property
    def _grants(self) -> ClientGrantService:
        return self._user.services().get(ClientGrantService)
