"""What requests for an authorization must be like, beyond what Authlib checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from authlib.oauth2.rfc6749 import InvalidRequestError

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.consents.folders import Folder, has_files
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.oauth.errors import (
    InvalidDetails,
    InvalidTarget,
    RequestObjectRefused,
    RequestUriRefused,
)
from strongroom_oidc_provider.resources import find_resource
from strongroom_oidc_provider.scopes import API_SCOPES

MAX_NONCE: Final = 512
PROMPTS: Final = frozenset({"none", "login", "consent", "select_account"})


@dataclass(slots=True, eq=False, repr=False)
class RequestRules:
    """An extension of the grant of codes."""

    _host: HostAPI

    def __call__(self, grant: Any) -> None:
        grant.register_hook("after_validate_authorization_request_payload", self._check)

    def _check(self, grant: Any, redirect_uri: str) -> None:  # noqa: ARG002  as Authlib calls it
        request = grant.request
        parameters = request.payload.data
        if "request" in parameters:
            raise RequestObjectRefused
        if "request_uri" in parameters:
            raise RequestUriRefused
        _require_valid(parameters)
        request.resource = find_requested_resource(
            request, grant.client.client, request.scope.split(), self._host.public_url
        )
        request.folder = self._find_folder(request)

    def _find_folder(self, request: Any) -> Folder | None:
        """Return the folder that the client requests; ``None``: the user chooses."""
        details = request.payload.data.get("authorization_details")
        if details is None:
            return None
        try:
            folder = Folder.parse(details)
        except (ValueError, RecursionError) as error:
            raise InvalidDetails("authorization_details must be a list with one folder.") from error
        if folder and not has_files(request.scope.split(), request.resource, self._host.public_url):
            raise InvalidDetails("A folder needs a scope of files and a resource of this server.")
        return folder


def find_requested_resource(request: Any, client: Client, scopes: Sequence[str], public_url: str) -> str:
    """Return the service that the tokens of a request are for; empty: the client itself.

    Raises:
        InvalidTarget: the client may not request tokens for it.
    """
    uris = request.payload.datalist.get("resource", [])
    if not uris:
        # Scopes of the REST API are useless for another audience.
        return public_url if any(scope in API_SCOPES for scope in scopes) else ""
    resources = {find_resource(uri, client, public_url) for uri in uris}
    if len(resources) > 1 or None in resources:
        raise InvalidTarget("The client may not request tokens for this resource.")
    return str(resources.pop())


def _require_valid(parameters: Any) -> None:
    prompts = parameters.get("prompt", "").split()
    if not PROMPTS.issuperset(prompts) or ("none" in prompts and len(prompts) > 1):
        raise InvalidRequestError("prompt is invalid.")
    max_age = parameters.get("max_age", "0")
    if not (max_age.isascii() and max_age.isdigit() and len(max_age) <= 10):  # noqa: PLR2004
        raise InvalidRequestError("max_age must be a number of seconds.")
    if len(parameters.get("nonce", "")) > MAX_NONCE:
        raise InvalidRequestError("nonce is too long.")
    if parameters.get("response_mode", "query") != "query":
        raise InvalidRequestError("response_mode must be query.")
