"""Requests as Authlib reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import OAuth2Payload, OAuth2Request
from werkzeug.datastructures import MultiDict

from strongroom_oidc_provider.consents.folders import Folder

Parameters = MultiDict[str, str]


@dataclass(eq=False, repr=False)
class _Payload(OAuth2Payload):  # type: ignore[misc]
    _parameters: Parameters

    @property
    def data(self) -> Parameters:
        return self._parameters

    @property
    def datalist(self) -> dict[str, list[str]]:
        return {name: self._parameters.getlist(name) for name in self._parameters}


class ProviderRequest(OAuth2Request):  # type: ignore[misc]
    """A request to the provider.

    Args:
        parameters: the query of the authorization endpoint, or the form of another one.
    """

    def __init__(
        self, method: str, parameters: Parameters, headers: Mapping[str, str] | None = None
    ) -> None:
        # Authlib refuses unencrypted URLs; this server decides about them by its configuration.
        super().__init__(method, "https://provider.invalid/", headers=headers or {})
        self.payload: Any = _Payload(parameters)
        self.resource = ""
        """The URI of the service that the tokens are for; empty: the client itself."""
        self.folder: Folder | None = None
        """The folder that the client requests; ``None``: the user chooses."""
        self.chosen_folder: Folder | None = None
        """The only folder that the tokens open here; ``None``: all."""
        self.issued: Any = None
        """The new tokens of the grant."""

    @property
    def args(self) -> Parameters:
        return self.payload.data  # type: ignore[no-any-return]

    @property
    def form(self) -> Parameters:
        return self.payload.data  # type: ignore[no-any-return]
