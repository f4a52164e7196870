"""Sequences under concurrent writers: a reader that polls all the time passes over none.

The full campaign of 100,000 changes is run by ``STRONGROOM_TEST_SEQUENCE_CHANGES=100000``.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from sqlalchemy import Connection
from tests.support.api import Api, Person
from tests.support.campaign import campaign_size

from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.models import Node, NodeType
from strongroom.content.tenants.memberships import Memberships
from strongroom.extensions.events.stream import changes_after
from strongroom.foundation.caller import Identity

WRITERS = 32
_ROLLED_BACK = 7


class Writers:
    """Threads that record changes of one tenant as the file services do."""

    def __init__(self, api: Api, person: Person, tenant_id: str, count: int) -> None:
        self._container = api.container
        self._caller = Identity(person.id, "USER", "authorization")
        self._memberships = Memberships(api.clock)
        self._tenant_id = tenant_id
        self._left = iter(range(count))
        self._lock = threading.Lock()

    def run(self) -> None:
        with ThreadPoolExecutor(WRITERS) as threads:
            list(threads.map(lambda _: self._write(), range(WRITERS)))

    def _write(self) -> None:
        database = self._container.database
        while (number := self._next()) is not None:
            node = self._node(number)
            # A number that was assigned and rolled back is assigned again.
            with suppress(LookupError):
                database.write_together(partial(self._change, FileAction.CREATED, node))
            if number % _ROLLED_BACK == 0:
                database.write_together(partial(self._change, FileAction.RENAMED, node))

    def _change(self, action: FileAction, node: Node, connection: Connection) -> None:
        self._memberships.lock_tenant(connection, self._tenant_id)
        self._container.get(FileEvents).record(connection, action, self._caller, node)
        if action is FileAction.CREATED and node.revision % _ROLLED_BACK == 0:
            raise LookupError

    def _next(self) -> int | None:
        with self._lock:
            return next(self._left, None)

    def _node(self, number: int) -> Node:
        return Node(
            id=f"node-{number}",
            tenant_id=self._tenant_id,
            parent_id=self._tenant_id,
            type=NodeType.FILE,
            name="name",
            blob_key=None,
            size=0,
            content_type=None,
            checksum=None,
            owner_id=self._caller.user_id,
            created_at=0,
            updated_at=0,
            revision=number,
        )


def test_a_polling_reader_passes_over_no_change(api: Api) -> None:
    person = api.person()
    tenant_id = api.tenant(person).rpartition("/")[2]
    count = campaign_size("SEQUENCE_CHANGES", 500)
    writers = threading.Thread(target=Writers(api, person, tenant_id, count).run)
    writers.start()
    seen: list[int] = []
    nodes: set[str] = set()
    while len(seen) < count:
        # Before the read, because the last writer may end between the two.
        is_writing = writers.is_alive()
        with api.container.database.read() as connection:
            found = changes_after(connection, tenant_id, seen[-1] if seen else 0, 200)
        seen += [change.sequence or 0 for change in found]
        nodes |= {change.node_id for change in found}
        assert is_writing or found, "the reader has passed over a change"
    writers.join()
    assert seen == list(range(1, count + 1))
    assert len(nodes) == count
