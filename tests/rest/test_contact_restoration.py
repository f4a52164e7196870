"""A link to a former contact undoes its change, even if another person has the account."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select
from tests.support.api import PASSWORD, Answer, Api, Person, error_code
from tests.support.config import lifted, merged
from tests.support.totp import enrol, use_clock

from strongroom.clock import DAY
from strongroom.extensions.observability.checks import RestoringPageCheck
from strongroom.extensions.observability.doctor import CheckResult, CheckState
from strongroom.extensions.own_data.scheduled_deletions import ScheduledDeletions
from strongroom.extensions.user_management.contact_restoration import ContactRestoration
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.upgrade import upgrade
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.users.change_notices import ChangeNotices
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.models import contact_links
from strongroom.identity.users.passwords import UserPasswords
from strongroom.plugin_api.login import Credential
from strongroom.testing.clock import ManualClock

OLD, STOLEN, THIRD, MOBILE = "old@example.com", "stolen@example.com", "c@example.com", "+8613800138000"
NEW = "Another2Battery"
SECOND = "error.second-factor-required"
CONFIG = merged(
    lifted(), {"plugins": {"enabled": ["storage_local", "factor_totp", "login_email", "login_pages"]}}
)

pytestmark = [pytest.mark.both_databases, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(clock, monkeypatch)


@pytest.fixture
def person(api: Api) -> Person:
    container = api.container
    upgrade(container.database.engine, container.selection.plugins.tables)
    return api.person(email=OLD)


def change(api: Api, person: Person, *contacts: str, kind: str = "email") -> None:
    """Replace a contact by others, one after the other, in a transaction each."""
    credentials = api.container.get(CredentialService)
    for contact in contacts:
        api.clock.advance(1000)
        with api.container.database.write() as connection:
            credentials.release(connection, person.id, kind)
            credentials.bind(connection, person.id, Credential(kind, contact))
            by = ChangedBy(person.id, Origin(address="192.0.2.7"))
            api.container.get(CredentialChanges).settle(connection, by)


def add(api: Api, person: Person, *contacts: Credential) -> None:
    """Add contacts in one transaction, a second later."""
    api.clock.advance(1000)
    with api.container.database.write() as connection:
        for contact in contacts:
            api.container.get(CredentialService).bind(connection, person.id, contact)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(person.id))


def remove(api: Api, person: Person, *kinds: str) -> None:
    """Remove contacts in one transaction, a second later."""
    api.clock.advance(1000)
    with api.container.database.write() as connection:
        for kind in kinds:
            api.container.get(CredentialService).release(connection, person.id, kind)
        api.container.get(CredentialChanges).settle(connection, ChangedBy(person.id))


def after(monkeypatch: pytest.MonkeyPatch, owner: type[Any], name: str, act: Callable[[], None]) -> None:
    """Do something after the next call of a method."""
    call = getattr(owner, name)

    def called(*arguments: Any, **named: Any) -> Any:
        result = call(*arguments, **named)
        act()
        return result

    monkeypatch.setattr(owner, name, called)


def has_link(api: Api, recipient: str) -> bool:
    sent = [each["text"] for each in api.outbox() if each["recipient"] == recipient]
    return any("/account/restore/" in text for text in sent)


def message(api: Api, recipient: str) -> dict[str, Any]:
    """Return the newest message to a recipient."""
    sent: dict[str, Any] = [each for each in api.outbox() if each["recipient"] == recipient][-1]
    return sent


def token(api: Api, recipient: str) -> str:
    found = re.search(r"https://\S+/account/restore/([\w-]{32})", message(api, recipient)["text"])
    assert found, message(api, recipient)["text"]
    return found[1]


def redeem(api: Api, secret: str, password: str = NEW, **options: Any) -> Answer:
    return api.post("/users/contact-restorations", {"token": secret, "newPassword": password}, **options)


def preview(api: Api, secret: str) -> Answer:
    return api.post("/users/contact-restoration-previews", {"token": secret})


def names(api: Api, person: Person) -> set[tuple[str, str]]:
    with api.container.database.read() as connection:
        held = api.container.get(CredentialService).of_user(connection, person.id)
    return {(item.kind, item.value) for item in held if item.is_verified}


def factors(api: Api, person: Person) -> dict[str, str]:
    """Return the factor of each enrolment by its id."""
    with api.container.database.read() as connection:
        rows = api.container.get(EnrolledFactors).of_user(connection, person.id)
    return {row.id: row.factor for row in rows}


def test_it_gives_the_contact_back_and_ends_what_another_person_has(api: Api, person: Person) -> None:
    body = {"name": "key", "scopes": ["users:read"], "currentPassword": PASSWORD}
    key = replace(person, token=api.post("/users/me/access-keys", body, by=person).json["key"])
    api.put("/users/me/username", {"username": "anna", "currentPassword": PASSWORD}, by=person)
    change(api, person, STOLEN)
    credentials, changes = api.container.get(CredentialService), api.container.get(CredentialChanges)
    with api.container.database.write() as connection:
        credentials.bind(connection, person.id, Credential("mobile", MOBILE))
        credentials.bind(connection, person.id, Credential("some_platform", "x1"))
        changes.settle(connection, ChangedBy(person.id))
    reset = api.code(STOLEN, "reset-password")
    secret = token(api, OLD)
    shown = preview(api, secret)
    assert (shown.status_code, shown.json["former"], shown.json["current"]) == (
        200,
        "o•••@example.com",
        "s•••@example.com",
    )
    assert OLD not in shown.text
    sent = len(api.outbox())
    assert redeem(api, secret).status_code == 200
    assert names(api, person) - {("username", "anna")} == {("email", OLD)}
    for by in (person, key):
        assert api.get("/users/me", by=by).status_code == 401
    assert api.log_in(OLD, PASSWORD).status_code == 401
    assert api.log_in(STOLEN, NEW).status_code == 401
    assert api.log_in(OLD, NEW).status_code == 200
    reused = {"verificationCode": reset, "newPassword": "Third3Battery"}
    assert api.post(f"/users/{STOLEN}/reset-password", reused).status_code == 400
    told = {each["recipient"] for each in api.outbox()[sent:]}
    assert told == {OLD, STOLEN, MOBILE}
    # No link leads back to the contact of the other person.
    assert all("/account/restore/" not in each["text"] for each in api.outbox()[sent:])
    assert error_code(redeem(api, secret)) == "error.contact-link-invalid"
    admin = api.person(admin=True)
    records = api.get(f"/audit-events?targetId={person.id}", by=admin).json["data"]
    causes = [each["action"] for each in records if each["details"].get("cause") == "contact-link"]
    assert {"credential.bind", "credential.unbind", "password.change"} <= set(causes)


def test_a_link_voids_those_of_later_changes_only(api: Api, person: Person) -> None:
    change(api, person, STOLEN, THIRD)
    first, second = token(api, OLD), token(api, STOLEN)
    # The other person cannot win by the own link: the first contact still can.
    assert redeem(api, second).status_code == 200
    assert names(api, person) == {("email", STOLEN)}
    assert redeem(api, first).status_code == 200
    assert names(api, person) == {("email", OLD)}
    change(api, person, STOLEN, THIRD)
    first, second = token(api, OLD), token(api, STOLEN)
    assert redeem(api, first).status_code == 200
    assert error_code(redeem(api, second)) == "error.contact-link-invalid"


REMOVALS = [["email", "mobile"]], [["mobile", "email"]], [["email"], ["mobile"]], [["mobile"], ["email"]]


@pytest.mark.parametrize("removals", REMOVALS, ids=str)
def test_the_links_of_an_address_and_a_number_give_both_back(
    api: Api, person: Person, removals: list[list[str]]
) -> None:
    add(api, person, Credential("mobile", MOBILE))
    api.clock.advance(30 * DAY)
    for kinds in removals:
        remove(api, person, *kinds)
    # The last change first, because a link voids those of later changes.
    former = {"email": OLD, "mobile": MOBILE}
    secrets = [token(api, former[kind]) for kinds in reversed(removals) for kind in kinds]
    for secret in secrets:
        assert redeem(api, secret).status_code == 200
    assert names(api, person) == {("email", OLD), ("mobile", MOBILE)}


def test_it_removes_newer_second_factors_and_keeps_older_ones(api: Api, person: Person) -> None:
    enrol(api, person)
    change(api, person, STOLEN)
    assert redeem(api, token(api, OLD)).status_code == 200
    assert error_code(api.log_in(OLD, NEW)) == SECOND
    other = api.person(email="second@example.com")
    change(api, other, "stolen2@example.com")
    api.clock.advance(1000)
    enrol(api, other)
    assert error_code(api.log_in("stolen2@example.com")) == SECOND
    assert redeem(api, token(api, "second@example.com")).status_code == 200
    assert api.log_in("second@example.com", NEW).status_code == 200


def test_what_another_person_added_shortly_before_the_change_ends_too(api: Api, person: Person) -> None:
    api.clock.advance(30 * DAY)
    add(api, person, Credential("mobile", MOBILE), Credential("some_platform", "x1"))
    api.clock.advance(6 * DAY)
    remove(api, person, "email")
    assert redeem(api, token(api, OLD)).status_code == 200
    # A code to the number would reset the password that the user has just set.
    assert names(api, person) == {("email", OLD)}


def test_what_the_user_had_for_seven_days_stays(api: Api, person: Person) -> None:
    other = api.person(email="new@example.com")
    add(api, other, Credential("mobile", "+8613800138001"))
    change(api, other, "stolen3@example.com")
    assert redeem(api, token(api, "new@example.com")).status_code == 200
    # It came with the account.
    assert ("mobile", "+8613800138001") in names(api, other)
    api.clock.advance(DAY)
    add(api, person, Credential("mobile", MOBILE))
    api.clock.advance(7 * DAY)
    change(api, person, STOLEN)
    assert redeem(api, token(api, OLD)).status_code == 200
    assert names(api, person) == {("email", OLD), ("mobile", MOBILE)}


def test_a_contact_that_another_person_added_gets_no_link(api: Api, person: Person) -> None:
    api.clock.advance(30 * DAY)
    # The user, or the other person, removes what was added: no way back for its holder.
    add(api, person, Credential("mobile", MOBILE))
    api.clock.advance(6 * DAY)
    remove(api, person, "mobile")
    assert not has_link(api, MOBILE)
    # An administrator gives the user the former contact back.
    change(api, person, STOLEN, OLD)
    assert has_link(api, OLD)
    assert not has_link(api, STOLEN)


@pytest.mark.parametrize("is_suspended", [True, False])
def test_a_suspension_leaves_the_contact_of_another_person_without_a_link(
    api: Api, person: Person, is_suspended: bool
) -> None:
    api.clock.advance(30 * DAY)
    admin = api.person(admin=True)
    change(api, person, STOLEN)
    secret = token(api, OLD)
    statuses = ["suspended"] if is_suspended else ["suspended", "active"]
    for status in statuses:
        assert api.patch(f"/users/{person.id}", {"status": status}, by=admin).status_code == 200
    change(api, person, OLD)
    assert not has_link(api, STOLEN)
    assert error_code(redeem(api, secret)) == "error.contact-link-invalid"


def test_it_cancels_the_deletion_that_another_person_asked_for(api: Api, person: Person) -> None:
    change(api, person, STOLEN)
    later = replace(person, token=api.log_in(STOLEN).headers["X-Access-Token"])
    scheduled = api.post("/users/me/deletion", {"currentPassword": PASSWORD}, by=later)
    assert scheduled.status_code == 201, scheduled.text
    assert redeem(api, token(api, OLD)).status_code == 200
    api.clock.advance(15 * DAY)
    assert api.container.get(ScheduledDeletions).delete_due() == 0
    assert api.log_in(OLD, NEW).status_code == 200
    records = api.get(f"/audit-events?targetId={person.id}", by=api.person(admin=True))
    assert "user.cancel-deletion" in records.text


def test_it_works_for_seven_days(api: Api, person: Person) -> None:
    change(api, person, STOLEN)
    secret = token(api, OLD)
    api.clock.advance(7 * DAY - 1)
    assert preview(api, secret).status_code == 200
    api.clock.advance(1)
    assert error_code(preview(api, secret)) == "error.contact-link-invalid"
    assert error_code(redeem(api, secret)) == "error.contact-link-invalid"


def test_a_refused_password_uses_up_no_link(api: Api, person: Person) -> None:
    change(api, person, STOLEN)
    assert error_code(redeem(api, token(api, OLD), "weak")) == "error.validation-failed"
    assert redeem(api, token(api, OLD)).status_code == 200


def test_a_contact_of_another_user_is_not_taken(api: Api, person: Person) -> None:
    change(api, person, STOLEN)
    other = api.person(email=OLD)
    for answer in (preview(api, token(api, OLD)), redeem(api, token(api, OLD))):
        assert (answer.status_code, error_code(answer)) == (409, "error.credential-taken")
    assert names(api, person) == {("email", STOLEN)}
    assert api.get("/users/me", by=other).status_code == 200


def test_only_a_verified_contact_gets_a_link(api: Api, person: Person) -> None:
    admin = api.person(admin=True)
    for value in ("unproven@example.com", THIRD):
        body = {"value": value}
        assert api.put(f"/users/{person.id}/contacts/email", body, by=admin).status_code == 200
    assert "/account/restore/" in message(api, OLD)["text"]
    assert "/account/restore/" not in message(api, "unproven@example.com")["text"]
    with api.container.database.read() as connection:
        stored = connection.execute(select(contact_links)).one()
    assert token(api, OLD) not in map(str, stored)


@pytest.mark.parametrize("end", ["type", "suspension", "deletion"])
def test_the_end_of_what_a_user_can_do_voids_the_links(api: Api, person: Person, end: str) -> None:
    admin = api.person(admin=True)
    change(api, person, STOLEN)
    secret = token(api, OLD)
    path = f"/users/{person.id}"
    if end == "type":
        assert api.patch(path, {"type": "ADMIN"}, by=admin).status_code == 200
    elif end == "suspension":
        for status in ("suspended", "active"):
            assert api.patch(path, {"status": status}, by=admin).status_code == 200
    else:
        assert api.delete(path, by=admin).status_code == 200
    assert error_code(redeem(api, secret)) == "error.contact-link-invalid"


def test_a_suspended_user_takes_nothing_back(api: Api, person: Person) -> None:
    admin = api.person(admin=True)
    assert api.patch(f"/users/{person.id}", {"status": "suspended"}, by=admin).status_code == 200
    change(api, person, STOLEN)
    assert error_code(redeem(api, token(api, OLD))) == "error.user-suspended"


def test_an_impersonation_redeems_no_link(api: Api, person: Person) -> None:
    admin = api.person(admin=True)
    change(api, person, STOLEN)
    body = {"reason": "Support", "minutes": 5}
    acting = api.post(f"/users/{person.id}/impersonation", body, by=admin)
    by = replace(person, token=acting.json["accessToken"])
    assert error_code(redeem(api, token(api, OLD), by=by)) == "error.impersonation-refused"
    # A token that has ended does not prevent it.
    by = replace(person, token="ended")
    assert redeem(api, token(api, OLD), by=by).status_code == 200


@pytest.mark.parametrize("change_of", ["contact", "username", "key"])
def test_a_request_that_has_begun_before_changes_nothing_afterwards(
    api: Api, person: Person, monkeypatch: pytest.MonkeyPatch, change_of: str
) -> None:
    """Another person repeats requests, of which one has given its proof when the link is used."""
    change(api, person, STOLEN)
    secret = token(api, OLD)
    by = replace(person, token=api.log_in(STOLEN).headers["X-Access-Token"])
    codes = {"verificationCode": api.code(THIRD, "bind"), "heldCode": api.code(STOLEN, "bind")}

    def restore() -> None:
        monkeypatch.undo()
        use_clock(api.clock, monkeypatch)
        api.container.get(ContactRestoration).consume(secret, NEW, Origin())

    after(monkeypatch, Reauthentication, "require", restore)
    after(monkeypatch, Reauthentication, "require_any", restore)
    body: dict[str, Any]
    if change_of == "contact":
        answer = api.post("/users/me/emails", {"email": THIRD, **codes}, by=by)
    elif change_of == "username":
        body = {"username": "mallory", "currentPassword": PASSWORD}
        answer = api.put("/users/me/username", body, by=by)
    else:
        body = {"name": "key", "scopes": ["users:read"], "currentPassword": PASSWORD}
        answer = api.post("/users/me/access-keys", body, by=by)
    assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid")
    assert names(api, person) == {("email", OLD)}


@pytest.mark.parametrize("change_of", ["removal", "recovery codes"])
def test_a_change_of_factors_that_has_begun_before_changes_nothing_afterwards(
    api: Api, person: Person, monkeypatch: pytest.MonkeyPatch, change_of: str
) -> None:
    enrol(api, person)
    api.clock.advance(1000)
    change(api, person, STOLEN)
    secret = token(api, OLD)

    def restore() -> None:
        monkeypatch.undo()
        use_clock(api.clock, monkeypatch)
        api.container.get(ContactRestoration).consume(secret, NEW, Origin())

    after(monkeypatch, Reauthentication, "require_any", restore)
    if change_of == "removal":
        (factor_id,) = factors(api, person)
        answer = api.delete(f"/users/me/factors/{factor_id}", by=person)
    else:
        answer = api.post("/users/me/recovery-codes", by=person)
    assert (answer.status_code, error_code(answer)) == (401, "error.token-invalid"), answer.text
    assert list(factors(api, person).values()) == ["totp"]


def test_a_reset_by_the_other_contact_that_waits_for_its_hash_sets_no_password(
    api: Api, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(api, person, STOLEN)
    secret, third = token(api, OLD), "Third3Battery"

    def restore() -> None:
        monkeypatch.undo()
        use_clock(api.clock, monkeypatch)
        api.container.get(ContactRestoration).consume(secret, NEW, Origin())

    code = api.code(STOLEN, "reset-password")
    after(monkeypatch, UserPasswords, "hash_password", restore)
    body = {"verificationCode": code, "newPassword": third}
    answer = api.post(f"/users/{STOLEN}/reset-password", body)
    assert (answer.status_code, error_code(answer)) == (400, "error.code-invalid")
    assert api.log_in(OLD, third).status_code == 401
    assert api.log_in(OLD, NEW).status_code == 200


NO_PAGES = {"plugins": {"enabled": ["storage_local"]}}
OWN_PAGE = {"users": {"restore_url": "https://app.example.com/restore#"}}
HELPLESS = "If that was not you, contact the administrators now."
RESET = "If that was not you, reset your password now"


@pytest.mark.config(NO_PAGES)
def test_without_a_page_the_former_contact_is_sent_to_the_administrators(
    api: Api, person: Person
) -> None:
    change(api, person, STOLEN)
    # A code for a new password would go to the other address.
    assert HELPLESS in message(api, OLD)["text"]
    assert RESET in message(api, STOLEN)["text"]
    with api.container.database.read() as connection:
        assert connection.execute(select(contact_links)).all() == []


def test_a_former_contact_that_proves_nothing_is_sent_to_the_administrators(
    api: Api, person: Person
) -> None:
    admin = api.person(admin=True)
    for value in ("unproven@example.com", THIRD):
        body = {"value": value}
        assert api.put(f"/users/{person.id}/contacts/email", body, by=admin).status_code == 200
    assert HELPLESS in message(api, "unproven@example.com")["text"]


@pytest.mark.parametrize(
    "has_pages",
    [
        pytest.param(False, marks=pytest.mark.config(merged(NO_PAGES, OWN_PAGE))),
        pytest.param(True, marks=pytest.mark.config(merged(CONFIG, OWN_PAGE))),
    ],
)
def test_the_page_of_the_deployment_gets_the_token(api: Api, person: Person, has_pages: bool) -> None:
    change(api, person, STOLEN)
    text = message(api, OLD)["text"]
    assert ("/account/restore/" in text) is False
    found = re.search(r"https://app\.example\.com/restore#([\w-]{32})\s*$", text)
    assert found, text
    assert redeem(api, found[1]).status_code == 200
    assert names(api, person) == {("email", OLD)}


def examine(api: Api, *, is_production: bool) -> CheckResult:
    notices = api.container.get(ChangeNotices)
    (result,) = RestoringPageCheck(notices, is_production=is_production)()
    return result


def test_doctor_names_the_page(api: Api) -> None:
    result = examine(api, is_production=True)
    assert result.state is CheckState.OK
    assert result.message.endswith("/account/restore/")


@pytest.mark.config(NO_PAGES)
def test_doctor_warns_of_a_production_server_without_a_page(api: Api) -> None:
    assert examine(api, is_production=False).state is CheckState.OK
    result = examine(api, is_production=True)
    assert (result.part, result.state) == ("users.restore_url", CheckState.WARNING)
    assert "users.restore_url" in result.remedy
