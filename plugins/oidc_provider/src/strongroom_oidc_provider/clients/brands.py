"""The brands of clients, which the pages of their users show."""

from base64 import b64decode, b64encode
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import delete, insert, select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.pages import PageBrand
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_oidc_provider.clients.clients import Clients, require_current, write_change
from strongroom_oidc_provider.clients.pictures import find_suffix
from strongroom_oidc_provider.errors import LOGO_REFUSED
from strongroom_oidc_provider.logins.browser_requests import get_base_path
from strongroom_oidc_provider.logins.parked import CLIENT, ROOT
from strongroom_oidc_provider.models import Client, logos

LOGOS: Final = "/oauth2/logos"
"""The path of the pictures."""

_DIGITS: Final = 16


@dataclass(slots=True, eq=False, repr=False)
class Brands:
    """Stores the logos of clients, and finds the brand of a page."""

    _host: HostAPI

    def set_logo(self, client_id: str, content: bytes, revision: int | None = None) -> Client:
        """Store the picture of a client in place of the former one."""
        try:
            suffix = find_suffix(content)
        except ValueError as error:
            fault = FieldError("picture", "invalid", str(error))
            raise ApiError(LOGO_REFUSED, details=[fault]) from error
        name = f"{sha256(content).hexdigest()[:_DIGITS]}{suffix}"
        return self._replace(client_id, name, content, revision)

    def remove_logo(self, client_id: str, revision: int | None = None) -> Client:
        """Remove the picture of a client, if it has one."""
        return self._replace(client_id, None, b"", revision)

    def find_logo(self, client_id: str, name: str) -> bytes | None:
        """Return the content of a picture; ``None`` if it is not the client's."""
        ours = (logos.c.client_id == client_id) & (logos.c.name == name)
        with self._host.database.read() as tx:
            content = tx.scalar(select(logos.c.content).where(ours))
        return None if content is None else b64decode(content)

    def find_brand(self, path: str) -> PageBrand | None:
        """Return the brand of the client whose request a login leads to; ``None`` without one."""
        parts = urlsplit(path)
        ids = parse_qs(parts.query).get(CLIENT, [])
        if not parts.path.startswith(f"{get_base_path(self._host)}{ROOT}/") or len(ids) != 1:
            return None
        client = self._host.get_service(Clients).find(ids[0])
        return None if client is None else self.get_brand(client)

    def get_brand(self, client: Client) -> PageBrand:
        """Return the brand of a client."""
        logo = None if client.logo is None else get_base_path(self._host) + client.logo
        return PageBrand(client.name, logo, client.accent, client.terms_url, client.privacy_url)

    def _replace(self, client_id: str, name: str | None, content: bytes, revision: int | None) -> Client:
        now = self._host.clock.now()
        logo = None if name is None else f"{LOGOS}/{client_id}/{name}"
        with self._host.database.write() as tx:
            require_current(tx, client_id, revision)
            tx.execute(delete(logos).where(logos.c.client_id == client_id))
            if name is not None:
                tx.execute(
                    insert(logos),
                    [{"client_id": client_id, "name": name, "content": b64encode(content).decode()}],
                )
            client = write_change(tx, client_id, {"logo": logo}, now)
            about = {"name": client.name, "changed": "logo"}
            self._host.audit("client-update", "client", client_id, about, transaction=tx)
        return client
