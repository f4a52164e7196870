"""The container: all services of one process."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields

from strongroom.assembly.files import FileServices, assemble_keeping, housekeeping_steps
from strongroom.assembly.identity import IdentityServices, assemble_identity
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.assembly.operating import OperatingServices, assemble_operating
from strongroom.clock import Clock, SystemClock
from strongroom.config import Configuration, Settings
from strongroom.database import Database
from strongroom.production import refuse_unsafe
from strongroom.selection import Selection, select
from strongroom.tenants.memberships import Memberships


@dataclass(frozen=True, slots=True)
class Container:
    """The services of one process, and their resources."""

    base: Infrastructure
    identity: IdentityServices
    keeping: FileServices
    operating: OperatingServices

    @property
    def settings(self) -> Settings:
        """The settings the process runs with."""
        return self.base.settings

    @property
    def selection(self) -> Selection:
        """The plugins the process runs with."""
        return self.base.selection

    @property
    def database(self) -> Database:
        """The database of all services."""
        return self.base.database

    def services(self) -> Iterator[object]:
        """Iterate over the services that routes can use."""
        yield self.base.rates
        for group in (self.identity, self.keeping, self.operating):
            for field in fields(group):
                yield getattr(group, field.name)

    def close(self) -> None:
        """Close connections and extensions."""
        self.base.resources.close()


def build(
    configuration: Configuration, clock: Clock | None = None, *, patient: bool = False
) -> Container:
    """Create the services of a process.

    Args:
        configuration: the parsed configuration.
        clock: the source of timestamps; the system clock by default.
        patient: disable the time limit of database statements, for long-running commands.

    Raises:
        ConfigurationError: the configuration is invalid or unsafe.
    """
    selection = select(configuration)
    refuse_unsafe(configuration, selection)
    # If the assembly fails, the stack closes everything opened so far. On success, pop_all moves the
    # resources to the container, which closes them later.
    with ExitStack() as resources:
        base = Infrastructure(
            configuration, selection, clock or SystemClock(), resources, patient=patient
        )
        identity, keeping = assemble_identity(base), assemble_keeping(base)
        identity.housekeeping.add(housekeeping_steps(keeping))
        # Identity does not depend on tenants, so the rule about memberships is registered here.
        identity.deletion.guard(Memberships(base.clock).require_dispensable)
        container = Container(base, identity, keeping, assemble_operating(base, keeping))
        base.resources = resources.pop_all()
        return container
