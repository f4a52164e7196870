"""Logins by the provider of a tenant: who may, what they become, and what changes at once."""

from pathlib import Path
from typing import Any

import pytest
from tests.support import totp
from tests.support.api import Answer, Person, error_code
from tests.support.wechat import Browser

from strongroom.testing.clock import HOUR
from strongroom.testing.outbound import forbidden_urls

from ..company import CLIENT
from .spaces import AUTHORIZATIONS, IDS, REQUESTS, Space, Spaces, running_spaces

DAY = 24 * HOUR


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status_code, error_code(answer)


def logged_in(answer: Answer) -> Person:
    assert answer.status_code == 200, answer.text
    user = answer.json["user"]
    return Person(user["id"], "", answer.json["accessToken"])


class TestNewPeople:
    """People without an account."""

    def test_a_person_becomes_a_user_and_a_member(self, space: Space) -> None:
        ann = logged_in(space.log_in(f"ann@{space.domain}"))
        assert space.members()[ann.id] == "member"
        again = logged_in(space.log_in(f"ann@{space.domain}"))
        assert again.id == ann.id
        held = space.spaces.api.get("/users/me/credentials", by=again).json["data"]
        assert {(item["kind"], item["value"]) for item in held} == {
            ("email", f"ann@{space.domain}"),
            ("sso", f"{space.provider['id']}:ann@{space.domain}"),
        }

    def test_the_default_role_and_the_rules_decide(self, spaces: Spaces, space: Space) -> None:
        group = spaces.api.post(f"{space.path}/groups", {"name": "Staff"}, by=space.admin).json["id"]
        rules = [
            {"claim": "groups", "value": "staff", "group": group},
            {"claim": "realm.roles", "value": "auditor", "role": "records"},
        ]
        assert space.change(rules=rules).status_code == 200
        ann = logged_in(space.log_in(f"ann@{space.domain}", groups=["staff"]))
        eve = logged_in(space.log_in(f"eve@{space.domain}", realm={"roles": ["auditor", "x"]}))
        assert (space.members()[ann.id], space.members()[eve.id]) == ("member", "records")
        members = f"{space.path}/groups/{group}/members"
        listed = spaces.api.get(members, by=space.admin).json["data"]
        assert [item["user"]["$ref"] for item in listed] == [ann.id]
        logged_in(space.log_in(f"ann@{space.domain}", groups=[]))
        assert spaces.api.get(members, by=space.admin).json["data"] == []

    @pytest.mark.parametrize("role", ["admin", "owner", ""])
    def test_no_provider_makes_administrators(self, space: Space, role: str) -> None:
        assert refusal(space.change(defaultRole=role))[0] == 400
        rules = [{"claim": "groups", "value": "staff", "role": role}]
        assert refusal(space.change(rules=rules))[0] == 400

    def test_only_members_log_in_if_nobody_joins(self, spaces: Spaces, space: Space) -> None:
        assert space.change(joins=False).status_code == 200
        refused = space.log_in(f"ann@{space.domain}")
        assert refusal(refused) == (403, "error.sso-not-invited")
        # The refused login has left no user.
        root = spaces.api.person(admin=True)
        found = spaces.api.get(f"/users?q=ann@{space.domain}", by=root).json["data"]
        assert found == []


@pytest.mark.parametrize(("mode", "status"), [("invited", 200), ("closed", 403)])
def test_people_of_a_proven_domain_count_as_invited(
    tmp_path: Path, database_url: str, mode: str, status: int
) -> None:
    with running_spaces(tmp_path, database_url, {"users": {"registration": mode}}) as spaces:
        space = spaces.create()
        assert space.log_in(f"ann@{space.domain}").status_code == status


class TestAddresses:
    """A login needs a verified address in a domain that the tenant has proven now."""

    @pytest.mark.parametrize(
        "claims",
        [
            {"email_verified": False},
            {"email_verified": None},
            {"email_verified": "yes"},
            {"email": None},
            {"email": ["ann@company1.example"]},
            {"email": "ann@evil.example"},
            {"email": "ann@sub.company1.example"},
            {"email": "ann@company1.example.evil.example"},
            {"email": "ann@evil-company1.example"},
            {"email": "company1.example"},
        ],
        ids=repr,
    )
    def test_others_are_refused(self, space: Space, claims: dict[str, Any]) -> None:
        answer = space.log_in(f"ann@{space.domain}", **claims)
        assert refusal(answer) == (403, "error.sso-email-not-allowed"), answer.text

    def test_a_provider_may_count_addresses_as_verified(self, space: Space) -> None:
        assert space.change(addressesVerified=True).status_code == 200
        logged_in(space.log_in(f"ann@{space.domain}", email_verified=None))
        stated = space.log_in(f"eve@{space.domain}", email_verified=False)
        assert refusal(stated) == (403, "error.sso-email-not-allowed")

    def test_an_unproven_domain_logs_nobody_in(self, spaces: Spaces) -> None:
        space = spaces.create(proven=False)
        refused = space.log_in(f"ann@{space.domain}")
        assert refusal(refused) == (403, "error.sso-email-not-allowed")

    def test_the_end_of_a_proof_ends_the_logins_at_once(self, spaces: Spaces, space: Space) -> None:
        logged_in(space.log_in(f"ann@{space.domain}"))
        space.unpublish()
        spaces.api.clock.advance(DAY)
        spaces.check_domains()
        logged_in(space.log_in(f"ann@{space.domain}"))
        spaces.api.clock.advance(7 * DAY)
        assert refusal(space.log_in(f"ann@{space.domain}")) == (403, "error.sso-email-not-allowed")

    def test_a_proof_that_ends_during_a_second_factor_ends_the_login(
        self, spaces: Spaces, space: Space
    ) -> None:
        challenged = space.log_in(space.admin.email)
        assert refusal(challenged) == (401, "error.second-factor-required")
        assert space.app is not None
        removed = spaces.api.delete(f"{space.path}/domains/{space.domain_id}", by=space.admin)
        assert removed.status_code == 200
        answered = spaces.finish(space, challenged)
        assert refusal(answered) == (403, "error.sso-domain-not-proven")


class TestAccountsThatExist:
    """An address leads to an account of this tenant, or of none."""

    def test_a_member_is_found_by_the_verified_address(self, spaces: Spaces, space: Space) -> None:
        ann = spaces.api.person(email=f"ann@{space.domain}")
        spaces.api.join(space.path, space.admin, ann)
        assert logged_in(space.log_in(ann.email)).id == ann.id

    def test_an_account_without_a_space_joins(self, spaces: Spaces, space: Space) -> None:
        ann = spaces.api.person(email=f"ann@{space.domain}")
        assert logged_in(space.log_in(ann.email)).id == ann.id
        assert space.members()[ann.id] == "member"

    def test_an_account_of_another_tenant_is_not_taken(self, spaces: Spaces, space: Space) -> None:
        ann = spaces.api.person(email=f"ann@{space.domain}")
        spaces.api.tenant(ann, "Elsewhere")
        refused = space.log_in(ann.email)
        assert refusal(refused) == (409, "error.sso-account-elsewhere")
        held = spaces.api.get("/users/me/credentials", by=ann).json["data"]
        assert [item["kind"] for item in held] == ["email"]

    def test_its_owner_connects_it(self, spaces: Spaces, space: Space) -> None:
        ann = spaces.api.person(email=f"ann@{space.domain}")
        spaces.api.tenant(ann, "Elsewhere")
        browser = Browser(spaces.api)
        redirect = space.redirect(browser, ann.email, by=ann)
        body = {**redirect, "heldCode": spaces.api.code(ann.email, "bind")}
        bound = browser.post(IDS, body, ann)
        assert bound.status_code == 201, bound.text
        assert logged_in(space.log_in(ann.email)).id == ann.id
        assert space.members()[ann.id] == "member"

    def test_an_administrator_of_the_server_is_not_taken(self, spaces: Spaces, space: Space) -> None:
        root = spaces.api.person(admin=True, email=f"root@{space.domain}")
        assert refusal(space.log_in(root.email)) == (409, "error.credential-conflict")

    def test_a_removed_member_needs_an_invitation(self, spaces: Spaces, space: Space) -> None:
        ann = logged_in(space.log_in(f"ann@{space.domain}"))
        member = f"{space.path}/members/{ann.id}"
        assert spaces.api.delete(member, by=space.admin).status_code == 200
        refused = space.log_in(f"ann@{space.domain}")
        assert refusal(refused) == (403, "error.sso-not-invited")
        assert ann.id not in space.members()
        spaces.api.join(space.path, space.admin, ann)
        assert logged_in(space.log_in(f"ann@{space.domain}")).id == ann.id

    def test_a_suspended_member_stays_suspended(self, spaces: Spaces, space: Space) -> None:
        ann = logged_in(space.log_in(f"ann@{space.domain}"))
        root = spaces.api.person(admin=True)
        assert spaces.api.post(f"/users/{ann.id}/suspension", {}, by=root).status_code < 300
        assert refusal(space.log_in(f"ann@{space.domain}")) == (403, "error.user-suspended")


class TestProviders:
    """What administrators do with providers."""

    def test_no_answer_has_the_secret(self, spaces: Spaces, space: Space) -> None:
        listed = spaces.api.get(f"{space.path}/identity-providers", by=space.admin)
        one = spaces.api.get(space.provider_path, by=space.admin)
        changed = space.change(clientSecret="another")
        for answer in (listed, one, changed):
            assert "clientSecret" not in answer.text
            assert CLIENT["clientSecret"] not in answer.text
        uri = f"https://files.example.com/api/v1/sso-authorizations/callback/{space.provider['id']}"
        assert one.json["redirectUri"] == uri

    def test_only_administrators_of_the_tenant_manage_them(self, spaces: Spaces, space: Space) -> None:
        member, root = spaces.api.person(), spaces.api.person(admin=True)
        spaces.api.join(space.path, space.admin, member)
        other = spaces.create(number=1)
        body = {"label": "X", "issuer": space.company.url, **CLIENT}
        for person in (member, root, other.admin):
            for answer in (
                spaces.api.post(f"{space.path}/identity-providers", body, by=person),
                spaces.api.get(f"{space.path}/identity-providers", by=person),
                spaces.api.get(space.provider_path, by=person),
                space.change(person, label="Evil"),
                spaces.api.post(f"{space.provider_path}/check", by=person),
                spaces.api.delete(space.provider_path, by=person),
            ):
                assert refusal(answer) == (403, "error.sso-forbidden")
        foreign = f"{other.path}/identity-providers/{space.provider['id']}"
        for answer in (
            spaces.api.get(foreign, by=other.admin),
            spaces.api.patch(foreign, {"label": "Evil"}, by=other.admin),
            spaces.api.post(f"{foreign}/check", by=other.admin),
            spaces.api.delete(foreign, by=other.admin),
        ):
            assert refusal(answer) == (404, "error.identity-provider-not-found")

    def test_the_issuer_never_changes(self, spaces: Spaces, space: Space) -> None:
        assert refusal(space.change(issuer=spaces.companies[1].url))[0] == 400

    def test_a_change_counts_at_once(self, spaces: Spaces, space: Space) -> None:
        logged_in(space.log_in(f"ann@{space.domain}"))
        began = Browser(spaces.api).post(REQUESTS, {"provider": space.provider["id"]})
        assert "client_id=files&" in began.json["url"]
        assert space.change(clientId="renamed").status_code == 200
        began = Browser(spaces.api).post(REQUESTS, {"provider": space.provider["id"]})
        assert "client_id=renamed&" in began.json["url"]

    def test_a_deleted_provider_logs_nobody_in_and_ends_its_logins(
        self, spaces: Spaces, space: Space
    ) -> None:
        ann = logged_in(space.log_in(f"ann@{space.domain}"))
        browser = Browser(spaces.api)
        redirect = space.redirect(browser, f"ann@{space.domain}")
        assert spaces.api.delete(space.provider_path, by=space.admin).status_code == 200
        assert spaces.api.get("/users/me", by=ann).status_code == 401
        assert refusal(browser.post(AUTHORIZATIONS, redirect))[0] in (400, 401)
        began = browser.post(REQUESTS, {"provider": space.provider["id"]})
        assert refusal(began) == (400, "error.sso-provider-unknown")

    def test_no_error_lists_the_providers_of_tenants(self, spaces: Spaces, space: Space) -> None:
        for body in ({}, {"provider": "unknown"}, {"provider": "\0"}):
            answer = Browser(spaces.api).post(REQUESTS, body)
            assert answer.status_code == 400
            assert space.provider["id"] not in answer.text

    def test_no_request_reaches_the_servers_network(self, spaces: Spaces, space: Space) -> None:
        for url in forbidden_urls():
            body = {"label": "X", "issuer": url, **CLIENT}
            created = spaces.api.post(f"{space.path}/identity-providers", body, by=space.admin)
            if created.status_code == 201:
                path = f"{space.path}/identity-providers/{created.json['id']}"
                checked = spaces.api.post(f"{path}/check", by=space.admin)
                assert checked.json["problem"] is not None, url
                assert spaces.api.delete(path, by=space.admin).status_code == 200
            else:
                assert created.status_code == 400, (url, created.text)

    def test_a_check_says_what_is_wrong(self, spaces: Spaces, space: Space) -> None:
        check = f"{space.provider_path}/check"
        assert spaces.api.post(check, by=space.admin).json == {"problem": None}
        space.company.issuer = "https://other.example"
        problem = spaces.api.post(check, by=space.admin).json["problem"]
        assert "another issuer" in problem

    def test_documents_are_fetched_once(self, space: Space) -> None:
        logged_in(space.log_in(f"ann@{space.domain}"))
        before = len(space.company.paths)
        logged_in(space.log_in(f"bob@{space.domain}"))
        assert space.company.paths[before:] == ["/token"]


def test_a_second_factor_of_the_server_is_asked_for(space: Space) -> None:
    """A tenant's provider cannot say that it has checked a second factor."""
    challenged = space.log_in(space.admin.email, amr=["mfa", "otp"], acr="urn:strongroom:mfa")
    assert refusal(challenged) == (401, "error.second-factor-required")
    assert space.app is not None
    finished = totp.meet(space.spaces.api, challenged.json["challenge"], totp=space.app.next_code())
    assert finished.json["user"]["id"] == space.admin.id
