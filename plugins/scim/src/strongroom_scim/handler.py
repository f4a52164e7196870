"""Serves the operations of the library, and reports which users and groups were refused."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final, Literal

from scim2_models import BulkOperation, PatchOp, Resource, ResourceType, SCIMException
from scim2_server.bulk import BulkPlan, BulkStep
from scim2_server.conditions import Conditions
from scim2_server.handler import ScimHandler
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse
from scim2_server.routing import match

from strongroom.plugin_api.provisioning import RefusedRequest
from strongroom_scim.member_changes import read_member_changes
from strongroom_scim.service import DirectoryService
from strongroom_scim.storage import DirectoryStorage

_NAMES: Final = {"user": "username", "group": "displayname"}
_KINDS: Final[dict[str, Literal["user", "group"]]] = {"Users": "user", "Groups": "group"}
_CHANGES: Final = frozenset({"create", "replace", "patch", "delete"})

_OF_THE_DIRECTORY: Final = frozenset(
    {
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.TOO_MANY_REQUESTS,
    }
)
"""Errors that are not about a user or a group."""

_PASSWORD: Final = "password"  # noqa: S105  the name of an attribute


class ReportingHandler(ScimHandler):
    """Reports to the server which requests about a user or group were refused, and which succeeded."""

    storage: DirectoryStorage

    def __init__(self, service: DirectoryService, storage: DirectoryStorage) -> None:
        super().__init__(service, storage)
        self._returns_resource = False

    def handle(self, request: ScimRequest) -> ScimResponse:
        try:
            response = super().handle(request)
        except SCIMException as error:
            self._report(request.method, request.path, _read(request.body), error)
            raise
        if request.method != "GET":
            self._report(request.method, request.path, response.body, None)
        return response

    def patch(self, request: ScimRequest) -> ScimResponse:
        names = {name.lower() for name in request.query}
        self._returns_resource = not names.isdisjoint({"attributes", "excludedattributes"})
        return super().patch(request)

    def patch_resource(
        self,
        resource_type: ResourceType,
        resource_id: str,
        patch_op: "PatchOp[Any]",
        conditions: Conditions,
    ) -> Resource[Any]:
        """Apply a PATCH; a change of members only is made without the other members."""
        if resource_type.name == "Group" and conditions == Conditions() and not self._returns_resource:
            changes = read_member_changes(patch_op)
            if changes is not None:
                return self.storage.change_members(resource_id, changes)
        return super().patch_resource(resource_type, resource_id, patch_op, conditions)

    def run_bulk_step(
        self, request: ScimRequest, plan: BulkPlan, step: BulkStep
    ) -> tuple[dict[str, Any], Resource[Any] | None]:
        operation = plan.operation(step)
        result, resource = super().run_bulk_step(request, plan, step)
        if operation.method is not None and operation.path is not None:
            error = result.get("response")
            data = _dump(operation) if error is None else _read_data(request.body, step.index)
            self._report(operation.method.value, operation.path, data, error)
        return result, resource

    def _report(self, method: str, path: str, payload: Any, error: Any) -> None:
        try:
            target = match(method, path)
        except SCIMException:
            return
        kind = _KINDS.get(str(target.endpoint))
        if kind is None or target.operation.value not in _CHANGES:
            return
        refused = None if error is None else _refused(error, payload)
        if refused is not None and (
            refused.status not in range(400, 500) or refused.status in _OF_THE_DIRECTORY
        ):
            return
        self.storage.report(kind, refused, _find_name(kind, payload), target.resource_id)


def _refused(error: Any, payload: Any) -> RefusedRequest:
    """Return why a request was refused, without the password that it may contain."""
    error = error.to_error() if isinstance(error, SCIMException) else error
    message = str(error.detail or "")
    if any(_contains(message, secret) for secret in _find_passwords(payload)):
        message = "The password is invalid."
    return RefusedRequest(int(error.status or 0), error.scim_type or None, message)


def _contains(message: str, secret: Any) -> bool:
    """Return whether a message may contain a password; of a value that is no text, it may."""
    return not isinstance(secret, str) or (secret != "" and secret in message)


def _find_passwords(payload: Any) -> Iterator[Any]:
    """Yield the passwords of a body, also in the operations of a PATCH."""
    rest = [payload]
    while rest:
        value = rest.pop()
        if isinstance(value, list):
            rest += value
        elif isinstance(value, dict):
            rest += value.values()
            if str(_get(value, "path")).lower() == _PASSWORD:
                yield _get(value, "value")
            if (password := _get(value, _PASSWORD)) is not None:
                yield password


def _find_name(kind: str, payload: Any) -> str | None:
    name = _get(payload, _NAMES[kind])
    return name if isinstance(name, str) and name else None


def _get(payload: Any, name: str) -> Any:
    if not isinstance(payload, dict):
        return None
    return next((value for key, value in payload.items() if str(key).lower() == name), None)


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _read_data(body: bytes, index: int) -> Any:
    """Return the data of an operation of a bulk request, as it was sent."""
    operations = _get(_read(body), "operations")
    is_there = isinstance(operations, list) and index < len(operations)
    return _get(operations[index], "data") if is_there else None


def _dump(operation: BulkOperation[Resource[Any]]) -> Any:
    data = operation.data
    return data.model_dump(mode="json") if isinstance(data, Resource) else None
