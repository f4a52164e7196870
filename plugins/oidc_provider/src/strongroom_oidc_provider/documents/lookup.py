"""Clients by their ids: of registrations, and of documents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.documents.client import DocumentClient, read_client, require_id
from strongroom_oidc_provider.documents.errors import DocumentRefused
from strongroom_oidc_provider.documents.fetching import DocumentFetcher
from strongroom_oidc_provider.models import Client, is_document_id
from strongroom_oidc_provider.options import HOSTS, OFF


@dataclass(slots=True, eq=False, repr=False)
class ClientLookup:
    """Finds clients."""

    _host: HostAPI

    def find(self, client_id: str) -> Client | None:
        """Return a client; ``None`` if there is none.

        Raises:
            DocumentRefused: its document is not acceptable.
            DocumentUnavailable: its document cannot be fetched at the moment.
        """
        if not is_document_id(client_id):
            return self._host.get_service(Clients).find(client_id)
        options = self._host.options
        if options.client_documents == OFF:
            return None
        domain = require_id(client_id, self._host.public_url)
        if options.client_documents == HOSTS and domain not in options.client_document_hosts:
            raise DocumentRefused("This server accepts no clients of the host.")
        return read_client(self._host, client_id, self._fetcher.get(client_id))

    def get_keys(self, client: DocumentClient) -> Mapping[str, Any]:
        """Return the JSON Web Key Set of a client that authenticates.

        Raises:
            DocumentRefused: there is no acceptable one.
            DocumentUnavailable: it cannot be fetched at the moment.
        """
        return self._fetcher.get(client.keys) if isinstance(client.keys, str) else client.keys or {}

    @property
    def _fetcher(self) -> DocumentFetcher:
        return self._host.get_service(DocumentFetcher)
