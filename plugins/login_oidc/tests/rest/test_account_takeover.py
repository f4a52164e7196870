"""No attempt to take over a user by an e-mail address succeeds, with any preset.

Each attempt has a victim of its own, who has verified an address here. It asserts which user is logged
in, and that no account of a platform became a credential of the victim.
"""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.support.api import Answer, Person, error_code
from tests.support.databases import SqliteDatabases

from strongroom_login_oidc.presets import PRESETS
from strongroom_simulators.oidc_providers.microsoft import PERSONAL_TENANT
from strongroom_simulators.oidc_providers.samples import OTHER_TENANT

from .platforms import TRUSTED, Platforms, platforms

WITH_ADDRESSES: Final = sorted(set(PRESETS) - {"microsoft", "qq"})
WITH_CLAIMS: Final = sorted(set(WITH_ADDRESSES) - {"github", "gitee"})

SAMPLED: Final = ("apple", "github", "google", "keycloak")


def each(presets: list[str]) -> pytest.MarkDecorator:
    """Return the parameter ``preset``: the sampled ones, and in extended runs all of them."""
    others = pytest.mark.extended
    return pytest.mark.parametrize(
        "preset", [pytest.param(name, marks=[] if name in SAMPLED else [others]) for name in presets]
    )


# {local} and {domain} are the parts of the victim's address.
TEXTS: Final[dict[str, Any]] = {
    "full-width start": "\uff56\uff49{tail}@{domain}",
    "full-width letter": "\uff56{rest}@{domain}",
    "full-width at": "{local}\uff20{domain}",
    "full-width dot": "{local}@{name}\uff0e{top}",
    "ideographic dot": "{local}@{name}\u3002{top}",
    "half-width dot": "{local}@{name}\uff61{top}",
    "Cyrillic": "{local}@{name}.\u043erg",
    "Cyrillic local part": "v\u0456{tail}@{domain}",
    "Greek": "{local}@{name}.\u03bfrg",
    "Turkish I": "V\u0130{tail}@{domain}",
    "dotless i": "v\u0131{tail}@{domain}",
    "mathematical": "\U0001d42f{rest}@{domain}",
    "circled": "\u24e5{rest}@{domain}",
    "superscript": "\u1d5b{rest}@{domain}",
    "combining mark": "v\u0307{rest}@{domain}",
    "soft hyphen": "{local}\u00ad@{domain}",
    "zero width space": "{local}\u200b@{domain}",
    "zero width joiner": "v\u200d{rest}@{domain}",
    "byte order mark": "\ufeff{local}@{domain}",
    "right to left": "\u202e{local}@{domain}",
    "plus": "{local}+x@{domain}",
    "dots": "v.{rest}@{domain}",
    "trailing dot": "{local}@{domain}.",
    "two dots": "{local}@{name}..{top}",
    "leading space": " {local}@{domain}",
    "trailing space": "{local}@{domain} ",
    "no-break space": "{local}@{domain}\u00a0",
    "tab": "{local}@{domain}\t",
    "newline": "{local}@{domain}\n",
    "header": "{local}@{domain}\r\nCc: x@evil.example",
    "two, comma": "{local}@{domain},x@evil.example",
    "two, semicolon": "x@evil.example;{local}@{domain}",
    "two at": "{local}@{domain}@evil.example",
    "percent": "{local}%{domain}@evil.example",
    "quoted": '"{local}"@{domain}',
    "quoted at": '"{local}@{domain}"@evil.example',
    "comment": "{local}(x)@{domain}",
    "name": "Victim <{local}@{domain}>",
    "mailto": "mailto:{local}@{domain}",
    "IDNA look-alike": "{local}@xn--exmple-cua.org",
    "IDNA text": "{local}@ex\u00e4mple.org",
    "subdomain": "{local}@{domain}.evil.example",
    "parent": "{local}@evil-{domain}",
    "list": ["{local}@{domain}"],
    "object": {"value": "{local}@{domain}"},
    "number": 1,
    "empty": "",
}
"""Texts that look like the victim's address, or become it when they are normalised."""

UNVERIFIED: Final = (
    False, None, "TRUE", "True", "yes", "1", 1, 1.0, [True], {"x": True}, "false", "true ", ""
)  # fmt: skip
"""Values of ``email_verified`` that say nothing."""


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases
) -> Iterator[Platforms]:
    folder = tmp_path_factory.mktemp("platforms")
    with sqlite_databases.create() as url, platforms(folder, url) as served:
        yield served


@pytest.fixture(scope="module")
def victim(served: Platforms) -> "Victim":
    """The victim of the attempts that change nothing."""
    return Victim(served)


class Victim:
    """A user with a verified address. Attempts must leave the user as it is."""

    number = 0

    def __init__(self, served: Platforms) -> None:
        Victim.number += 1
        self.local = f"victim{Victim.number}"
        self._served = served
        self.person: Person = served.api.person(email=f"{self.local}@example.org")
        self._before = served.credentials(self.person)

    @property
    def email(self) -> str:
        return self.person.email

    def similar(self, text: Any) -> Any:
        """Return a text of :data:`TEXTS` with the parts of the address."""
        if isinstance(text, list):
            return [self.similar(item) for item in text]
        if isinstance(text, dict):
            return {name: self.similar(item) for name, item in text.items()}
        if not isinstance(text, str):
            return text
        parts = {"rest": self.local[1:], "tail": self.local[2:], "name": "example", "top": "org"}
        return text.format(local=self.local, domain="example.org", **parts)

    def is_untouched_by(self, attempt: Answer) -> None:
        """Assert that an attempt has logged in another user, or none, and linked nothing."""
        if attempt.status_code == 200:
            assert attempt.json["user"]["id"] != self.person.id
        else:
            assert attempt.status_code in (401, 403, 409), attempt.text
        assert self._served.credentials(self.person) == self._before


def _cases(names: list[str]) -> list[Any]:
    """Return each attempt with one preset for each run, and with all of them in extended runs."""
    return [
        pytest.param(
            name, preset, marks=[] if number % len(presets) == index else [pytest.mark.extended]
        )
        for number, name in enumerate(names)
        for presets in [WITH_ADDRESSES]
        for index, preset in enumerate(presets)
    ]


@pytest.mark.parametrize(("attempt", "preset"), _cases(list(TEXTS)))
def test_a_similar_address_is_another_one(
    served: Platforms, victim: Victim, attempt: str, preset: str
) -> None:
    text = victim.similar(TEXTS[attempt])
    claims = {"hd": "evil.example"} if preset == "google" else {}
    attacker = served.account(preset, text, **claims)
    victim.is_untouched_by(served.log_in(preset + TRUSTED, attacker))


@pytest.mark.parametrize("is_verified", UNVERIFIED, ids=repr)
@each(WITH_CLAIMS)
def test_an_unverified_address_is_none(
    served: Platforms, victim: Victim, preset: str, is_verified: Any
) -> None:
    claims = {"hd": "example.org"} if preset == "google" else {}
    name = "emailVerified" if preset == "casdoor" else "email_verified"
    for email in (victim.email, victim.email.upper()):
        attacker = served.account(preset, email, **claims, **{name: is_verified})
        victim.is_untouched_by(served.log_in(preset + TRUSTED, attacker))


@pytest.mark.parametrize("preset", ["github", "gitee"])
@pytest.mark.parametrize(
    "changes",
    [
        {"verified": False, "state": "unconfirmed"},
        {"verified": "true", "state": "CONFIRMED"},
        {"verified": 1, "state": True},
        {"primary": False, "scope": []},
        {"primary": "true", "scope": "primary"},
    ],
    ids=repr,
)
def test_an_unverified_or_secondary_address_of_a_list_is_none(
    served: Platforms, victim: Victim, preset: str, changes: dict[str, Any]
) -> None:
    item = {"primary": True, "verified": True, "state": "confirmed", "scope": ["primary"], **changes}
    emails = [{"email": victim.email, **item}]
    attacker = served.account(preset, None, emails=emails, public_email=victim.email)
    victim.is_untouched_by(served.log_in(preset + TRUSTED, attacker))


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_no_address_counts_by_default(served: Platforms, victim: Victim, preset: str) -> None:
    for email in (victim.email, victim.email.upper()):
        attacker = served.account(preset, email, **({"hd": "example.org"} if preset == "google" else {}))
        attempt = served.log_in(preset, attacker)
        assert attempt.status_code == 200
        victim.is_untouched_by(attempt)
        # Neither did the address become one of the attacker's user.
        again = served.api.log_in(victim.email)
        assert again.json["user"]["id"] == victim.person.id


@each(WITH_ADDRESSES)
def test_a_trusted_verified_address_logs_in_its_user(served: Platforms, preset: str) -> None:
    """What the other tests refuse is refused for its own reason: this login succeeds."""
    user = served.api.person(email=f"owner.{preset}@example.org")
    account = served.account(preset, user.email)
    answer = served.log_in(preset + TRUSTED, account)
    assert answer.status_code == 200, answer.text
    assert answer.json["user"]["id"] == user.id
    assert ("oidc", f"{preset}{TRUSTED}:{account.subject}") in served.credentials(user)


@each(WITH_ADDRESSES)
def test_an_address_that_changed_at_the_platform_moves_to_no_other_user(
    served: Platforms, preset: str
) -> None:
    victim = Victim(served)
    attacker = served.account(preset, f"attacker.{victim.local}@example.org")
    own = served.log_in(preset + TRUSTED, attacker).json["user"]["id"]
    moved = served.move(preset, attacker, victim.email)
    attempt = served.log_in(preset + TRUSTED, moved)
    assert (attempt.status_code, error_code(attempt)) == (409, "error.credential-conflict")
    victim.is_untouched_by(attempt)
    assert served.log_in(preset, moved).json["user"]["id"] != own
    victim.is_untouched_by(served.log_in(preset, moved))


@each(WITH_ADDRESSES)
def test_a_user_who_registered_the_victims_address_gets_no_account_of_the_victim(
    served: Platforms, preset: str
) -> None:
    """Pre-hijacking: the attacker is first, with an address that no proof has verified."""
    attacker = Victim(served)
    with served.api.container.database.write() as connection:
        query = f"UPDATE credentials SET is_verified = false WHERE value = '{attacker.email}'"
        connection.exec_driver_sql(query)
    owner = served.account(preset, attacker.email)
    attempt = served.log_in(preset + TRUSTED, owner)
    assert (attempt.status_code, error_code(attempt)) == (409, "error.credential-conflict")
    attacker.is_untouched_by(attempt)


@pytest.mark.parametrize("preset", ["github", "gitee"])
def test_a_name_that_another_account_takes_is_another_person(served: Platforms, preset: str) -> None:
    victim = Victim(served)
    first = served.account(preset, None, login="famous")
    assert served.bind(preset, first, victim.person).status_code == 201
    bound = served.credentials(victim.person)
    heir = served.account(preset, victim.email, login="famous", name="famous")
    attempt = served.log_in(preset, heir)
    assert attempt.json["user"]["id"] != victim.person.id
    assert served.credentials(victim.person) == bound


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_deleted_account_whose_address_is_used_again_is_another_person(
    served: Platforms, preset: str
) -> None:
    victim = Victim(served)
    first = served.account(preset, victim.email)
    assert served.bind(preset, first, victim.person).status_code == 201
    heir = served.account(preset, victim.email)
    assert served.log_in(preset, heir).json["user"]["id"] != victim.person.id
    assert served.log_in(preset, first).json["user"]["id"] == victim.person.id


SUBJECTS: Final = (
    "{sub} ", " {sub}", "{sub}\u00a0", "{sub}\u200b", "{upper}", "{full}", "0{sub}", "{sub}.0", "{sub}:",
    "{sub}\0", "{sub}\n", "%s{sub}", "{sub}%00", "../{sub}", "keycloak:{sub}",
)  # fmt: skip


@pytest.mark.parametrize("text", SUBJECTS, ids=repr)
@pytest.mark.parametrize("preset", ["google", pytest.param("keycloak", marks=pytest.mark.extended)])
def test_a_similar_subject_is_another_person(served: Platforms, preset: str, text: str) -> None:
    victim = Victim(served)
    first = served.account(preset, None)
    first = served.change(preset, first, subject=f"abc{first.subject}")
    assert served.bind(preset, first, victim.person).status_code == 201
    bound = served.credentials(victim.person)
    sub = first.subject
    similar = text.format(sub=sub, upper=sub.upper(), full=sub.replace("a", "\uff41"))
    attempt = served.log_in(preset, served.change(preset, served.account(preset), subject=similar))
    assert attempt.status_code in (200, 401)
    if attempt.status_code == 200:
        assert attempt.json["user"]["id"] != victim.person.id
    assert served.credentials(victim.person) == bound


@each(WITH_ADDRESSES)
def test_the_same_subject_at_another_platform_is_another_person(served: Platforms, preset: str) -> None:
    victim = Victim(served)
    first = served.account(preset, None)
    assert served.bind(preset, first, victim.person).status_code == 201
    other = "gitlab" if preset != "gitlab" else "zitadel"
    twin = served.change(other, served.account(other), subject=first.subject)
    assert served.log_in(other, twin).json["user"]["id"] != victim.person.id


@each(WITH_ADDRESSES)
def test_binding_an_account_with_the_victims_address_takes_nothing(
    served: Platforms, preset: str
) -> None:
    victim, attacker = Victim(served), Victim(served)
    account = served.account(preset, victim.email)
    refused = served.bind(preset + TRUSTED, account, attacker.person)
    assert (refused.status_code, error_code(refused)) == (409, "error.credential-taken")
    victim.is_untouched_by(refused)
    attacker.is_untouched_by(refused)


class TestMicrosoft:
    """The attack "nOAuth": the administrator of any tenant writes any address."""

    @pytest.mark.parametrize(
        "claims",
        [
            {},
            {"email_verified": True},
            {"email_verified": "true", "xms_edov": True},
            {"xms_edov": "1", "verified_primary_email": ["{email}"]},
            {"preferred_username": "{email}", "upn": "{email}", "unique_name": "{email}"},
            {"tid": PERSONAL_TENANT},
            {"verified_secondary_email": ["{email}"], "email": ["{email}"]},
        ],
        ids=repr,
    )
    def test_no_claim_of_another_tenant_names_a_user(
        self, served: Platforms, victim: Victim, claims: dict[str, Any]
    ) -> None:
        members = {name: _filled(value, victim.email) for name, value in claims.items()}
        email = members.pop("email", victim.email)
        account = served.account("microsoft", email, **{"tid": OTHER_TENANT, **members})
        attempt = served.log_in("microsoft", account)
        assert attempt.status_code == 200
        victim.is_untouched_by(attempt)

    def test_the_same_object_id_in_another_tenant_is_another_person(self, served: Platforms) -> None:
        victim = Victim(served)
        first = served.account("microsoft")
        assert served.bind("microsoft", first, victim.person).status_code == 201
        claims = {"tid": OTHER_TENANT, "oid": first.claims["oid"], "sub": "same"}
        attempt = served.log_in("microsoft", served.account("microsoft", **claims))
        assert attempt.status_code == 200
        assert attempt.json["user"]["id"] != victim.person.id


class TestGoogle:
    @pytest.mark.parametrize("hd", [None, "", True, ["example.org"], 1], ids=repr)
    def test_an_outside_address_names_no_user(self, served: Platforms, victim: Victim, hd: Any) -> None:
        attacker = served.account("google", victim.email, hd=hd)
        victim.is_untouched_by(served.log_in("google" + TRUSTED, attacker))


def test_the_form_of_apple_names_no_user(served: Platforms, victim: Victim) -> None:
    attacker = served.account("apple", None, email_verified="true")
    # Apple sends the account's address in the form, too, without a signature.
    attacker = served.change("apple", attacker, email=victim.email)
    victim.is_untouched_by(served.log_in("apple" + TRUSTED, attacker))


def _filled(value: Any, email: str) -> Any:
    if isinstance(value, list):
        return [_filled(item, email) for item in value]
    return value.replace("{email}", email) if isinstance(value, str) else value
