"""TXT records by a real resolver: what counts as missing, and what as not known."""

from collections.abc import Iterator

import dns.rcode
import pytest

from strongroom_login_sso.dns_records import LookupFailed, TextRecords

from .dns_server import DnsServer, serving_dns

NAME = "_strongroom.acme.example."


@pytest.fixture(scope="module")
def shared() -> Iterator[DnsServer]:
    with serving_dns() as server:
        yield server


@pytest.fixture
def server(shared: DnsServer) -> DnsServer:
    for records in (shared.texts, shared.aliases, shared.failures, shared.forged):
        records.clear()
    shared.silent.clear()
    shared.truncated.clear()
    shared.queries.clear()
    return shared


@pytest.fixture
def records(server: DnsServer) -> TextRecords:
    return TextRecords([("127.0.0.1", server.port)], timeout=5)


def test_each_text_of_a_name_is_found(server: DnsServer, records: TextRecords) -> None:
    texts = [f"text {number}" for number in range(40)]
    server.texts[NAME] = texts
    assert {*records.find_texts(NAME)} == {text.encode() for text in texts}


def test_a_long_text_is_one(server: DnsServer, records: TextRecords) -> None:
    server.texts[NAME] = ["x" * 600]
    assert list(records.find_texts(NAME)) == [b"x" * 600]


def test_a_name_without_records_has_no_texts(server: DnsServer, records: TextRecords) -> None:
    assert list(records.find_texts(NAME)) == []
    server.texts[NAME] = []
    assert list(records.find_texts(NAME)) == []


def test_an_alias_is_followed(server: DnsServer, records: TextRecords) -> None:
    server.aliases[NAME] = "verify.hoster.example."
    server.texts["verify.hoster.example."] = ["here"]
    assert list(records.find_texts(NAME)) == [b"here"]


def test_a_truncated_answer_is_requested_by_tcp(server: DnsServer, records: TextRecords) -> None:
    server.truncated.add(NAME)
    server.texts[NAME] = ["whole"]
    assert list(records.find_texts(NAME)) == [b"whole"]
    assert server.queries == [(NAME, False), (NAME, True)]


def test_an_answer_with_another_id_is_ignored(server: DnsServer, records: TextRecords) -> None:
    server.forged[NAME] = ["forged"]
    server.texts[NAME] = ["honest"]
    assert list(records.find_texts(NAME)) == [b"honest"]


@pytest.mark.parametrize("code", [dns.rcode.SERVFAIL, dns.rcode.REFUSED, dns.rcode.FORMERR])
def test_a_failure_of_the_resolver_is_not_known(server: DnsServer, code: dns.rcode.Rcode) -> None:
    server.failures[NAME] = code
    with pytest.raises(LookupFailed):
        TextRecords([("127.0.0.1", server.port)], timeout=1).find_texts(NAME)


def test_no_answer_in_time_is_not_known(server: DnsServer) -> None:
    server.silent.add(NAME)
    with pytest.raises(LookupFailed):
        TextRecords([("127.0.0.1", server.port)], timeout=0.3).find_texts(NAME)
    assert server.queries


def test_an_unreachable_resolver_is_not_known() -> None:
    with pytest.raises(LookupFailed):
        TextRecords([("127.0.0.1", 1)], timeout=0.3).find_texts(NAME)
