"""Slots for pictures: bounded, shared between users, and never waited for by many."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from strongroom.extensions.business_files.pictures import PictureSlots
from strongroom.foundation.errors import Unavailable


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.extensions.business_files.pictures.WAIT_SECONDS", 0.01)


def is_refused(slots: PictureSlots, user: str) -> bool:
    with suppress(Unavailable), slots.slot(user):
        return False
    return True


def test_a_refusal_says_when_to_come_back() -> None:
    slots = PictureSlots(1)
    with (
        slots.slot("alice"),
        pytest.raises(Unavailable) as refusal,
        slots.slot("bob"),
    ):
        pass
    assert refusal.value.retry_after


def test_no_more_slots_are_held_than_there_are() -> None:
    slots = PictureSlots(2)
    with slots.slot("alice"), slots.slot("bob"):
        assert is_refused(slots, "carol")
    assert not is_refused(slots, "carol")


@pytest.mark.parametrize("total", [2, 3, 8])
def test_a_user_never_holds_the_last_slot(total: int) -> None:
    slots = PictureSlots(total)
    with ExitStack() as held:
        for _ in range(total - 1):
            held.enter_context(slots.slot("alice"))
        assert is_refused(slots, "alice")
        assert not is_refused(slots, "bob")


def test_a_single_slot_serves_all_one_after_the_other() -> None:
    slots = PictureSlots(1)
    with slots.slot("alice"):
        assert is_refused(slots, "bob")
    assert not is_refused(slots, "bob")


def test_a_request_waits_for_a_slot_that_becomes_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("strongroom.extensions.business_files.pictures.WAIT_SECONDS", 30)
    slots = PictureSlots(1)
    with ThreadPoolExecutor(1) as pool:
        with slots.slot("alice"):
            waiting = pool.submit(is_refused, slots, "bob")
        assert waiting.result(60) is False


def test_the_waiting_are_bounded_and_the_next_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("strongroom.extensions.business_files.pictures._MAX_WAITING", 0)
    slots = PictureSlots(1)
    monkeypatch.setattr(slots._changed, "wait_for", lambda *_: pytest.fail("It waits."))
    with slots.slot("alice"):
        assert is_refused(slots, "bob")


def test_a_picture_that_fails_gives_its_slot_back() -> None:
    slots = PictureSlots(1)
    with pytest.raises(ZeroDivisionError), slots.slot("alice"):
        raise ZeroDivisionError
    assert not is_refused(slots, "alice")
