"""Forty spellings of one address or number are one credential and share one limit."""

from collections import Counter
from itertools import product

import pytest
from tests.support.api import Api

LOCAL = (
    *("13800138000", "138 0013 8000", "138-0013-8000"),
    *("138.0013.8000", " 13800138000 ", "(138) 00138000"),
)
NUMBERS = [
    *map("".join, product(("", "+86", "+86 ", "86 ", "0086", "0086 ", "(+86) "), LOCAL)),
    # Full width, as Chinese keyboards type it.
    "\uff11\uff13\uff18\uff10\uff10\uff11\uff13\uff18\uff10\uff10\uff10",
    "\uff0b\uff18\uff16\uff11\uff13\uff18\uff10\uff10\uff11\uff13\uff18\uff10\uff10\uff10",
]
ADDRESSES = list(
    map(
        "".join,
        product(
            ("", " "),
            ("alice", "ALICE", "aLiCe", "\uff41lice"),
            ("@", "\uff20"),
            ("example.com", "Example.COM"),
            ("", " "),
        ),
    )
)


@pytest.mark.parametrize("spellings", [NUMBERS, ADDRESSES], ids=["number", "address"])
def test_forty_spellings_are_one_credential(api: Api, spellings: list[str]) -> None:
    assert len(set(spellings)) >= 40
    person = api.person(email="alice@example.com", mobile="13800138000")
    attempts = [api.log_in(spelling) for spelling in spellings]
    assert {attempt.status_code for attempt in attempts} == {200}
    assert {attempt.json["user"]["id"] for attempt in attempts} == {person.id}


@pytest.mark.parametrize("spellings", [NUMBERS, ADDRESSES], ids=["number", "address"])
def test_forty_spellings_are_one_limit_of_codes(api: Api, spellings: list[str]) -> None:
    statuses = Counter(
        api.request_code(
            spelling,
            "register",
            headers={"X-Device-Id": f"device-{number}"},
            environ_overrides={"REMOTE_ADDR": f"192.0.2.{number}"},
        ).status_code
        for number, spelling in enumerate(spellings)
    )
    assert statuses == {201: 1, 429: len(spellings) - 1}
    assert len(api.outbox()) == 1


@pytest.mark.parametrize("spellings", [NUMBERS, ADDRESSES], ids=["number", "address"])
def test_forty_spellings_are_one_count_of_failures(api: Api, spellings: list[str]) -> None:
    statuses = [
        api.post(
            "/authorizations",
            {"username": spelling, "password": "Wrong1Password"},
            environ_overrides={"REMOTE_ADDR": f"192.0.2.{number}"},
        ).status_code
        for number, spelling in enumerate(spellings)
    ]
    assert Counter(statuses) == {401: 3, 400: len(spellings) - 3}
