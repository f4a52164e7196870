"""Times of people: shown and entered in a zone."""

import pytest

from strongroom.plugin_api.times import (
    UTC_ZONE,
    end_of_day,
    find_zone,
    moment_of_input,
    named_moment,
    shown_day,
    shown_moment,
    start_of_day,
    zone_name,
)

SHANGHAI = find_zone("Asia/Shanghai") or UTC_ZONE
BERLIN = find_zone("Europe/Berlin") or UTC_ZONE
NOON = "2026-06-21T16:30:15.250Z"


def test_a_moment_is_shown_in_the_zone() -> None:
    assert shown_moment(NOON, SHANGHAI) == "2026-06-22 00:30"
    assert shown_moment(NOON, UTC_ZONE) == "2026-06-21 16:30 UTC"
    assert shown_day(NOON, SHANGHAI) == "2026-06-22"
    assert shown_day(1_782_059_415_250, SHANGHAI) == "2026-06-22"
    assert named_moment(NOON, SHANGHAI) == "2026-06-22 00:30 (Asia/Shanghai)"
    assert named_moment(NOON, UTC_ZONE) == "2026-06-21 16:30 UTC"


def test_days_begin_and_end_at_the_midnights_of_the_zone() -> None:
    assert start_of_day("2026-06-21", SHANGHAI) == "2026-06-20T16:00:00Z"
    assert end_of_day("2026-06-21", SHANGHAI) == "2026-06-21T15:59:59Z"
    assert start_of_day("2026-06-21", SHANGHAI, later=1) == "2026-06-21T16:00:00Z"
    # The clocks of Berlin change on these days, which have 23 and 25 hours.
    assert start_of_day("2026-03-29", BERLIN) == "2026-03-28T23:00:00Z"
    assert end_of_day("2026-03-29", BERLIN) == "2026-03-29T21:59:59Z"
    assert end_of_day("2026-10-25", BERLIN) == "2026-10-25T22:59:59Z"


def test_an_input_is_a_time_of_the_zone_unless_it_has_its_own() -> None:
    assert moment_of_input("2026-06-21T09:30", SHANGHAI) == "2026-06-21T01:30:00Z"
    assert moment_of_input("2026-06-21T09:30+02:00", SHANGHAI) == "2026-06-21T07:30:00Z"


def test_an_input_at_a_change_of_clocks_is_an_instant() -> None:
    assert moment_of_input("2026-03-29T02:30", BERLIN) == "2026-03-29T01:30:00Z"
    assert moment_of_input("2026-10-25T02:30", BERLIN) == "2026-10-25T00:30:00Z"
    assert moment_of_input("2026-10-25T03:00", BERLIN) == "2026-10-25T02:00:00Z"


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-99-99", "0001-01-01", "9999-12-31"])
def test_another_text_stays(text: str) -> None:
    assert end_of_day(text, SHANGHAI) in (text, "9999-12-31T15:59:59Z", "0001-01-01T15:54:16Z")
    assert isinstance(moment_of_input(f"{text}T00:00", SHANGHAI), str)


@pytest.mark.parametrize(
    "name",
    ["", None, "Asia", "Asia/Atlantis", "../etc/passwd", "/etc/passwd", "zone.tab", "a" * 65, "\0"],
)
def test_what_is_no_zone_is_not_found(name: str | None) -> None:
    assert find_zone(name) is None


def test_zones_have_names() -> None:
    assert (zone_name(SHANGHAI), zone_name(UTC_ZONE)) == ("Asia/Shanghai", "UTC")
    assert find_zone("Etc/GMT+3") is not None
