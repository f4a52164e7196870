"""Imports of users from other systems."""

import io
import json
from collections.abc import Callable
from typing import Any

import pyotp
import pytest
from sqlalchemy import select, update
from tests.support.api import PASSWORD, Api, Person, error_code
from tests.support.audit import reading_sealed
from tests.support.imports import (
    IMPORTED_PASSWORD,
    SIX_SCHEMES,
    errors_of,
    import_users,
    ndjson,
    receive_import,
)

from strongroom.activity.audit.models import audit_events
from strongroom.clock import DAY
from strongroom.extensions.observability.checks import ImportedPasswordsCheck
from strongroom.extensions.observability.doctor import CheckState
from strongroom.extensions.user_imports.lines import MAX_LINE, LineParser, split_lines
from strongroom.extensions.user_imports.models import (
    UserImport,
    user_import_chunks,
    user_import_errors,
    user_import_keys,
    user_imports,
)
from strongroom.extensions.user_imports.plan import Planner
from strongroom.extensions.user_imports.service import UserImports
from strongroom.extensions.user_imports.store import CHUNK_LINES as CHUNK
from strongroom.extensions.user_imports.store import LEASE, ImportOptions, ImportStore
from strongroom.extensions.user_imports.worker import ImportWorker
from strongroom.extensions.user_imports.writer import ImportWriter
from strongroom.foundation.caller import Origin
from strongroom.foundation.errors import PayloadTooLarge, Unavailable
from strongroom.identity.users.models import (
    OWN_SCHEME,
    account_links,
    credentials,
    passwords,
    second_factors,
    user_metadata,
    users,
)

PLUGINS = {"enabled": ["storage_local", "password_schemes", "factor_totp"]}
LINKS = {"link_url": "https://app.example.com/password#"}
pytestmark = pytest.mark.config({"plugins": PLUGINS, "users": LINKS})

ANNA = {"email": "anna@example.com", "name": "Anna", "externalId": "a-1", "password": SIX_SCHEMES[0]}


def rows(api: Api, table: Any, **values: Any) -> list[Any]:
    """Return the rows of a table with these values."""
    conditions = [table.c[name] == value for name, value in values.items()]
    with reading_sealed(api.container.database) as connection:
        return list(connection.execute(select(table).where(*conditions)))


def holder(api: Api, email: str) -> str:
    """Return the id of the user who has an address."""
    (row,) = rows(api, credentials, value=email)
    user_id: str = row.user_id
    return user_id


def counts(job: UserImport) -> tuple[int, int, int, int]:
    return job.created, job.updated, job.skipped, job.failed


def faults(api: Api, job: UserImport) -> list[tuple[int, str, str]]:
    return [(error.line, error.field, error.code) for error in errors_of(api.container, job)]


def test_an_import_creates_users_with_all_that_the_lines_have(api: Api) -> None:
    line = {
        **ANNA,
        "emailVerified": True,
        "mobile": "138 0000 0000",
        "username": "Anna.A",
        "createdAt": "2020-01-01T00:00:00Z",
        "metadata": {"theme": "dark"},
        "serverMetadata": {"plan": 7},
        "identities": [{"provider": "wechat_openid", "subject": "wx1:o1"}],
        "totp": "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
    }
    job = import_users(api.container, [line])
    assert (job.state, job.read, counts(job)) == ("finished", 1, (1, 0, 0, 0))
    user_id = holder(api, "anna@example.com")
    (user,) = rows(api, users, id=user_id)
    assert (user.name, user.external_id, user.created_at) == ("Anna", "a-1", 1_577_836_800_000)
    bound = {(row.kind, row.value, row.is_verified) for row in rows(api, credentials, user_id=user_id)}
    assert bound == {
        ("email", "anna@example.com", True),
        ("mobile", "+8613800000000", False),
        ("username", "anna.a", True),
        ("wechat_openid", "wx1:o1", True),
    }
    (stored,) = rows(api, user_metadata, user_id=user_id)
    assert (stored.metadata, stored.server_metadata) == ({"theme": "dark"}, {"plan": 7})
    challenged = api.log_in("anna.a", IMPORTED_PASSWORD)
    assert error_code(challenged) == "error.second-factor-required"
    code = pyotp.TOTP("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP").now()
    answer = {"challenge": {"id": challenged.json["challenge"]["id"], "totp": code}}
    assert api.post("/authorizations", answer).status_code == 200


@pytest.mark.parametrize("number", range(len(SIX_SCHEMES)))
def test_imported_users_log_in_and_the_server_replaces_their_hashes(api: Api, number: int) -> None:
    import_users(api.container, [{"email": "anna@example.com", "password": SIX_SCHEMES[number]}])
    user_id = holder(api, "anna@example.com")
    (before,) = rows(api, passwords, user_id=user_id)
    assert before.scheme == SIX_SCHEMES[number]["algorithm"]
    assert api.log_in("anna@example.com", "OtherSystem8").status_code == 401
    assert api.log_in("anna@example.com", IMPORTED_PASSWORD).status_code == 200
    (after,) = rows(api, passwords, user_id=user_id)
    assert (after.scheme, after.cost) == (OWN_SCHEME, "")


def test_a_password_in_plain_text_is_hashed_and_must_meet_the_policy(api: Api) -> None:
    lines = [
        {"email": "anna@example.com", "password": PASSWORD},
        {"email": "ben@example.com", "password": "short"},
    ]
    job = import_users(api.container, lines)
    assert counts(job) == (1, 0, 0, 1)
    assert {code for _, _, code in faults(api, job)} == {"too-short", "no-uppercase", "no-digit"}
    assert api.log_in("anna@example.com").status_code == 200


def test_suspended_users_arrive_suspended(api: Api) -> None:
    import_users(api.container, [{**ANNA, "status": "suspended"}])
    response = api.log_in("anna@example.com", IMPORTED_PASSWORD)
    assert error_code(response) == "error.user-suspended"


def test_a_taken_name_is_refused_skipped_or_updated_as_chosen(api: Api) -> None:
    import_users(api.container, [ANNA])
    changed = {**ANNA, "name": "Anna B", "email": "anna.b@example.com", "metadata": {"a": 1}}
    failed = import_users(api.container, [changed])
    assert counts(failed) == (0, 0, 0, 1)
    assert faults(api, failed) == [(1, "externalId", "taken")]
    assert counts(import_users(api.container, [changed], "skip")) == (0, 0, 1, 0)
    assert rows(api, users, name="Anna B") == []
    assert counts(import_users(api.container, [changed], "update")) == (0, 1, 0, 0)
    (user,) = rows(api, users, name="Anna B")
    assert holder(api, "anna.b@example.com") == user.id
    assert rows(api, credentials, value="anna@example.com") == []
    assert rows(api, user_metadata, user_id=user.id)[0].metadata == {"a": 1}


def test_an_update_keeps_a_password_that_was_used_here(api: Api) -> None:
    import_users(api.container, [ANNA])
    other = {**ANNA, "password": SIX_SCHEMES[1]}
    import_users(api.container, [other], "update")
    assert rows(api, passwords)[0].scheme == "argon2"
    assert api.log_in("anna@example.com", IMPORTED_PASSWORD).status_code == 200
    (own,) = rows(api, passwords)
    import_users(api.container, [ANNA], "update")
    assert rows(api, passwords) == [own]


def test_an_update_takes_over_no_contact_of_another_user(api: Api) -> None:
    ben = {"externalId": "b-1", "email": "ben@example.com"}
    import_users(api.container, [ANNA, ben])
    theft = {"externalId": "b-1", "email": "anna@example.com", "name": "Ben"}
    job = import_users(api.container, [theft], "update")
    assert faults(api, job) == [(1, "email", "taken")]
    # Nor by a line that names another user of the other system.
    stranger = {"externalId": "c-1", "email": "anna@example.com"}
    job = import_users(api.container, [stranger], "update")
    assert faults(api, job) == [(1, "externalId", "conflict")]
    assert holder(api, "anna@example.com") != holder(api, "ben@example.com")
    assert rows(api, users, name="Ben") == []


def test_an_update_changes_no_administrator(api: Api) -> None:
    admin = api.person(admin=True)
    line = {"email": admin.email, "username": "intruder", "password": SIX_SCHEMES[0], "name": "X"}
    job = import_users(api.container, [line], "update")
    assert faults(api, job) == [(1, "", "protected")]
    assert rows(api, credentials, value="intruder") == []
    assert api.log_in(admin.email).status_code == 200


def test_a_replaced_contact_voids_the_codes_that_were_sent_to_it(api: Api) -> None:
    import_users(api.container, [ANNA])
    code = api.code("anna@example.com", "reset-password")
    import_users(api.container, [{"externalId": "a-1", "email": "new@example.com"}], "update")
    import_users(api.container, [{"externalId": "a-1", "email": "anna@example.com"}], "update")
    body = {"newPassword": PASSWORD, "verificationCode": code}
    response = api.post("/users/anna@example.com/reset-password", body)
    assert error_code(response) == "error.code-invalid"


def test_an_update_of_a_login_informs_records_and_voids_as_every_route_does(api: Api) -> None:
    admin = api.person(admin=True)
    anna = api.person(email="anna@example.com", name="Anna")
    link = {"kind": "reset"}
    assert api.post(f"/users/{anna.id}/links", link, by=admin).status_code == 201
    sent = len(api.outbox())
    line = {
        "email": "anna@example.com",
        "mobile": "+8613800138000",
        "identities": [{"provider": "wechat_openid", "subject": "wx1:secret-subject"}],
        "totp": "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP",
    }
    external = [{**line, "externalId": "a-1"}, {"externalId": "a-1", "email": "new@example.com"}]
    for update_line in external:
        response = send(api, admin, [update_line], "?onConflict=update")
        api.container.get(ImportWorker).run_due()
        job = api.get(f"/user-imports/{response.json['id']}", by=admin).json
        assert (job["updated"], job["failed"]) == (1, 0)
    messages = [(each["recipient"], each["text"]) for each in api.outbox()[sent:]]
    assert [recipient for recipient, _ in messages] == [
        *("anna@example.com", "+8613800138000") * 2,
        *("anna@example.com", "+8613800138000", "new@example.com"),
    ]
    assert all("Where: an import of users by an administrator" in messages[at][1] for at in (0, 2, 4))
    replaced_text = "Your e-mail address was changed from a•••@example.com to n•••@example.com."
    assert all(replaced_text in text for _, text in messages[4:])
    assert "The mobile number +86•••8000 was added to your account." in messages[0][1]
    assert "An authenticator app was added to your account." in messages[2][1]
    records = [
        (record.action, record.details.get("kind") or record.details.get("factor"), record.details)
        for record in rows(api, audit_events, target_id=anna.id, actor_id=admin.id)
        if record.action in {"credential.bind", "factor.add"}
    ]
    assert {(action, what) for action, what, _ in records} == {
        ("credential.bind", "email"),
        ("credential.bind", "mobile"),
        ("credential.bind", "wechat_openid"),
        ("factor.add", "totp"),
    }
    (replaced,) = [details for _, what, details in records if what == "email"]
    assert (replaced["former"], replaced["current"]) == ("a•••@example.com", "n•••@example.com")
    assert replaced["import"]
    assert "secret-subject" not in str(records)
    assert rows(api, account_links) == []


@pytest.mark.config({"limits": {"managed_users_per_caller": ["2/hour"]}})
def test_an_import_changes_the_logins_of_as_many_users_as_its_caller_may(api: Api) -> None:
    admin = api.person(admin=True)
    import_users(
        api.container, [{"email": f"u{n}@example.com", "externalId": f"u{n}"} for n in range(4)]
    )
    lines = [{"externalId": f"u{n}", "mobile": f"+861380013800{n}"} for n in range(3)]
    lines.append({"externalId": "u3", "name": "Only the name"})
    job = send(api, admin, lines, "?onConflict=update").json
    api.container.get(ImportWorker).run_due()
    done = api.container.get(UserImports).get(job["id"])
    assert counts(done) == (0, 3, 0, 1)
    assert faults(api, done) == [(3, "", "too-many-requests")]
    # The command line has no limit.
    assert counts(import_users(api.container, lines[2:3], "update")) == (0, 1, 0, 0)


def test_a_suspension_by_an_update_ends_the_logins(api: Api) -> None:
    import_users(api.container, [ANNA])
    token = api.log_in("anna@example.com", IMPORTED_PASSWORD).headers["X-Access-Token"]
    person = Person(holder(api, "anna@example.com"), "anna@example.com", token)
    import_users(api.container, [{"externalId": "a-1", "status": "suspended"}], "update")
    assert api.get("/users/me", by=person).status_code == 401
    # An import never lets a suspended user in again.
    import_users(api.container, [{"externalId": "a-1", "status": "active"}], "update")
    assert rows(api, users, id=person.id)[0].status == "suspended"


def test_a_dry_run_reports_the_same_and_changes_nothing(api: Api) -> None:
    import_users(api.container, [ANNA])
    before = [rows(api, table) for table in (users, credentials, passwords, second_factors)]
    lines: list[Any] = [
        {"externalId": "a-1", "name": "Other"},
        {"email": "ben@example.com", "totp": "JBSWY3DPEHPK3PXP"},
        {"email": "ben@example.com"},
        {"email": "nonsense"},
    ]
    dry = import_users(api.container, lines, "update", dry_run=True)
    assert counts(dry) == (1, 1, 0, 2)
    assert [rows(api, table) for table in (users, credentials, passwords, second_factors)] == before
    wet = import_users(api.container, lines, "update")
    assert counts(wet) == counts(dry)
    assert faults(api, wet) == faults(api, dry)


def test_a_user_who_is_in_the_file_twice_is_refused_the_second_time(api: Api) -> None:
    lines: list[Any] = [{"email": f"user{number}@example.com"} for number in range(450)]
    lines += [{"email": "USER3@example.com"}, {"email": "z@example.com", "username": "user3"}]
    lines += [{"mobile": "13800000000", "username": "user3"}]
    job = import_users(api.container, lines)
    assert counts(job) == (451, 0, 0, 2)
    assert faults(api, job) == [(451, "email", "duplicate"), (453, "username", "duplicate")]
    assert "Line 4 " in errors_of(api.container, job)[0].message


def test_two_lines_cannot_update_one_user_by_different_credentials(api: Api) -> None:
    import_users(api.container, [{**ANNA, "username": "anna"}])
    lines = [{"externalId": "a-1", "name": "First"}, {"username": "anna", "name": "Second"}]
    job = import_users(api.container, lines, "update")
    assert counts(job) == (0, 1, 0, 1)
    assert rows(api, users, name="First")


@pytest.mark.config({"plugins": {"enabled": ["storage_local", "password_schemes"]}})
def test_a_factor_without_its_plugin_is_refused(api: Api) -> None:
    job = import_users(api.container, [{"email": "a@example.com", "totp": "JBSWY3DPEHPK3PXP"}])
    assert faults(api, job) == [(1, "totp", "unsupported")]
    assert rows(api, users) == []


HOSTILE: list[tuple[bytes, str]] = [
    (b"{", "malformed"),
    (b"[]", "malformed"),
    (b"null", "malformed"),
    (b'"x"', "malformed"),
    (b"{} {}", "malformed"),
    (b'{"name": NaN}', "malformed"),
    (b'{"metadata": ' + b"[" * 30_000 + b"}", "malformed"),
    (b'{"metadata": {"a": ' + b'{"a": ' * 5000 + b"1" + b"}" * 5002, "malformed"),
    (b'{"createdAt": ' + b"9" * 5000 + b"}", "malformed"),
    (b'{"name": "\xff\xfe"}', "encoding"),
    ('{"name": "ä"}'.encode("utf-16"), "encoding"),
    ('{"name": "ä"}'.encode("latin-1"), "encoding"),
    (b'{"name": "\xed\xa0\x80"}', "encoding"),
    (b'{"name": "\\ud800"}', "invalid"),
    (b'{"name": "a\\u0000b"}', "invalid"),
    (b'{"name": "\x00"}', "malformed"),
    (b'{"name": "a", "name": "b"}', "duplicate"),
    (b'{"metadata": {"a": 1, "a": 2}}', "duplicate"),
    (b'{"nmae": "a"}', "unknown-field"),
    (b'{"type": "ADMIN"}', "unknown-field"),
    (b'{"name": 7}', "invalid"),
    (b'{"email": {}}', "invalid"),
    (b'{"email": "a@b@c"}', "invalid"),
    (b'{"email": "' + b"a" * 60_000 + b'"}', "invalid"),
    (b'{"emailVerified": "no"}', "invalid"),
    (b'{"status": "deleted"}', "invalid"),
    (b'{"createdAt": "9999-01-01T00:00:00Z"}', "invalid"),
    (b'{"createdAt": "1900-01-01T00:00:00Z"}', "invalid"),
    (b'{"metadata": []}', "invalid"),
    (b'{"metadata": {"a": "' + b"b" * 17_000 + b'"}}', "invalid"),
    (b'{"identities": [{"provider": "email", "subject": "a@example.com"}]}', "invalid"),
    (b'{"identities": [{"provider": "x"}]}', "required"),
    (b'{"totp": "0189"}', "invalid"),
    (b'{"totp": "' + b"A" * 500 + b'"}', "invalid"),
    (b'{"password": []}', "invalid"),
    (b'{"password": {}}', "invalid"),
    (b'{"password": {"algorithm": "rot13", "hash": "x"}}', "invalid"),
    (b'{"password": {"algorithm": "bcrypt_hmac", "hash": "x"}}', "invalid"),
    (b'{"password": {"algorithm": "bcrypt", "hash": "$2b$31$' + b"C" * 53 + b'"}}', "invalid"),
    (b'{"password": {"algorithm": "bcrypt", "hash": "$2b$10$CC"}}', "invalid"),
    (b'{"password": {"algorithm": "phpass", "hash": "$P$zIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}}', "invalid"),
    (
        b'{"password": {"algorithm": "argon2", "hash": '
        b'"$argon2id$v=19$m=4294967295,t=1,p=1$MDEyMzQ1Njc4OWFi$' + b"A" * 43 + b'"}}',
        "invalid",
    ),
    (b'{"password": {"algorithm": "django", "hash": "pbkdf2_sha256$999999999$a$YQ=="}}', "invalid"),
    (b'{"name": "' + b"x" * MAX_LINE + b'"}', "too-long"),
    (b"x" * 10_000_000, "too-long"),
    (b'{"name": "nobody"}', "required"),
]


def test_hostile_lines_are_refused_by_their_numbers_and_the_others_are_imported(api: Api) -> None:
    lines: list[Any] = []
    expected = {}
    for repetition in range(5):
        for number, (hostile, code) in enumerate(HOSTILE):
            lines.append({"email": f"user{repetition}-{number}@example.com"})
            # One of ten megabytes is enough.
            lines.append(hostile if len(hostile) < 10**6 or not repetition else b"x" * (MAX_LINE + 1))
            expected[len(lines)] = code
    job = import_users(api.container, lines)
    good = len(expected)
    assert good > 200
    assert (job.read, counts(job)) == (2 * good, (good, 0, 0, good))
    reported = {error.line: error.code for error in errors_of(api.container, job)}
    assert reported == expected
    assert len(rows(api, users)) == good


def test_blank_lines_marks_and_line_ends_of_other_systems_do_not_matter(api: Api) -> None:
    body = b'\xef\xbb\xbf{"email": "a@example.com"}\r\n\r\n  \n{"email": "b@example.com"}\n{"email": 1}'
    job = api.container.get(UserImports).create(io.BytesIO(body), ImportOptions(), None, Origin())
    api.container.get(ImportWorker).run_due()
    job = api.container.get(UserImports).get(job.id)
    assert (job.lines, job.read, counts(job)) == (5, 3, (2, 0, 0, 1))
    assert faults(api, job) == [(5, "email", "invalid")]


def test_a_line_without_an_end_is_read_with_bounded_memory() -> None:
    class Endless:
        """Sends a line of ten megabytes, then a short one."""

        def __init__(self) -> None:
            self.left = 10_000_000

        def read(self, size: int, /) -> bytes:
            block = b"x" * min(size, self.left) or b"\nend"
            if self.left < 0:
                return b""
            self.left = self.left - len(block) if self.left else -1
            return block

    lines = list(split_lines(Endless()))
    assert [(line.number, len(line.content)) for line in lines] == [(1, MAX_LINE + 1), (2, 3)]


def test_lines_are_stored_encrypted_until_they_are_imported(api: Api) -> None:
    receive_import(api.container, [{**ANNA, "totp": "JBSWY3DPEHPK3PXP"}])
    (chunk,) = rows(api, user_import_chunks)
    assert "anna" not in chunk.sealed_lines
    api.container.get(ImportWorker).run_due()
    assert rows(api, user_import_chunks) == []
    assert rows(api, user_import_keys) == []


class Killed(BaseException):
    """The process ends."""


def test_after_a_crash_each_line_is_imported_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    emails = [f"user{number}@example.com" for number in range(1000)]
    receive_import(api.container, [{"email": email} for email in emails])
    apply, left = ImportWriter.apply, [2]

    def crash(self: ImportWriter, *arguments: Any) -> None:
        apply(self, *arguments)
        if not left[0]:
            raise Killed
        left[0] -= 1

    with monkeypatch.context() as patch:
        patch.setattr(ImportWriter, "apply", crash)
        # A process that is killed releases nothing.
        patch.setattr(ImportStore, "release", lambda *_: None)
        with pytest.raises(Killed):
            api.container.get(ImportWorker).run_due()
    assert 0 < len(rows(api, users)) < 1000
    worker = api.container.get(ImportWorker)
    worker.run_due()
    assert len(rows(api, users)) < 1000, "another process has the lease"
    api.clock.advance(LEASE + 1)
    worker.run_due()
    (job,) = rows(api, user_imports)
    assert (job.state, job.read, job.created, job.failed) == ("finished", 1000, 1000, 0)
    assert sorted(row.value for row in rows(api, credentials)) == sorted(emails)


def test_a_cancelled_import_stops_and_keeps_what_it_has_imported(api: Api) -> None:
    job = receive_import(api.container, [{"email": f"user{n}@example.com"} for n in range(1000)])
    service = api.container.get(UserImports)
    api.container.get(ImportWorker).run(job.id, lambda _lines: service.cancel(job.id, None, Origin()))
    ended = service.get(job.id)
    assert (ended.state, ended.created) == ("cancelled", 200)
    assert len(rows(api, users)) == 200
    assert rows(api, user_import_chunks) == []
    assert api.container.get(ImportWorker).run(job.id) is False


def test_a_user_who_registers_during_the_import_is_a_conflict_and_no_crash(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_users(api.container, [ANNA])
    find, blind = Planner._existing, [True]

    def find_nothing_once(self: Planner, connection: Any, lines: Any) -> Any:
        return find(self, connection, [] if blind and blind.pop() else lines)

    monkeypatch.setattr(Planner, "_existing", find_nothing_once)
    job = import_users(api.container, [{"email": "anna@example.com"}, {"email": "ben@example.com"}])
    assert counts(job) == (1, 0, 0, 1)
    assert faults(api, job) == [(1, "email", "taken")]


def test_an_import_waits_while_the_queue_of_hashes_is_full(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, full = LineParser.parse, [True, True]

    def refuse_twice(self: LineParser, line: Any) -> Any:
        if full:
            full.pop()
            raise Unavailable(retry_after=0)
        return parse(self, line)

    worker = api.container.get(ImportWorker)
    waits: list[float] = []
    monkeypatch.setattr(LineParser, "parse", refuse_twice)
    monkeypatch.setattr(worker._stopping, "wait", waits.append)
    assert counts(import_users(api.container, [ANNA])) == (1, 0, 0, 0)
    assert len(waits) == 2


def test_an_import_with_too_many_lines_leaves_nothing_behind(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = api.container.get(UserImports)
    monkeypatch.setattr(service, "_max_lines", 300)
    with pytest.raises(PayloadTooLarge):
        receive_import(api.container, [{"email": f"user{n}@example.com"} for n in range(301)])
    assert rows(api, user_imports) == rows(api, user_import_chunks) == []


@pytest.mark.parametrize("events", [False, True])
def test_users_of_an_import_make_events_only_if_chosen(api: Api, *, events: bool) -> None:
    job = import_users(api.container, [ANNA], events=events)
    records = rows(api, audit_events)
    action = "user.create" if events else "user.import"
    assert [row.action for row in records] == ["user-import.create", action, "user-import.finish"]
    assert records[1].details["import"] == job.id
    assert records[2].details["created"] == "1"


def test_old_imports_are_pruned(api: Api) -> None:
    job = import_users(api.container, [{"email": "nonsense"}])
    service = api.container.get(UserImports)
    assert service.prune() == 0
    api.clock.advance(31 * 24 * 60 * 60 * 1000)
    assert service.prune() == 1
    assert rows(api, user_import_errors, import_id=job.id) == []


def test_errors_show_no_secret(api: Api) -> None:
    secret = "$2b$10$secretsecretsecret"
    job = import_users(
        api.container,
        [{"email": "a@example.com", "password": {"algorithm": "bcrypt", "hash": secret}}],
    )
    assert secret not in json.dumps([error.message for error in errors_of(api.container, job)])


def send(api: Api, by: Person, lines: Any, query: str = "", **headers: str) -> Any:
    """Send an import."""
    headers = {"Content-Type": "application/x-ndjson", **headers}
    return api.request("POST", f"/user-imports{query}", by=by, headers=headers, data=ndjson(lines))


def test_an_administrator_imports_over_http_and_reads_the_result(api: Api) -> None:
    admin = api.person(admin=True)
    response = send(api, admin, [ANNA, {"email": "nonsense"}, b"{"])
    assert response.status_code == 202, response.text
    assert (response.json["state"], response.json["lines"]) == ("waiting", 3)
    path = response.headers["Location"].removeprefix("https://files.example.com")
    assert path == f"/user-imports/{response.json['id']}"
    api.container.get(ImportWorker).run_due()
    job = api.get(path, by=admin).json
    assert (job["state"], job["created"], job["failed"]) == ("finished", 1, 2)
    errors = api.get(f"{path}/errors", by=admin)
    assert errors.headers["Content-Type"] == "application/x-ndjson"
    assert [json.loads(line) for line in errors.text.splitlines()] == [
        {"line": 2, "code": "invalid", "field": "email", "message": "Must be an e-mail address."},
        {"line": 3, "code": "malformed", "field": "", "message": "Must be a JSON object."},
    ]
    assert [item["id"] for item in api.get("/user-imports", by=admin).json["data"]] == [job["id"]]
    assert api.log_in("anna@example.com", IMPORTED_PASSWORD).status_code == 200
    (record,) = rows(api, audit_events, action="user.import")
    assert record.actor_id == admin.id


def test_the_doctor_warns_of_passwords_whose_scheme_no_plugin_has(api: Api) -> None:
    import_users(api.container, [ANNA, {"email": "own@example.com", "password": PASSWORD}])
    database = api.container.database
    assert list(ImportedPasswordsCheck(database, ["bcrypt", "argon2"])()) == []
    (finding,) = ImportedPasswordsCheck(database, ["argon2"])()
    assert (finding.part, finding.state) == ("passwords.bcrypt", CheckState.WARNING)
    assert finding.message.startswith("1 imported passwords")


def test_only_administrators_import(api: Api) -> None:
    person = api.person()
    assert send(api, person, [ANNA]).status_code == 403
    assert api.get("/user-imports", by=person).status_code == 403
    assert rows(api, user_imports) == []


def test_an_import_is_cancelled_before_it_begins(api: Api) -> None:
    admin = api.person(admin=True)
    job = send(api, admin, [ANNA]).json
    assert api.delete(f"/user-imports/{job['id']}", by=admin).json["state"] == "cancelled"
    api.container.get(ImportWorker).run_due()
    assert rows(api, credentials, value="anna@example.com") == []
    assert api.delete("/user-imports/unknown", by=admin).status_code == 404


def test_a_body_of_another_type_or_coding_is_refused(api: Api) -> None:
    admin = api.person(admin=True)
    plain = send(api, admin, [ANNA], **{"Content-Type": "application/json"})
    coded = send(api, admin, [ANNA], **{"Content-Encoding": "gzip"})
    assert (plain.status_code, coded.status_code) == (415, 415)
    assert coded.headers.get("Accept-Encoding") == "identity"
    assert send(api, admin, [ANNA], "?onConflict=merge").status_code == 400
    assert rows(api, user_imports) == []
    assert send(api, admin, [ANNA], **{"Content-Encoding": "identity"}).status_code == 202


def key_of(api: Api, admin: Person, *scopes: str, user_id: str = "me") -> tuple[str, Person]:
    """Return the id of a new access key, and its caller."""
    body = {"name": "sync", "scopes": [*scopes], "currentPassword": PASSWORD}
    created = api.post(f"/users/{user_id}/access-keys", body, by=admin)
    assert created.status_code == 201, created.text
    return created.json["id"], Person("", "", created.json["key"])


def service_key(api: Api, admin: Person) -> tuple[str, str, Person]:
    """Return the ids of a new service account and of its access key, and the key's caller."""
    account = api.post("/api/v1/service-accounts", {"name": "sync"}, by=admin)
    assert account.status_code == 201, account.text
    user_id = account.json["id"]
    return user_id, *key_of(api, admin, "users:write", user_id=user_id)


def delete_service_account(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    user_id, _, caller = service_key(api, admin)
    return caller, lambda: api.delete(f"/api/v1/service-accounts/{user_id}", by=admin)


def revoke_key(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    key_id, caller = key_of(api, admin, "users:write")
    return caller, lambda: api.delete(f"/users/me/access-keys/{key_id}", by=admin)


def let_key_expire(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    _, caller = key_of(api, admin, "users:write")
    return caller, lambda: api.clock.advance(400 * DAY)


def suspend_administrator(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    other = api.person(admin=True)
    return other, lambda: api.patch(f"/users/{other.id}", {"status": "suspended"}, by=admin)


def demote_administrator(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    other = api.person(admin=True)
    return other, lambda: api.patch(f"/users/{other.id}", {"type": "USER"}, by=admin)


def demote_owner_of_key(api: Api, admin: Person) -> tuple[Person, Callable[[], Any]]:
    other = api.person(admin=True)
    _, caller = key_of(api, other, "users:write")
    return caller, lambda: api.patch(f"/users/{other.id}", {"type": "USER"}, by=admin)


@pytest.mark.parametrize(
    "end_right",
    [
        delete_service_account,
        revoke_key,
        let_key_expire,
        suspend_administrator,
        demote_administrator,
        demote_owner_of_key,
    ],
)
def test_an_import_ends_with_the_right_of_its_caller(
    api: Api, end_right: Callable[[Api, Person], tuple[Person, Callable[[], Any]]]
) -> None:
    admin = api.person(admin=True)
    caller, end = end_right(api, admin)
    lines = [{"email": f"user{number}@example.com"} for number in range(2 * CHUNK)]
    job = send(api, caller, lines)
    assert job.status_code == 202, job.text
    answers: list[Any] = []

    def end_once(_lines: int) -> None:
        if not answers:
            answers.append(end())

    api.container.get(ImportWorker).run(job.json["id"], end_once)
    ended = api.container.get(UserImports).get(job.json["id"])
    assert (ended.state, ended.created, ended.read) == ("revoked", CHUNK, CHUNK)
    assert rows(api, user_import_chunks) == rows(api, user_import_keys) == []
    (record,) = rows(api, audit_events, action="user-import.revoke")
    assert (record.actor_id, record.outcome) == (ended.created_by, "failure")
    assert record.details["created"] == str(CHUNK)


def test_an_import_goes_on_after_the_logout_of_its_administrator(api: Api) -> None:
    admin = api.person(admin=True)
    job = send(api, admin, [ANNA]).json
    assert api.delete(f"/authorizations/{admin.token}", by=admin).status_code == 200
    api.container.get(ImportWorker).run_due()
    assert api.container.get(UserImports).get(job["id"]).state == "finished"


def test_an_import_of_the_version_before_goes_on_without_the_key_of_its_caller(api: Api) -> None:
    admin = api.person(admin=True)
    key_id, caller = key_of(api, admin, "users:write")
    job = send(api, caller, [ANNA]).json
    with api.container.database.write() as connection:
        connection.execute(update(user_imports).values(key_id=None))
    assert api.delete(f"/users/me/access-keys/{key_id}", by=admin).status_code == 200
    api.container.get(ImportWorker).run_due()
    assert api.container.get(UserImports).get(job["id"]).state == "finished"
