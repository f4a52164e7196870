"""The removal of expired rows of all features and plugins."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from strongroom.foundation.database.pace import Pace, paced
from strongroom.foundation.plugins.hook_calls import one_line
from strongroom.plugin_api.jobs import JobRun
from strongroom.plugin_api.pruning import PruneStep

logger = logging.getLogger(__name__)


class PruneFailed(Exception):
    """Some steps of pruning failed; all others ran. The message names each with its error."""


@dataclass(slots=True, eq=False, repr=False)
class PruneJob:
    """Runs one step per kind of expiring row. Safe while servers and other prune jobs run.

    A step that fails must not keep the rows of all others permanently: it is logged, and the others run.

    Args:
        steps: the steps by the names that operators see.
    """

    _steps: Mapping[str, PruneStep]

    def run(self) -> Iterator[tuple[str, int]]:
        """Run every step, and yield its name and how many rows it deleted.

        Raises:
            PruneFailed: steps failed; raised after the last one.
        """
        failures = []
        for name, step in self._steps.items():
            try:
                count = step.run()
            except Exception as error:
                logger.exception("The prune step %s failed", name)
                failures.append(f"{name}: {one_line(error)}")
            else:
                yield name, count
        if failures:
            raise PruneFailed("; ".join(failures))

    def run_job(self, run: JobRun) -> None:
        """Run the steps until the job should stop; raises as :meth:`run`."""
        # A step of millions of rows ends after its batch, too.
        with paced(Pace(should_stop=lambda: run.should_stop)):
            for _ in self.run():
                if run.should_stop:
                    return
