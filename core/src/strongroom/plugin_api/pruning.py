"""Removal of expired rows, by the job ``core.prune`` once a day and by ``strongroom prune``.

A plugin adds a step for each kind of row that expires::

    @hookimpl
    def register_prune_steps(host: HostAPI) -> list[PruneStep]:
        return [PruneStep("drafts", partial(prune_drafts, host))]

    def prune_drafts(host: HostAPI) -> int:
        with host.database.write() as transaction:
            return transaction.execute(delete(drafts).where(drafts.c.expires_at <= host.clock.now()))
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_NAME = re.compile(r"[a-z][a-z0-9_ ]{0,47}")


@dataclass(frozen=True, slots=True)
class PruneStep:
    """Removes the expired rows of one kind. API 2.0.

    Steps run one after the other, and also while servers run. One that raises is logged and repeated by
    the next run; the others run nevertheless.

    Args:
        name: the kind of row, in lowercase letters, digits, ``_`` and spaces. ``strongroom prune`` and
            the log show it as ``PLUGIN.NAME``.
        run: removes the rows, in short transactions, and returns their number.

    Raises:
        ValueError: the name has another form.
    """

    name: str
    run: Callable[[], int]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f'the name of the prune step "{self.name}" must be words in lowercase')
