"""The client of our own command, which no administrator has to register."""

from typing import Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.scopes import API_SCOPES, OFFLINE_ACCESS

NAME: Final = "strongroom-client (command line)"
"""On the page of the device."""

# A command that logs in by a code can be a stranger's, who has sent the user the code.
_SCOPES: Final = (*(scope for scope in API_SCOPES if scope != Scope.USERS_IMPERSONATE), OFFLINE_ACCESS)


def find_device_client(host: HostAPI, client_id: str) -> Client | None:
    """Return the client of our own command, if an id is its; it can only log devices in."""
    if not client_id or client_id != host.options.device_client:
        return None
    return Client(
        id=client_id,
        name=NAME,
        is_public=True,
        is_trusted=False,
        redirect_uris=(),
        scopes=_SCOPES,
        has_device_login=True,
    )
