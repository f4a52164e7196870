"""Spellings of addresses, numbers and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongroom.identity.users.identifiers import identify

MOBILE_SPELLINGS = [
    "13800138000",
    "138 0013 8000",
    "138-0013-8000",
    "+8613800138000",
    "+86 138 0013 8000",
    "+86-138-0013-8000",
    "008613800138000",
    "0086 138 0013 8000",
    "(+86) 13800138000",
    "+86 (138) 00138000",
    " 13800138000 ",
    "\uff11\uff13\uff18\uff10\uff10\uff11\uff13\uff18\uff10\uff10\uff10",
    "\uff0b8613800138000",
    "138.0013.8000",
    "86 13800138000",
    "\u202a+86 138 0013 8000\u202c",
]

EMAIL_SPELLINGS = [
    "alice@example.com",
    "ALICE@EXAMPLE.COM",
    "Alice@Example.Com",
    " alice@example.com ",
    "\u202aalice@example.com\u202c",
    "\u200f alice@example.com\u2069",
    "\uff41lice@example.com",
    "alice\uff20example.com",
    "aLiCe@eXaMpLe.cOm",
]


@pytest.mark.parametrize("spelling", MOBILE_SPELLINGS)
def test_every_spelling_of_a_number_is_one_number(spelling: str) -> None:
    credential = identify(spelling, "CN")
    assert credential is not None
    assert (credential.kind, credential.value) == ("mobile", "+8613800138000")


@pytest.mark.parametrize("spelling", EMAIL_SPELLINGS)
def test_every_spelling_of_an_address_is_one_address(spelling: str) -> None:
    credential = identify(spelling, "CN")
    assert credential is not None
    assert (credential.kind, credential.value) == ("email", "alice@example.com")


@pytest.mark.parametrize("text", ["alice", "ALICE", " alice ", "\uff41lice"])
def test_every_spelling_of_a_username_is_one_username(text: str) -> None:
    credential = identify(text, "CN")
    assert credential is not None
    assert (credential.kind, credential.value) == ("username", "alice")


@pytest.mark.parametrize(
    "text", ["", " ", "@", "a@", "@b.com", "a@b", "ab", "1", "123", "a b", "a/b", "x" * 255, "é", "-abc"]
)
def test_other_texts_are_no_credential(text: str) -> None:
    assert identify(text, "CN") is None


@pytest.mark.parametrize(
    ("text", "key", "written"),
    [
        ("User@FASS.de", "user@fass.de", "User@fass.de"),
        ("user@FA\xdf.de", "user@fa\xdf.de", "user@fa\xdf.de"),
        ("user@xn--fa-hia.de", "user@fa\xdf.de", "user@fa\xdf.de"),
        ("user@\u03b2\u03cc\u03bb\u03bf\u03c2.com", "user@\u03b2\u03cc\u03bb\u03bf\u03c2.com", None),
        ("user@\u03b2\u03cc\u03bb\u03bf\u03c3.com", "user@\u03b2\u03cc\u03bb\u03bf\u03c3.com", None),
        ("Stra\xdfe@example.com", "stra\xdfe@example.com", "Stra\xdfe@example.com"),
        ("x@\u0390.gr", "x@\u0390.gr", None),
        ("\u7528\u6237@\u4f8b\u3048\u3002jp", "\u7528\u6237@\u4f8b\u3048.jp", None),
    ],
)
def test_an_address_is_compared_by_idna_2008_and_kept_as_written(
    text: str, key: str, written: str | None
) -> None:
    credential = identify(text, "CN")
    assert credential is not None
    assert (credential.value, credential.address) == (key, written or key)
    assert identify(credential.address, "CN") == identify(credential.value, "CN") == credential


@pytest.mark.parametrize(
    "text", ["al ice@example.com", "alice @example.com", "a@exa mple.com", "a@\u2603.net"]
)
def test_blanks_within_an_address_and_symbols_of_idna_2003_are_refused(text: str) -> None:
    assert identify(text, "CN") is None


@pytest.mark.parametrize(
    ("text", "region", "number"),
    [
        ("0912345680", "CN", None),
        ("0912345680", "TW", "+886912345680"),
        ("+886 912 345 680", "CN", "+886912345680"),
        ("912345680", "CN", None),
        ("010-12345678", "CN", "+861012345678"),
        ("95588", "CN", None),
    ],
)
def test_a_number_without_a_country_code_is_one_of_the_default_region(
    text: str, region: str, number: str | None
) -> None:
    credential = identify(text, region)
    assert (credential and credential.value) == number


def test_a_number_of_another_country_keeps_its_code() -> None:
    credential = identify("+44 20 7946 0958", "CN")
    assert credential is not None
    assert credential.value == "+442079460958"


@given(st.text(max_size=300))
def test_no_text_breaks_it_and_its_result_is_stable(text: str) -> None:
    credential = identify(text, "CN")
    if credential is not None:
        assert identify(credential.value, "US") == credential
