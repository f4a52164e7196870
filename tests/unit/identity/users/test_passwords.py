"""Password hashes and the policy."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import bcrypt
import pytest
from tests.support.hashers import make_hasher
from tests.support.waiting import PATIENCE_SECONDS, wait_until

from strongroom.foundation.errors import Unavailable
from strongroom.identity.users import password_hashing, password_policy
from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.password_schemes import ImportedHash, Json, PasswordScheme

COST = 4
STORED = StoredPassword("$2b$04$x")


@pytest.fixture
def hasher() -> PasswordHasher:
    return make_hasher(cost=COST)


@pytest.mark.parametrize("password", ["short", "p" * 72, "p" * 1024, "密码" * 300, "nul\0inside", "🔑"])
def test_a_password_of_any_length_and_script_verifies(hasher: PasswordHasher, password: str) -> None:
    stored = hasher.hash(password)
    assert hasher.verify(password, stored)
    assert not hasher.verify(password + "x", stored)


def test_long_passwords_that_begin_alike_differ(hasher: PasswordHasher) -> None:
    assert not hasher.verify("p" * 1000 + "a", hasher.hash("p" * 1000 + "b"))


def test_what_follows_a_nul_counts(hasher: PasswordHasher) -> None:
    assert not hasher.verify("same\0other", hasher.hash("same\0thing"))


def test_a_hash_is_worth_nothing_without_the_key(hasher: PasswordHasher) -> None:
    assert not make_hasher(b"x" * 32, cost=COST).verify("password", hasher.hash("password"))


def test_composed_and_decomposed_letters_are_one_password(hasher: PasswordHasher) -> None:
    assert hasher.verify("cafe\u0301", hasher.hash("caf\u00e9"))


def test_nobodys_password_is_never_right(hasher: PasswordHasher) -> None:
    assert not hasher.verify("nobody", None)


def test_a_hash_of_another_cost_is_outdated(hasher: PasswordHasher) -> None:
    stored = hasher.hash("password")
    assert not hasher.is_outdated(stored)
    assert make_hasher(cost=COST + 1).is_outdated(stored)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rounds of every hash that is computed."""
    counted: list[int] = []
    checkpw, hashpw = bcrypt.checkpw, bcrypt.hashpw

    def check(password: bytes, stored: bytes) -> bool:
        counted.append(2 ** int(stored.split(b"$")[2]))
        return checkpw(password, stored)

    def make(password: bytes, salt: bytes) -> bytes:
        counted.append(2 ** int(salt.split(b"$")[2]))
        return hashpw(password, salt)

    monkeypatch.setattr("bcrypt.checkpw", check)
    monkeypatch.setattr("bcrypt.hashpw", make)
    return counted


@pytest.mark.parametrize("cost", [None, 4, 5, 6, 7])
def test_a_wrong_password_costs_as_many_rounds_with_any_hash(
    rounds: list[int], cost: int | None
) -> None:
    stored = None if cost is None else make_hasher(cost=cost).hash("password")
    hasher = make_hasher(cost=7)
    hasher.verify("first", None)
    rounds.clear()
    assert not hasher.verify("wrong", stored)
    assert sum(rounds) == 2**7


def test_concurrent_hashes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    hasher = make_hasher(cost=COST, max_concurrent=2)
    running: list[int] = []
    most: list[int] = []
    released = threading.Event()

    def check(_password: bytes, _stored: bytes) -> bool:
        running.append(1)
        most.append(len(running))
        assert released.wait(PATIENCE_SECONDS)
        running.pop()
        return True

    monkeypatch.setattr("bcrypt.checkpw", check)
    threads = [threading.Thread(target=hasher.verify, args=("x", STORED)) for _ in range(8)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(running) == 2 and hasher._logins._places._value == 2 + 64 - 8)
    # A third would start now.
    released.wait(0.5)
    released.set()
    for thread in threads:
        thread.join(timeout=PATIENCE_SECONDS)
    assert len(most) == 8
    assert max(most) == 2


class BusyHasher:
    """A hasher whose every check of a password waits until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.blocked: list[str] = []
        self.hasher = make_hasher(
            cost=COST,
            max_concurrent=1,
            queue_length=2,
            on_block=lambda: self.blocked.append(threading.current_thread().name),
        )
        self.hasher.verify("first", None)
        self.released = threading.Event()
        self.started = threading.Semaphore(0)
        monkeypatch.setattr("bcrypt.checkpw", self._check)

    def _check(self, _password: bytes, _stored: bytes) -> bool:
        self.started.release()
        return self.released.wait(timeout=30)

    def occupy(self, pool: ThreadPoolExecutor, *, login: bool) -> list["Future[bool]"]:
        """Fill the slot and both places of a queue."""
        checks = [pool.submit(self.hasher.verify, "x", STORED, login=login) for _ in range(3)]
        assert self.started.acquire(timeout=30)
        queue = self.hasher._logins if login else self.hasher._others
        wait_until(lambda: queue._places._value == 0)
        return checks


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> BusyHasher:
    return BusyHasher(monkeypatch)


def test_a_full_queue_refuses_at_once(busy: BusyHasher) -> None:
    with ThreadPoolExecutor(3) as pool:
        checks = busy.occupy(pool, login=False)
        with pytest.raises(Unavailable) as refusal:
            busy.hasher.hash("password")
        assert refusal.value.retry_after
        busy.released.set()
        assert [check.result(timeout=30) for check in checks] == [True] * 3
    assert busy.hasher.hash("password").hash


def test_a_request_that_waits_for_a_hash_gives_its_place_to_another_request(busy: BusyHasher) -> None:
    with ThreadPoolExecutor(3) as pool:
        checks = busy.occupy(pool, login=True)
        wait_until(lambda: len(busy.blocked) == 2)
        busy.released.set()
        assert all(check.result(timeout=30) for check in checks)
    # The first one computed its hash without waiting.
    assert len(set(busy.blocked)) == 2


def test_new_passwords_do_not_delay_logins(busy: BusyHasher) -> None:
    with ThreadPoolExecutor(4) as pool:
        busy.occupy(pool, login=False)
        login = pool.submit(busy.hasher.verify, "x", StoredPassword("$2b$04$x"), login=True)
        # It has a slot, while the other queue is full.
        assert busy.started.acquire(timeout=30)
        busy.released.set()
        assert login.result(timeout=30)


@pytest.mark.parametrize(
    ("password", "codes"),
    [
        ("Correct1", []),
        ("Passw0rd", ["too-common"]),
        ("Short1A", ["too-short"]),
        ("alllowercase1", ["no-uppercase"]),
        ("ALLUPPERCASE1", ["no-lowercase"]),
        ("NoDigitsHere", ["no-digit"]),
        ("", ["too-short", "no-uppercase", "no-lowercase", "no-digit"]),
        ("Aa1" + "x" * 1021, []),
        ("Aa1" + "x" * 1022, ["too-long"]),
        ("Ünïcödé1", []),
    ],
)
def test_the_policy_is_the_owners(password: str, codes: list[str]) -> None:
    assert [detail.code for detail in password_policy.password_faults(password)] == codes


class SlowScheme(PasswordScheme):
    """A scheme of another system, whose checks take the seconds in the text."""

    name = "slow"

    def __init__(self, clock: list[float]) -> None:
        super().__init__(NoOptions())
        self._clock = clock

    def parse(self, described: Json) -> ImportedHash:
        return ImportedHash(described["hash"], described["hash"])

    def verify(self, password: str, stored: str) -> bool:
        self._clock[0] += float(stored)
        return password == "right"


class TestFloor:
    """The time of failed logins, while there are imported hashes."""

    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        """Seconds, which only hashes and waits advance; each hash of our own takes a quarter."""
        clock, checkpw = [0.0], bcrypt.checkpw

        def check(password: bytes, hashed: bytes) -> bool:
            clock[0] += 0.25
            return checkpw(password, hashed)

        monkeypatch.setattr("bcrypt.checkpw", check)
        monkeypatch.setattr(password_hashing, "monotonic", lambda: clock[0])
        return clock

    @pytest.fixture
    def hasher(self, clock: list[float]) -> PasswordHasher:
        def wait(seconds: float) -> None:
            clock[0] += seconds

        return make_hasher(cost=COST, imported={"slow": SlowScheme(clock)}, wait=wait)

    def seconds(
        self,
        hasher: PasswordHasher,
        clock: list[float],
        stored: StoredPassword | None,
        samples: Sequence[StoredPassword],
    ) -> float:
        # The samples are measured once.
        hasher.verify_login("wrong", None, samples)
        began = clock[0]
        assert not hasher.verify_login("wrong", stored, samples)
        return clock[0] - began

    def test_every_failure_takes_as_long_as_one_of_the_slowest_hash(
        self, hasher: PasswordHasher, clock: list[float]
    ) -> None:
        samples = [hasher.imported({"algorithm": "slow", "hash": text}) for text in ("2.0", "0.001")]
        own = hasher.hash("right")
        times = [self.seconds(hasher, clock, stored, samples) for stored in (*samples, own, None)]
        assert times == pytest.approx([1.25 * 2.25] * 4)

    def test_checks_of_a_busy_server_raise_it_up_to_a_bound(
        self, hasher: PasswordHasher, clock: list[float], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sample = hasher.imported({"algorithm": "slow", "hash": "2.0"})
        self.seconds(hasher, clock, None, [sample])
        verify = SlowScheme.verify
        for slower, floor in ((1.0, 3.25), (99.0, 4 * 2.25)):
            with monkeypatch.context() as busy:
                busy.setattr(SlowScheme, "verify", slowed(verify, clock, slower))
                hasher.verify_login("wrong", sample, [sample])
            assert self.seconds(hasher, clock, None, [sample]) == pytest.approx(floor)

    def test_without_imported_hashes_nothing_waits(
        self, hasher: PasswordHasher, clock: list[float]
    ) -> None:
        assert self.seconds(hasher, clock, hasher.hash("right"), []) == pytest.approx(0.25)

    def test_a_right_password_does_not_wait(self, hasher: PasswordHasher, clock: list[float]) -> None:
        sample = hasher.imported({"algorithm": "slow", "hash": "2.0"})
        self.seconds(hasher, clock, None, [sample])
        began = clock[0]
        assert hasher.verify_login("right", sample, [sample])
        assert clock[0] - began == pytest.approx(2.0)

    def test_a_failure_computes_a_hash_of_our_own_for_each_scheme(
        self, hasher: PasswordHasher, clock: list[float]
    ) -> None:
        fast = hasher.imported({"algorithm": "slow", "hash": "0.0"})
        began = clock[0]
        assert not hasher.verify("wrong", fast)
        assert clock[0] - began == pytest.approx(0.25)


def slowed(
    verify: Callable[[SlowScheme, str, str], bool], clock: list[float], seconds: float
) -> Callable[[SlowScheme, str, str], bool]:
    """Return a check that takes longer, as on a busy server."""

    def check(scheme: SlowScheme, password: str, stored: str) -> bool:
        clock[0] += seconds
        return verify(scheme, password, stored)

    return check
