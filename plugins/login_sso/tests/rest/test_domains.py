"""Domains of tenants: who manages them, their proof, its repetition and its end."""

import dns.rcode
from tests.support.api import Answer, error_code

from strongroom.testing.clock import HOUR

from .spaces import Space, Spaces

DAY = 24 * HOUR
GRACE = 7 * DAY
UNCHECKED = 30 * DAY


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status_code, error_code(answer)


def is_proven(space: Space) -> bool:
    shown = space.spaces.api.get(f"{space.path}/domains/{space.domain_id}", by=space.admin)
    proven: bool = shown.json["isProven"]
    return proven


def pass_days(space: Space, days: float) -> None:
    space.spaces.api.clock.advance(round(days * DAY))
    space.admin = space.spaces.again(space)


def test_a_domain_is_proven_by_its_record(spaces: Spaces) -> None:
    space = spaces.create(proven=False)
    path = f"{space.path}/domains/{space.domain_id}"
    shown = spaces.api.get(path, by=space.admin).json
    assert shown["recordName"] == f"_strongroom.{space.domain}"
    assert shown["recordValue"].startswith("strongroom-domain-verification=")
    assert (shown["isProven"], shown["verifiedAt"], shown["countsUntil"]) == (False, None, None)
    assert refusal(space.verify()) == (409, "error.domain-not-proven")
    space.publish()
    verified = space.verify()
    assert verified.status_code == 200, verified.text
    assert (verified.json["isProven"], verified.json["lostSince"]) == (True, None)
    listed = spaces.api.get(f"{space.path}/domains", by=space.admin).json["data"]
    assert [item["domain"] for item in listed] == [space.domain]
    assert spaces.api.delete(path, by=space.admin).status_code == 200
    assert refusal(spaces.api.get(path, by=space.admin)) == (404, "error.domain-not-found")


def test_only_administrators_of_the_tenant_manage_them(spaces: Spaces, space: Space) -> None:
    member, stranger, root = (spaces.api.person(), spaces.api.person(), spaces.api.person(admin=True))
    spaces.api.join(space.path, space.admin, member)
    one = f"{space.path}/domains/{space.domain_id}"
    for person in (member, stranger, root):
        requests = [
            spaces.api.post(f"{space.path}/domains", {"domain": "new.example"}, by=person),
            spaces.api.get(f"{space.path}/domains", by=person),
            spaces.api.get(one, by=person),
            spaces.api.post(f"{one}/verification", by=person),
            spaces.api.delete(one, by=person),
        ]
        assert {refusal(answer) for answer in requests} == {(403, "error.sso-forbidden")}
    assert is_proven(space)


def test_an_administrator_sees_no_domain_of_another_tenant(spaces: Spaces, space: Space) -> None:
    other = spaces.create(number=1)
    foreign = f"{other.path}/domains/{space.domain_id}"
    for answer in (
        spaces.api.get(foreign, by=other.admin),
        spaces.api.post(f"{foreign}/verification", by=other.admin),
        spaces.api.delete(foreign, by=other.admin),
    ):
        assert refusal(answer) == (404, "error.domain-not-found")
    assert is_proven(space)


def test_domains_of_everyone_and_texts_are_refused(spaces: Spaces, space: Space) -> None:
    for domain in ("gmail.com", "GMail.com", "qq.com", "example", "localhost", "10.0.0.1", "a b"):
        added = spaces.api.post(f"{space.path}/domains", {"domain": domain}, by=space.admin)
        assert refusal(added) == (400, "error.domain-refused"), domain
    again = spaces.api.post(f"{space.path}/domains", {"domain": space.domain.upper()}, by=space.admin)
    assert refusal(again) == (409, "error.domain-listed")


def test_a_domain_whose_record_has_no_valid_name_is_refused(spaces: Spaces, space: Space) -> None:
    """A name in DNS has at most 253 characters, so such a record can never be published."""
    suffix = f".{'a' * 60}" * 3 + ".example"
    longest = "a" * (253 - len("_strongroom.") - len(suffix)) + suffix
    added = spaces.api.post(f"{space.path}/domains", {"domain": longest}, by=space.admin)
    assert len(added.json["recordName"]) == 253
    refused = spaces.api.post(f"{space.path}/domains", {"domain": f"a{longest}"}, by=space.admin)
    assert refusal(refused) == (400, "error.domain-refused")


def test_a_domain_is_of_one_tenant(spaces: Spaces, space: Space) -> None:
    """The second tenant proves it, too, and takes it over only once the first proof has failed."""
    other = spaces.create(domain=space.domain, proven=False, number=1)
    other.publish()
    assert refusal(other.verify()) == (409, "error.domain-taken")
    # The owner of the domain removes the first record. The first tenant's next check finds it missing.
    space.unpublish()
    other.publish()
    assert refusal(other.verify()) == (409, "error.domain-taken")
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    other.admin = spaces.again(other)
    assert other.verify().status_code == 200
    assert (is_proven(other), spaces.service.has_proven(space.id, f"x@{space.domain}")) == (True, False)
    # The first tenant does not get it back while the other's proof holds, whatever its record says.
    space.admin = spaces.again(space)
    space.publish()
    assert refusal(space.verify()) == (409, "error.domain-taken")
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    assert not spaces.service.has_proven(space.id, f"x@{space.domain}")


def test_the_record_of_another_tenant_proves_nothing(spaces: Spaces, space: Space) -> None:
    other = spaces.create(domain=space.domain, proven=False, number=1)
    assert refusal(other.verify()) == (409, "error.domain-not-proven")


def test_a_proof_that_disappears_counts_for_the_grace_only(spaces: Spaces, space: Space) -> None:
    space.unpublish()
    pass_days(space, 1)
    spaces.check_domains()
    shown = spaces.api.get(f"{space.path}/domains/{space.domain_id}", by=space.admin).json
    assert shown["lostSince"] is not None
    assert shown["isProven"]
    spaces.api.clock.advance(GRACE - HOUR)
    spaces.check_domains()
    assert spaces.service.has_proven(space.id, f"x@{space.domain}")
    spaces.api.clock.advance(HOUR + 1)
    assert not spaces.service.has_proven(space.id, f"x@{space.domain}")


def test_the_administrator_who_added_it_gets_one_message(spaces: Spaces, space: Space) -> None:
    space.unpublish()
    before = len(spaces.api.outbox())
    for _ in range(3):
        spaces.api.clock.advance(DAY)
        spaces.check_domains()
    sent = [item for item in spaces.api.outbox()[before:] if "DNS record" in str(item)]
    assert [item["recipient"] for item in sent] == [space.admin.email]


def test_a_record_that_comes_back_ends_the_grace(spaces: Spaces, space: Space) -> None:
    space.unpublish()
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    space.admin = spaces.again(space)
    space.publish()
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    spaces.api.clock.advance(GRACE)
    assert spaces.service.has_proven(space.id, f"x@{space.domain}")


def test_a_resolver_that_fails_does_not_count_as_missing(spaces: Spaces, space: Space) -> None:
    spaces.dns.failures[f"_strongroom.{space.domain}."] = dns.rcode.SERVFAIL
    for _ in range(10):
        spaces.api.clock.advance(DAY)
        spaces.check_domains()
    space.admin = spaces.again(space)
    shown = spaces.api.get(f"{space.path}/domains/{space.domain_id}", by=space.admin).json
    assert (shown["isProven"], shown["lostSince"]) == (True, None)
    assert refusal(space.verify()) == (503, "error.domain-unchecked")
    # But not for ever: a check must succeed within 30 days.
    spaces.api.clock.advance(UNCHECKED - 10 * DAY + 1)
    assert not spaces.service.has_proven(space.id, f"x@{space.domain}")


def test_the_job_checks_each_domain_once_a_day(spaces: Spaces, space: Space) -> None:
    spaces.dns.queries.clear()
    spaces.check_domains()
    assert spaces.dns.queries == []
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    spaces.check_domains()
    assert [name for name, _ in spaces.dns.queries] == [f"_strongroom.{space.domain}."]


def test_changes_are_recorded(spaces: Spaces, space: Space) -> None:
    space.unpublish()
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    root = spaces.api.person(admin=True)
    events = spaces.api.get("/audit-events?targetId=" + space.domain_id, by=root).json["data"]
    assert [event["action"] for event in events][::-1] == [
        "login_sso.domain-add",
        "login_sso.domain-verify",
        "login_sso.domain-lose",
    ]
