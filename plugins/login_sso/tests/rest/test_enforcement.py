"""Enforced single sign-on: who is refused, who is not, and what a client learns."""

from typing import Any

import pytest
from sqlalchemy import event, update
from tests.support import totp
from tests.support.api import Answer, Json, Person, error_code

from strongroom.identity.users.models import credentials
from strongroom.plugin_api.pages import LoginRoute
from strongroom.testing.clock import HOUR
from strongroom.testing.server import PASSWORD
from strongroom_login_sso.plugin import register_login_routes

from .spaces import IDS, Space, Spaces

DAY = 24 * HOUR
REQUIRED = (403, "error.sso-required")


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status_code, error_code(answer)


def join(space: Space, name: str = "ann") -> Person:
    """Make a member with a verified address in the domain of a space."""
    person = space.spaces.api.person(email=f"{name}@{space.domain}")
    space.spaces.api.join(space.path, space.admin, person)
    return person


def remove_factors(spaces: Spaces, person: Person) -> None:
    for factor in spaces.api.get("/users/me/factors", by=person).json["data"]:
        removed = spaces.api.delete(f"/users/me/factors/{factor['id']}", by=person)
        assert removed.status_code == 200, removed.text


def test_members_log_in_by_the_provider_only(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    assert space.enforce().status_code == 200
    refused = spaces.api.log_in(ann.email)
    assert refusal(refused) == REQUIRED
    (detail,) = refused.json["error"]["details"]
    begin = f"/api/v1/sso-authorizations/begin?provider={space.provider['id']}"
    assert (detail["field"], detail["message"]) == ("loginPath", begin)
    code = spaces.api.code(ann.email, "login")
    assert refusal(spaces.api.log_in(ann.email, None, verificationCode=code)) == REQUIRED
    assert space.log_in(ann.email).json["user"]["id"] == ann.id


def test_a_client_without_the_proof_learns_nothing(spaces: Spaces, space: Space) -> None:
    ann, other = join(space), spaces.api.person()
    assert space.enforce().status_code == 200
    for email in (ann.email, other.email, f"nobody@{space.domain}"):
        wrong = spaces.api.log_in(email, "Wrong1Horse")
        assert refusal(wrong) == (401, "error.invalid-credentials")
        assert wrong.json["error"]["details"] == []


def test_turning_it_on_ends_other_logins_but_no_access_keys(spaces: Spaces, space: Space) -> None:
    ann, outside, guest = join(space), spaces.api.person(), spaces.api.person()
    spaces.api.join(space.path, space.admin, guest)
    body = {"name": "k", "scopes": ["tenants:read"], "currentPassword": PASSWORD}
    key = spaces.api.post("/users/me/access-keys", body, by=ann)
    assert key.status_code == 201, key.text
    by_sso = space.log_in(ann.email)
    assert space.enforce().status_code == 200
    assert spaces.api.get("/users/me", by=ann).status_code == 401
    token = Person(ann.id, ann.email, by_sso.json["accessToken"])
    assert spaces.api.get("/users/me", by=token).status_code == 200
    listed = spaces.api.get("/api/v1/tenants", by=Person("", "", key.json["key"]))
    assert listed.status_code == 200, listed.text
    for person in (outside, guest, space.admin):
        assert spaces.api.get("/users/me", by=person).status_code == 200


def test_a_new_membership_ends_other_logins(spaces: Spaces, space: Space) -> None:
    assert space.enforce().status_code == 200
    ann, guest = join(space), spaces.api.person()
    spaces.api.join(space.path, space.admin, guest)
    waiting = spaces.api.person(email=f"waiting@{space.domain}")
    by_sso = space.log_in(ann.email)
    space.deliver()
    assert spaces.api.get("/users/me", by=ann).status_code == 401
    token = Person(ann.id, ann.email, by_sso.json["accessToken"])
    assert spaces.api.get("/users/me", by=token).status_code == 200
    # The break-glass administrator, a guest of another domain, and one who is no member.
    for person in (space.admin, guest, waiting):
        assert spaces.api.get("/users/me", by=person).status_code == 200


def test_a_new_membership_ends_nothing_while_no_domain_is_proven(spaces: Spaces, space: Space) -> None:
    assert space.enforce().status_code == 200
    space.unpublish()
    spaces.api.clock.advance(8 * DAY)
    spaces.check_domains()
    spaces.api.clock.advance(8 * DAY)
    space.admin = spaces.again(space)
    ann = join(space)
    space.deliver()
    assert spaces.api.get("/users/me", by=ann).status_code == 200


def test_it_concerns_members_with_verified_addresses_only(spaces: Spaces, space: Space) -> None:
    guest, stranger = spaces.api.person(), spaces.api.person(email=f"eve@{space.domain}")
    spaces.api.join(space.path, space.admin, guest)
    root = spaces.api.person(admin=True, email=f"root@{space.domain}")
    spaces.api.join(space.path, space.admin, root)
    assert space.enforce().status_code == 200
    for person in (guest, stranger, root):
        assert spaces.api.log_in(person.email).status_code == 200


def test_a_member_does_not_evade_it_by_a_private_address(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    assert space.log_in(ann.email).json["user"]["id"] == ann.id
    with spaces.api.container.database.write() as connection:
        private = {"value": "ann@private.example", "written": None}
        mine = (credentials.c.user_id == ann.id) & (credentials.c.kind == "email")
        connection.execute(update(credentials).where(mine).values(private))
    assert spaces.api.get("/users/me", by=ann).status_code == 200
    assert space.enforce().status_code == 200
    # The login from before the enforcement has ended.
    assert spaces.api.get("/users/me", by=ann).status_code == 401
    assert refusal(spaces.api.log_in("ann@private.example")) == REQUIRED


def test_a_member_does_not_remove_the_id_at_the_provider(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    assert space.log_in(ann.email).json["user"]["id"] == ann.id
    assert space.enforce().status_code == 200
    ann = Person(ann.id, ann.email, space.log_in(ann.email).json["accessToken"])
    of_provider = f"{IDS}?provider={space.provider['id']}"
    for path in (of_provider, IDS):
        code = spaces.api.code(ann.email, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        assert refusal(spaces.api.delete(path, by=ann, headers=headers)) == REQUIRED
    assert space.change(enforced=False).status_code == 200
    code = spaces.api.code(ann.email, "unbind")
    headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
    assert spaces.api.delete(of_provider, by=ann, headers=headers).status_code == 200


def test_it_needs_a_login_of_an_administrator_within_an_hour(spaces: Spaces, space: Space) -> None:
    body: Json = {"enforced": True, "breakGlassIds": [space.admin.id]}
    assert refusal(space.change(**body)) == (409, "error.sso-not-tried")
    # A member's login does not show that administrators can log in.
    assert space.log_in(f"ann@{space.domain}").status_code == 200
    assert refusal(space.change(**body)) == (409, "error.sso-not-tried")
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    spaces.api.clock.advance(HOUR + 1)
    space.admin = spaces.again(space)
    assert refusal(space.change(**body)) == (409, "error.sso-not-tried")
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    assert space.change(**body).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"clientId": "other"},
        {"clientSecret": "other"},
        {"scopes": ["openid"]},
        {"claims": {"email": "mail"}},
        {"addressesVerified": True},
    ],
    ids=str,
)
def test_a_login_by_former_settings_does_not_count(spaces: Spaces, space: Space, change: Json) -> None:
    """Otherwise one wrong setting locks all members out, with the administrators."""
    body: Json = {"enforced": True, "breakGlassIds": [space.admin.id]}
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    space.admin = spaces.again(space)
    assert refusal(space.change(**change, **body)) == (409, "error.sso-not-tried")
    assert space.change(**change).status_code == 200
    assert refusal(space.change(**body)) == (409, "error.sso-not-tried")


def test_settings_that_stay_keep_the_login(spaces: Spaces, space: Space) -> None:
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    space.admin = spaces.again(space)
    same = {name: space.provider[name] for name in ("clientId", "scopes", "addressesVerified")}
    assert space.change(**same, label="Renamed").status_code == 200
    assert space.change(enforced=True, breakGlassIds=[space.admin.id]).status_code == 200


def test_it_needs_a_break_glass_administrator(spaces: Spaces, space: Space) -> None:
    member, deputy = join(space), spaces.api.person()
    spaces.api.join(space.path, space.admin, deputy, "admin")
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    space.admin = spaces.again(space)
    without = (409, "error.sso-without-break-glass")
    assert refusal(space.change(enforced=True)) == without
    assert refusal(space.change(enforced=True, breakGlassIds=[])) == without
    # One without a second factor, a member, and a stranger.
    for named in (deputy.id, member.id, spaces.api.person().id, "unknown"):
        assert refusal(space.change(enforced=True, breakGlassIds=[named])) == without
    assert space.change(enforced=True, breakGlassIds=[space.admin.id]).status_code == 200
    assert refusal(space.change(breakGlassIds=[])) == without
    assert space.change(enforced=False, breakGlassIds=[]).status_code == 200


def test_a_break_glass_administrator_must_be_one_when_it_begins(spaces: Spaces, space: Space) -> None:
    assert spaces.finish(space, space.log_in(space.admin.email)).status_code == 200
    space.admin = spaces.again(space)
    assert space.change(breakGlassIds=[space.admin.id]).status_code == 200
    remove_factors(spaces, space.admin)
    assert refusal(space.change(enforced=True)) == (409, "error.sso-without-break-glass")
    assert space.change(label="Renamed").status_code == 200


def test_a_break_glass_login_is_recorded_and_reported(spaces: Spaces, space: Space) -> None:
    deputy = spaces.api.person(email="deputy@elsewhere.example")
    spaces.api.join(space.path, space.admin, deputy, "admin")
    assert space.enforce().status_code == 200
    before = len(spaces.api.outbox())
    space.admin = spaces.again(space)
    sent = [item for item in spaces.api.outbox()[before:] if "single sign-on" in str(item)]
    assert [item["recipient"] for item in sent] == [deputy.email]
    root = spaces.api.person(admin=True)
    events = spaces.api.get("/audit-events?action=login_sso.break-glass", by=root).json["data"]
    assert events[0]["details"]["user"] == space.admin.id
    assert events[0]["details"]["tenant"] == space.id


def test_a_break_glass_administrator_must_still_be_one(spaces: Spaces, space: Space) -> None:
    deputy = spaces.api.person()
    spaces.api.join(space.path, space.admin, deputy, "admin")
    assert space.enforce().status_code == 200
    demoted = spaces.api.put(f"{space.path}/members/{space.admin.id}", {"role": "member"}, by=deputy)
    assert demoted.status_code == 200, demoted.text
    assert refusal(spaces.api.log_in(space.admin.email)) == REQUIRED


def test_a_break_glass_administrator_needs_the_second_factor(spaces: Spaces, space: Space) -> None:
    assert space.enforce().status_code == 200
    remove_factors(spaces, space.admin)
    assert refusal(spaces.api.log_in(space.admin.email)) == REQUIRED


def test_administrators_learn_that_none_can_log_in_otherwise(spaces: Spaces, space: Space) -> None:
    deputy = spaces.api.person(email="deputy@elsewhere.example")
    spaces.api.join(space.path, space.admin, deputy, "admin")
    app = totp.enrol(spaces.api, deputy)
    assert space.enforce().status_code == 200
    assert space.change(breakGlassIds=[space.admin.id, deputy.id]).status_code == 200
    assert warned(space) == []
    remove_factors(spaces, space.admin)
    # The deputy still can.
    assert warned(space) == []
    spaces.api.clock.advance(31_000)
    challenge = spaces.api.log_in(deputy.email).json["challenge"]
    again = totp.meet(spaces.api, challenge, totp=app.next_code()).json["accessToken"]
    remove_factors(spaces, Person(deputy.id, deputy.email, again))
    assert warned(space) == sorted([space.admin.email, deputy.email])


def warned(space: Space) -> list[str]:
    """Return who is warned when the events are delivered."""
    before = len(space.spaces.api.outbox())
    space.deliver()
    sent = space.spaces.api.outbox()[before:]
    return sorted({item["recipient"] for item in sent if "If the provider fails" in str(item)})


def test_only_named_administrators_log_in_otherwise(spaces: Spaces, space: Space) -> None:
    deputy = join(space, "deputy")
    spaces.api.join(space.path, space.admin, deputy, "admin")
    app = totp.enrol(spaces.api, deputy)
    assert space.enforce().status_code == 200
    refused = spaces.api.log_in(deputy.email)
    assert refusal(refused) == REQUIRED
    assert app.secret not in refused.text


def test_the_step_after_a_first_proof_is_refused_too(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    app = totp.enrol(spaces.api, ann)
    challenge = spaces.api.log_in(ann.email).json["challenge"]
    assert space.enforce().status_code == 200
    assert refusal(totp.meet(spaces.api, challenge, totp=app.next_code())) == REQUIRED


def test_a_domain_that_is_lost_enforces_nothing(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    assert space.enforce().status_code == 200
    space.unpublish()
    spaces.api.clock.advance(DAY)
    spaces.check_domains()
    assert refusal(spaces.api.log_in(ann.email)) == REQUIRED
    spaces.api.clock.advance(7 * DAY)
    assert spaces.api.log_in(ann.email).status_code == 200


def test_turning_it_off_lets_members_log_in_otherwise(spaces: Spaces, space: Space) -> None:
    ann = join(space)
    assert space.enforce().status_code == 200
    assert space.change(enforced=False).status_code == 200
    assert spaces.api.log_in(ann.email, PASSWORD).status_code == 200


def test_the_provider_of_another_tenant_is_another_way(spaces: Spaces, space: Space) -> None:
    """Ann connects the provider of a second tenant, where she may log in by a verified address, too."""
    ann, other = join(space), spaces.create(number=1)
    assert space.enforce().status_code == 200
    refused = other.log_in(ann.email)
    assert refusal(refused) == (403, "error.sso-email-not-allowed")


class TestRoutes:
    """A login page finds the provider by the domain."""

    def test_a_proven_domain_leads_to_its_provider(self, spaces: Spaces, space: Space) -> None:
        found = spaces.route(f"anyone@{space.domain.upper()}").json
        provider = space.provider["id"]
        begin = f"/api/v1/sso-authorizations/begin?provider={provider}"
        assert found == {
            "enforced": False,
            "provider": {
                "name": provider,
                "displayName": "Company 1",
                "loginUrl": f"https://files.example.com{begin}",
                "request": {
                    "path": "/api/v1/sso-authorization-requests",
                    "body": {"provider": provider},
                },
            },
        }
        assert space.enforce().status_code == 200
        assert spaces.route(f"anyone@{space.domain}").json["enforced"] is True

    def test_it_does_not_depend_on_accounts(self, spaces: Spaces, space: Space) -> None:
        ann = join(space)
        assert spaces.route(ann.email).json == spaces.route(f"nobody@{space.domain}").json

    def test_all_other_domains_have_the_same_answer(self, spaces: Spaces, space: Space) -> None:
        unproven = spaces.create(proven=False, number=1)
        lost = spaces.create(number=2)
        lost.unpublish()
        spaces.api.clock.advance(DAY)
        spaces.check_domains()
        spaces.api.clock.advance(7 * DAY)
        addresses = (
            "ann@unknown.example",
            f"ann@{unproven.domain}",
            unproven.admin.email,
            f"ann@{lost.domain}",
            lost.admin.email,
            f"ann@sub.{space.domain}",
            "ann@gmail.com",
            f"ann@{'x' * 60}.example",
        )
        answers = [spaces.route(address) for address in addresses]
        assert {answer.text for answer in answers} == {'{"provider":null,"enforced":false}\n'}
        volatile = {"Date", "X-Request-Id"}
        headers = [
            {name: value for name, value in answer.headers.items() if name not in volatile}
            for answer in answers
        ]
        assert all(item == headers[0] for item in headers)

    def test_all_domains_cost_the_same_statements(self, spaces: Spaces, space: Space) -> None:
        unproven = spaces.create(proven=False, number=1)
        statements: list[str] = []

        def note(_: Any, __: Any, statement: str, *___: Any) -> None:
            statements.append(statement)

        def lookup(address: str) -> list[str]:
            statements.clear()
            assert spaces.route(address).status_code == 200
            return [*statements]

        event.listen(spaces.api.container.database.engine, "before_cursor_execute", note)
        expected = lookup("ann@unknown.example")
        assert len(expected) > 0
        for address in (f"ann@{unproven.domain}", unproven.admin.email, f"ann@{space.domain}"):
            assert lookup(address) == expected

    def test_lookups_are_limited(self, spaces: Spaces) -> None:
        answers = [spaces.route(f"ann{number}@x.example").status_code for number in range(61)]
        assert answers == [200] * 60 + [429]

    def test_the_login_page_offers_the_provider(self, spaces: Spaces, space: Space) -> None:
        (find,) = register_login_routes(spaces.api.container.hosts.get("login_sso"))
        path = f"/api/v1/sso-authorizations/begin?provider={space.provider['id']}"
        labels = {"en": "Log in with Company 1", "zh": "Company 1登录"}
        assert find(f" Anyone@{space.domain} ") == LoginRoute(path, labels)
        assert space.enforce().status_code == 200
        assert find(space.admin.email) == LoginRoute(path, labels, is_required=True)
        for name in ("ann", "", "@", "+8613800138000", "ann@unknown.example", "a" * 10_000):
            assert find(name) is None

    def test_no_address_is_no_question(self, spaces: Spaces) -> None:
        for text in ("", "ann", "@x.example", "ann@"):
            assert spaces.route(text).status_code == 400
