"""Reserved keys: each is taken once, in time, and few are left over."""

from concurrent.futures import ThreadPoolExecutor

from strongroom.content.storage.models import new_key
from strongroom.content.storage.reserved_keys import USABLE_FOR, ReservedKeys
from strongroom.testing.clock import ManualClock


class Rows:
    """Counts the transactions, and knows which keys have a row."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def reserve(self, count: int) -> list[str]:
        self.batches.append([new_key() for _ in range(count)])
        return self.batches[-1]

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]


def test_a_busy_process_reserves_twice_as_many_up_to_a_limit() -> None:
    rows = Rows()
    keys = ReservedKeys(rows.reserve, ManualClock())
    taken = [keys.take() for _ in range(100)]
    assert rows.sizes == [1, 2, 4, 8, 16, 32, 32, 32]
    assert taken == [key for batch in rows.batches for key in batch][:100]


def test_keys_are_not_used_for_long_and_an_idle_process_reserves_one() -> None:
    rows, clock = Rows(), ManualClock()
    keys = ReservedKeys(rows.reserve, clock)
    for _ in range(4):
        keys.take()
    clock.advance(USABLE_FOR - 1)
    assert keys.take() == rows.batches[-1][1]
    clock.advance(1)
    assert [keys.take()] == rows.batches[-1]
    assert rows.sizes == [1, 2, 4, 1]


def test_cleared_keys_are_not_used() -> None:
    rows = Rows()
    keys = ReservedKeys(rows.reserve, ManualClock())
    for _ in range(4):
        keys.take()
    assert keys.clear() == rows.batches[2][1:]
    assert keys.clear() == []
    assert keys.take() in rows.batches[3]


def test_threads_never_get_the_same_key() -> None:
    keys = ReservedKeys(Rows().reserve, ManualClock())
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda _: keys.take(), range(2000)))
    assert len(set(taken)) == 2000
