"""Stores which instances serve."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select

from strongroom.clock import DAY, Clock
from strongroom.extensions.observability.instances.models import INSTANCE, Instance, instances
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement, for_each_dialect

_ALL: Final = Statement(select(instances).order_by(instances.c.name), INSTANCE)
_PUT: Final = Statement(
    for_each_dialect(
        instances,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[instances.c.name],
            set_={name: insert.excluded[name] for name in ("version", "seen_at", "skew", "sections")},
        ),
    )
)


@dataclass(slots=True, eq=False, repr=False)
class InstanceStore:
    """Repository of the instances of the last day."""

    _database: Database
    _clock: Clock

    def find_all(self) -> Sequence[Instance]:
        """Return the instances, sorted by name."""
        with self._database.read() as connection:
            return _ALL.all(connection)

    def put(self, instance: Instance) -> None:
        """Store that an instance serves."""
        # Non-durable: the next one follows within a minute.
        with self._database.write(durable=False) as connection:
            _PUT.execute(connection, INSTANCE.values(instance))

    def prune(self) -> int:
        """Remove instances that have not served for a day; return the count."""
        return prune(self._database, instances.c.name, instances.c.seen_at <= self._clock.now() - DAY)
