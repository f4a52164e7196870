"""Makes the changes of a plan."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from strongroom.extensions.desired_state.administrator import (
    AdministratorApi,
    Administrators,
    HttpClient,
    RequestRefused,
)
from strongroom.extensions.desired_state.comparison import digest
from strongroom.extensions.desired_state.document import Document
from strongroom.extensions.desired_state.models import DeclaredRow
from strongroom.extensions.desired_state.plan import (
    Action,
    Server,
    StatePlan,
    StatePlanner,
    Step,
    Undeclared,
)
from strongroom.extensions.desired_state.references import with_ids
from strongroom.extensions.desired_state.routes_of_kinds import KindRoutes, ServerResource, make_routes
from strongroom.extensions.desired_state.store import DeclaredResources
from strongroom.plugin_api.resources import Collection, ResourceKind

KeepSecrets = Callable[[Step, Mapping[str, str]], None]
"""Receives the secrets of a resource that was created, which no later answer has."""


class ApplyFailed(Exception):
    """A request of a plan was refused; those before it are done."""


@dataclass(slots=True, eq=False, repr=False)
class DesiredState:
    """Plans and makes the changes of a document, as an administrator of the server."""

    _administrators: Administrators
    _declared: DeclaredResources

    @contextmanager
    def open(
        self,
        client: HttpClient,
        root: str,
        base_path: str,
        kinds: Sequence[ResourceKind],
        document: Document,
        administrator_id: str,
    ) -> Iterator["OpenDocument"]:
        """Open a document to be planned and applied; the administrator's login ends with the block."""
        with self._administrators.logged_in(administrator_id, document.set_name) as token:
            server = Server(
                AdministratorApi(client, root, base_path, token), {kind.place: kind for kind in kinds}
            )
            rows = self._declared.of_set(document.set_name)
            planner = StatePlanner(server, rows, self._administrators.find_user)
            yield OpenDocument(document, server, planner, self._declared)


@dataclass(slots=True, eq=False, repr=False)
class OpenDocument:
    """A document, and the server that it is applied to."""

    _document: Document
    _server: Server
    _planner: StatePlanner
    _declared: DeclaredResources

    def plan(self) -> StatePlan:
        """Return what is missing.

        Raises:
            DocumentError: something that is declared cannot be applied to this server.
        """
        return self._planner.plan(self._document)

    def apply(self, step: Step, keep_secrets: KeepSecrets) -> None:
        """Make the change of a step, whose parent is made.

        Raises:
            ApplyFailed: the server has refused it.
        """
        body = with_ids(step.declared.kind, step.declared.body, self._planner.resolve)
        try:
            if step.action is Action.CREATE:
                self._create(step, body, keep_secrets)
            elif step.action is Action.CHANGE:
                self._change(step, body)
        except RequestRefused as error:
            raise ApplyFailed(f"{step.declared.title}: {error}") from error
        self._note(step, body)

    def delete(self, undeclared: Undeclared) -> None:
        """Delete a resource that is declared no longer; one that is gone already is forgotten.

        Raises:
            ApplyFailed: the server has refused it.
        """
        row = undeclared.row
        try:
            if self._exists(undeclared):
                routes = make_routes(undeclared.kind, self._server.api, undeclared.ids, row.parent_id)
                routes.delete(row.resource_id)
        except RequestRefused as error:
            raise ApplyFailed(f"{undeclared.title}: {error}") from error
        self._declared.remove(row)

    def _exists(self, undeclared: Undeclared) -> bool:
        row = undeclared.row
        try:
            present = self._server.find_all(undeclared.kind, undeclared.ids, row.parent_id)
        except RequestRefused:
            # What it was below is gone.
            return False
        return any(resource.id == row.resource_id for resource in present)

    def _routes(self, step: Step) -> KindRoutes[Any]:
        return make_routes(step.declared.kind, self._server.api, step.ids, step.parent_id or "")

    def _create(self, step: Step, body: dict[str, Any], keep_secrets: KeepSecrets) -> None:
        kind = step.declared.kind
        created = self._routes(step).create(step.user_id, body)
        step.resource = ServerResource(created["id"], step.declared.key, created)
        names = kind.secrets if isinstance(kind, Collection) else ()
        if secrets := {name: created[name] for name in names if created.get(name)}:
            keep_secrets(step, secrets)

    def _change(self, step: Step, body: dict[str, Any]) -> None:
        assert step.resource is not None  # noqa: S101  otherwise the step creates it
        answer = self._routes(step).change(step.resource, body, step.changed)
        step.resource = step.resource._replace(current={**step.resource.current, **answer})

    def _note(self, step: Step, body: Mapping[str, Any]) -> None:
        declared, resource = step.declared, step.resource
        assert resource is not None  # noqa: S101  it exists by now
        row = DeclaredRow(
            self._document.set_name,
            declared.kind.place,
            step.parent_id or "",
            resource.id,
            declared.key,
            digest(body),
            digest({name: resource.current.get(name) for name in body}),
        )
        if step.row is not None and not step.is_of_row:
            self._declared.remove(step.row)
        if row != step.row:
            self._declared.put(row)
