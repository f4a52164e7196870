"""No attempt to enter another person's account, or another tenant, by single sign-on succeeds.

Each attempt names who attacks whom and how. Afterwards the victim is as before, with its credentials and
memberships. :class:`TestControls` shows that the honest logins succeed, so that each attempt is
refused for its own reason.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from tests.support.api import Answer, Api, Json, Person
from tests.support.databases import SqliteDatabases
from tests.support.wechat import Browser

from strongroom.foundation.caller import Origin
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.testing.clock import HOUR
from strongroom.testing.server import PASSWORD

from ..company import CLIENT
from .spaces import AUTHORIZATIONS, IDS, REQUESTS, Space, Spaces, running_spaces

DAY: Final = 24 * HOUR
REFUSED: Final = range(400, 500)


@dataclass
class World:
    """Three tenants.

    Args:
        ours: the attackers' tenant, with a proven domain and a provider that states what they like.
        theirs: the victims' tenant, with another domain and provider.
        enforced: a tenant with enforced single sign-on.
        unproven: a tenant whose domain was never proven.
        expired: a tenant whose proof has ended.
    """

    spaces: Spaces
    ours: Space
    theirs: Space
    enforced: Space
    unproven: Space
    expired: Space
    number: int = 0

    @property
    def api(self) -> Api:
        return self.spaces.api

    def victim(self, space: Space, *, member: bool = True, domain: str | None = None) -> "Victim":
        """Return a new person with a verified address, who perhaps is a member of a tenant."""
        self.number += 1
        email = f"victim{self.number}@{domain or space.domain}"
        if space is self.enforced:
            # With a password from before the enforcement.
            registration = Registration(name="Victim", password=PASSWORD, email=email)
            user = self.api.container.get(RegistrationService).create(registration, Origin())
            self.api.join(space.path, space.admin, Person(user.id, email, None))
            answer = space.log_in(email)
            assert answer.json["user"]["id"] == user.id
            return Victim(self, space, Person(user.id, email, answer.json["accessToken"]))
        person = self.api.person(email=email)
        if member:
            self.api.join(space.path, space.admin, person)
        return Victim(self, space, person)


class Victim:
    """A person whose account attempts must leave as it is."""

    def __init__(self, world: World, space: Space, person: Person) -> None:
        self._api, self.space, self.person = world.api, space, person
        self._before = self._state()

    @property
    def email(self) -> str:
        return self.person.email

    def is_untouched_by(self, attempt: Answer) -> None:
        """Assert that an attempt has logged in another user, or none, and changed nothing."""
        if attempt.status_code == 200 and "accessToken" in (attempt.json or {}):
            assert attempt.json["user"]["id"] != self.person.id
        else:
            assert attempt.status_code in REFUSED, attempt.text
        assert self._state() == self._before

    def _state(self) -> Any:
        held = self._api.get("/users/me/credentials", by=self.person).json["data"]
        listed = self._api.get("/api/v1/tenants", by=self.person).json["data"]
        return (
            {(item["kind"], item["value"]) for item in held},
            {item["id"] for item in listed},
        )


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases
) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("takeovers")
    with sqlite_databases.create() as url, running_spaces(folder, url) as spaces:
        expired = spaces.create(number=2)
        expired.unpublish()
        spaces.api.clock.advance(DAY)
        spaces.check_domains()
        spaces.api.clock.advance(8 * DAY)
        ours, theirs = spaces.create(), spaces.create(number=1)
        enforced, unproven = spaces.create(number=2), spaces.create(proven=False, number=2)
        assert enforced.enforce().status_code == 200
        for space in (ours, theirs, enforced, unproven):
            space.admin = spaces.again(space)
        yield World(spaces, ours, theirs, enforced, unproven, expired)


Attempt = Callable[[World], None]

ADDRESSES: Final[dict[str, str]] = {
    "the address": "{local}@{domain}",
    "in capitals": "{upper}@{updomain}",
    "of a subdomain": "{local}@x.{domain}",
    "with a dot": "{local}@{domain}.",
    "with two at signs": "{local}@{domain}@{own}",
    "in quotes": '"{local}@{domain}"@{own}',
    "with a percent sign": "{local}%{domain}@{own}",
    "with a comma": "x@{own},{local}@{domain}",
    "with a space": "x@{own} {local}@{domain}",
    "with a line end": "{local}@{domain}\n@{own}",
    "with a null character": "{local}@{domain}\0@{own}",
    "as a name": "Ann <{local}@{domain}>",
    "with our domain before": "{local}@{own}.{domain}",
    "with our domain behind": "{local}@{domain}.{own}",
    "full-width at": "{local}\uff20{domain}",
    "full-width dot": "{local}@{flat}",
    "soft hyphen": "{local}\u00ad@{domain}",
    "right to left": "\u202e{local}@{domain}",
}


def written(text: str, victim: Victim, own: str) -> str:
    local, _, domain = victim.email.partition("@")
    return text.format(
        local=local,
        domain=domain,
        own=own,
        upper=local.upper(),
        updomain=domain.upper(),
        flat=domain.replace(".", "\uff0e"),
    )


@pytest.mark.parametrize("verified", [True, "true", None, False], ids=repr)
@pytest.mark.parametrize("name", ADDRESSES)
def test_our_provider_states_an_address_of_another_domain(
    world: World, name: str, verified: Any
) -> None:
    """18 spellings, each stated as verified or not: 72 attempts."""
    victim = world.victim(world.theirs)
    address = written(ADDRESSES[name], victim, world.ours.domain)
    victim.is_untouched_by(world.ours.log_in(address, sub=f"attacker-{name}", email_verified=verified))


@pytest.mark.parametrize(
    "claims",
    [
        {"email": ["{email}"]},
        {"email": {"value": "{email}"}},
        {"emails": ["{email}"], "email": None},
        {"preferred_username": "{email}", "upn": "{email}", "email": None},
        {"verified_primary_email": ["{email}"], "email": None},
        {"email": "{email}", "email_verified": [True]},
        {"email": "{email}", "email_verified": 1},
        {"email": "{email}", "hd": "{domain}"},
        {"email": "{email}", "externalId": "{id}", "sub": "{id}"},
        {"email": None, "sub": "{id}"},
        {"email": None, "sub": "{email}"},
    ],
    ids=repr,
)
def test_other_claims_of_our_provider_lead_nowhere(world: World, claims: Json) -> None:
    """11 attempts by claims, ids and external ids."""
    victim = world.victim(world.theirs)
    parts = {
        "email": victim.email,
        "domain": victim.space.domain,
        "id": victim.person.id,
    }

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {name: filled(item) for name, item in value.items()}
        return value.format(**parts) if isinstance(value, str) else value

    members = {name: filled(value) for name, value in claims.items()}
    victim.is_untouched_by(world.ours.log_in(victim.email, **{"sub": "mallory", **members}))


@pytest.mark.parametrize("kind", ["unproven", "expired"])
@pytest.mark.parametrize("member", [True, False], ids=["member", "stranger"])
@pytest.mark.parametrize("verified", [True, None, False], ids=repr)
def test_a_domain_that_is_not_proven_logs_nobody_in(
    world: World, kind: str, *, member: bool, verified: bool | None
) -> None:
    """12 attempts."""
    space: Space = getattr(world, kind)
    space.admin = world.spaces.again(space)
    victim = world.victim(space, member=member)
    victim.is_untouched_by(space.log_in(victim.email, email_verified=verified))


class TestOtherTenants:
    """Accounts of other tenants, also with an address in our proven domain."""

    @pytest.mark.parametrize("route", ["login", "login again", "with addressesVerified"])
    def test_a_user_of_another_tenant_with_an_address_of_our_domain(
        self, world: World, route: str
    ) -> None:
        victim = world.victim(world.theirs, domain=world.ours.domain)
        claims = {"email_verified": None} if route == "with addressesVerified" else {}
        if claims:
            assert world.ours.change(addressesVerified=True).status_code == 200
        for _ in range(2 if route == "login again" else 1):
            victim.is_untouched_by(world.ours.log_in(victim.email, **claims))
        assert world.ours.change(addressesVerified=False).status_code == 200

    def test_a_new_person_of_their_domain(self, world: World) -> None:
        """No account exists yet, so that the address would be the attacker's in their tenant, too."""
        for verified in (True, "true"):
            email = f"newcomer@{world.theirs.domain}"
            attempt = world.ours.log_in(email, sub="newcomer", email_verified=verified)
            assert attempt.status_code == 403, attempt.text
        root = world.api.person(admin=True)
        assert world.api.get(f"/users?q=newcomer@{world.theirs.domain}", by=root).json["data"] == []

    def test_a_subject_of_their_provider_at_ours(self, world: World) -> None:
        answer = world.theirs.log_in(f"bob{world.number}@{world.theirs.domain}", sub="bob")
        bob = Person(answer.json["user"]["id"], "", answer.json["accessToken"])
        victim = Victim(world, world.theirs, bob)
        victim.is_untouched_by(world.ours.log_in(f"bob@{world.ours.domain}", sub="bob"))
        for sub in (f"{world.theirs.provider['id']}:bob", "bob\0", "bob ", "BOB"):
            victim.is_untouched_by(world.ours.log_in(f"x@{world.ours.domain}", sub=sub))

    def test_an_administrator_of_the_server(self, world: World) -> None:
        root = world.api.person(admin=True, email=f"root{world.number}@{world.ours.domain}")
        victim = Victim(world, world.ours, root)
        for verified in (True, "true", None):
            victim.is_untouched_by(world.ours.log_in(root.email, email_verified=verified))

    def test_an_unverified_holder_of_the_address(self, world: World) -> None:
        """Pre-hijacking: the attacker was first, with an address that no proof has verified."""
        victim = world.victim(world.ours, member=False)
        with world.api.container.database.write() as connection:
            query = f"UPDATE credentials SET is_verified = false WHERE value = '{victim.email}'"
            connection.exec_driver_sql(query)
        victim.is_untouched_by(world.ours.log_in(victim.email))

    @pytest.mark.parametrize("field", ["provider", "state of another"])
    def test_an_answer_of_our_provider_for_their_login(self, world: World, field: str) -> None:
        """Mix-up: our code is sent to the redirect of their provider, and the other way round."""
        victim = world.victim(world.theirs)
        browser = Browser(world.api)
        began = browser.post(REQUESTS, {"provider": world.theirs.provider["id"]})
        redirect = world.ours.redirect(browser, victim.email)
        state = began.json["state"] if field == "state of another" else redirect["state"]
        victim.is_untouched_by(browser.post(AUTHORIZATIONS, {**redirect, "state": state}))

    def test_binding_takes_no_address_of_others(self, world: World) -> None:
        victim = world.victim(world.ours, member=False)
        attacker = world.api.person()
        browser = Browser(world.api)
        redirect = world.ours.redirect(browser, victim.email, by=attacker)
        body = {**redirect, "heldCode": world.api.code(attacker.email, "bind")}
        victim.is_untouched_by(browser.post(IDS, body, attacker))

    @pytest.mark.parametrize("by", ["ours", "member", "nobody"])
    @pytest.mark.parametrize("what", ["patch", "delete", "check", "verification", "remove", "create"])
    def test_nobody_changes_the_sign_in_of_another_tenant(
        self, world: World, by: str, what: str
    ) -> None:
        """18 attempts to let another provider speak for the victims' domain."""
        victim = world.victim(world.theirs)
        person = {"ours": world.ours.admin, "member": victim.person, "nobody": None}[by]
        path, domain = world.theirs.provider_path, f"{world.theirs.path}/domains"
        attempt = {
            "patch": lambda: world.api.patch(path, {"clientId": "evil"}, by=person),
            "delete": lambda: world.api.delete(path, by=person),
            "check": lambda: world.api.post(f"{path}/check", by=person),
            "verification": lambda: world.api.post(
                f"{domain}/{world.theirs.domain_id}/verification", by=person
            ),
            "remove": lambda: world.api.delete(f"{domain}/{world.theirs.domain_id}", by=person),
            "create": lambda: world.api.post(
                f"{world.theirs.path}/identity-providers",
                {"label": "Evil", "issuer": world.ours.company.url, **CLIENT},
                by=person,
            ),
        }[what]()
        assert attempt.status_code in (401, 403, 404)
        victim.is_untouched_by(attempt)

    def test_their_domain_is_not_proven_by_us(self, world: World) -> None:
        victim = world.victim(world.theirs)
        added = world.api.post(
            f"{world.ours.path}/domains", {"domain": victim.space.domain}, by=world.ours.admin
        )
        path = f"{world.ours.path}/domains/{added.json['id']}/verification"
        victim.is_untouched_by(world.api.post(path, by=world.ours.admin))
        victim.is_untouched_by(world.ours.log_in(victim.email))
        shown = world.api.get(f"{world.ours.path}/domains/{added.json['id']}", by=world.ours.admin)
        # Even with our record in their zone, while theirs is there.
        texts = world.spaces.dns.texts[f"{shown.json['recordName']}."]
        texts.append(shown.json["recordValue"])
        victim.is_untouched_by(world.api.post(path, by=world.ours.admin))
        victim.is_untouched_by(world.ours.log_in(victim.email))
        texts.remove(shown.json["recordValue"])


METHODS: Final = ("password", "code", "another provider", "another tenant", "link")


class TestEnforcedTenant:
    """Members of a tenant with enforced single sign-on."""

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("role", ["member", "records", "admin"])
    def test_no_other_method_logs_a_member_in(self, world: World, method: str, role: str) -> None:
        """15 attempts with right proofs; an administrator who is not named is no break-glass one."""
        space, api = world.enforced, world.api
        victim = world.victim(space)
        api.join(space.path, space.admin, victim.person, role)
        attempt = {
            "password": lambda: api.log_in(victim.email, PASSWORD),
            "code": lambda: api.log_in(
                victim.email, None, verificationCode=api.code(victim.email, "login")
            ),
            "another provider": lambda: world.theirs.log_in(victim.email),
            "another tenant": lambda: world.ours.log_in(victim.email, sub=victim.email),
            "link": lambda: api.post(
                "/authorizations", {"username": victim.email, "password": PASSWORD, "link": True}
            ),
        }[method]()
        assert attempt.status_code in REFUSED, attempt.text
        victim.is_untouched_by(attempt)

    @pytest.mark.parametrize("change", [{"enforced": False}, {"breakGlassIds": ["{id}"]}], ids=repr)
    def test_no_member_changes_the_enforcement(self, world: World, change: Json) -> None:
        victim = world.victim(world.enforced)
        body = {
            name: [victim.person.id] if name == "breakGlassIds" else value
            for name, value in change.items()
        }
        attempt = world.enforced.change(victim.person, **body)
        assert attempt.status_code == 403
        victim.is_untouched_by(attempt)
        assert world.api.get(world.enforced.provider_path, by=world.enforced.admin).json["enforced"]


class TestControls:
    """The honest logins succeed."""

    def test_a_member_logs_in_by_the_own_provider(self, world: World) -> None:
        for space in (world.ours, world.theirs):
            victim = world.victim(space)
            answer = space.log_in(victim.email)
            assert answer.json["user"]["id"] == victim.person.id, answer.text

    def test_a_member_of_the_enforced_tenant_logs_in_by_it(self, world: World) -> None:
        victim = world.victim(world.enforced)
        assert world.enforced.log_in(victim.email).json["user"]["id"] == victim.person.id
