"""The protocol, as the library speaks it, with the dialects of clients."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from scim2_models import (
    Context,
    InvalidFilterException,
    InvalidSyntaxException,
    InvalidValueException,
    PatchOp,
    Resource,
    ResourceType,
    ResponseParameters,
)
from scim2_server.responses import ScimResponse
from scim2_server.service import ScimService

from strongroom_scim.dialects import read_body, read_filter
from strongroom_scim.provider import MAX_OPERATIONS

MAX_FILTER = 4096
"""Characters of a filter."""


class DirectoryService(ScimService):
    """Reads the requests of directories."""

    def read_body(self, model: Any, body: bytes, content_type: str | None, scim_ctx: Context) -> Any:
        self.ensure_json(content_type)
        payload = read_body(self.decode_body(body, content_type))
        try:
            text = json.dumps(payload).encode()
        except (ValueError, RecursionError) as error:
            raise InvalidSyntaxException(detail="The body is nested too deeply.") from error
        return super().read_body(model, text, content_type, scim_ctx)

    def read_patch(
        self, resource_type: ResourceType, body: bytes, content_type: str | None
    ) -> "PatchOp[Any]":
        patch = super().read_patch(resource_type, body, content_type)
        if len(patch.operations or ()) > MAX_OPERATIONS:
            raise InvalidValueException(detail=f"A PATCH has at most {MAX_OPERATIONS} operations.")
        return patch

    def read_search(self, resource_types: list[ResourceType], payload: Any) -> Any:
        if isinstance(payload, Mapping) and isinstance(payload.get("filter"), str):
            if len(payload["filter"]) > MAX_FILTER:
                raise InvalidFilterException(detail=f"A filter has at most {MAX_FILTER} characters.")
            payload = {**payload, "filter": read_filter(payload["filter"])}
        return super().read_search(resource_types, payload)

    def patch_response(
        self,
        base_url: str,
        resource: Resource[Any],
        response_parameters: ResponseParameters[Any],
    ) -> ScimResponse:
        # Entra and Okta expect the user after a change. A group is long, and none of them reads it.
        if resource.meta is not None and resource.meta.resource_type == "User":
            return self.resource_response(
                self.publish(base_url, resource),
                Context.RESOURCE_PATCH_RESPONSE,
                response_parameters,
                HTTPStatus.OK,
            )
        return super().patch_response(base_url, resource, response_parameters)
