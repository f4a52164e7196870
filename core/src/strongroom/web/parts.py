"""The protocol of what a server consists of: features of the core, their services, and plugins."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.erasers import RemovedFiles, TenantEraser
from strongroom.plugin_api.events import EventSink
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from strongroom.foundation.plugins.plugin import Plugin
    from strongroom.plugin_api.deactivation import Deactivation
    from strongroom.web.core_events import CoreEvent

UserEnding = Callable[["Connection", "Deactivation"], None]
"""Ends what a user can do by a part, in the transaction of the change that ends it."""

FindOwner = Callable[["Connection", str], str | None]
"""Returns the tenant that an e-mail address belongs to, or ``None``."""

LoginCheck = Callable[[Any], None]
"""Accepts a login, given its ``LoginTransaction`` of :mod:`strongroom.identity.sessions`, or raises."""

FileErasure = Callable[["Connection", RemovedFiles], None]
"""Removes a part's rows about files, in the transaction that removes the files."""


class Part:
    """A feature of the core or a plugin: what it adds to a server. Each hook returns nothing by default.

    A feature is two parts: what it declares without services, and its services. A plugin is adapted to
    one part. What ends with a user, a tenant or a file is called in the reverse order of the parts.
    """

    plugin: "Plugin | None" = None
    """The plugin; ``None`` for the core."""

    @property
    def prefix(self) -> str:
        """What the names of its jobs, prune steps and metrics begin with: empty for the core."""
        return self.plugin.name if self.plugin else ""

    def register_blueprints(self) -> Iterable[Any]:
        """Return its routes."""
        return ()

    def register_event_types(self) -> Iterable["CoreEvent"]:
        """Return the types of its events, with the audit records that they are made from."""
        return ()

    def register_event_sinks(self) -> Iterable[EventSink]:
        """Return what receives events after their commit."""
        return ()

    def register_jobs(self) -> Iterable[Job]:
        """Return its recurring jobs."""
        return ()

    def register_prune_steps(self) -> Iterable[PruneStep]:
        """Return what removes its expired rows."""
        return ()

    def register_tenant_erasers(self) -> Iterable[TenantEraser]:
        """Return what removes its data of a deleted tenant, in its own transactions."""
        return ()

    def register_file_erasers(self) -> Iterable[FileErasure]:
        """Return what removes its rows about files that are removed."""
        return ()

    def register_deactivations(self) -> Iterable[UserEnding]:
        """Return what ends its secrets of a user who can no longer act.

        If the user was deleted, it also removes the data about the user.
        """
        return ()

    def register_login_conditions(self) -> Iterable[LoginCheck]:
        """Return what may refuse logins whose proof is right, in their transactions."""
        return ()

    def register_address_owners(self) -> Iterable[FindOwner]:
        """Return what knows the tenants to which e-mail addresses belong."""
        return ()

    def register_user_exports(self) -> Iterable[UserExport]:
        """Return the files with its data about a user, in the archive that users can have of theirs."""
        return ()

    def register_audit_sentences(self) -> Iterable[AuditSentence]:
        """Return what people read about its audit records; the console knows the records of the core."""
        return ()

    def register_resource_kinds(self) -> Iterable[ResourceKind]:
        """Return the kinds of resources that a file may declare, each after its parent."""
        return ()

    def register_metrics(self) -> Iterable[Metric]:
        """Return its metrics. The core has its own in ``extensions/observability/metrics.py``."""
        return ()

    def start(self) -> None:
        """Start its threads, in serving processes only."""

    def stop(self) -> None:
        """Stop what :meth:`start` has started."""

    def refuse(self, message: str) -> NoReturn:
        """Raise the error of a hook that returned something that cannot be used."""
        raise ValueError(f"{type(self).__name__} {message}")
