"""Pruning deletes expired rows and nothing else, on both databases, during other transactions."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select
from tests.support.api import PASSWORD, Api, Person
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.databases import PostgresqlDatabases

from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.sealing import seal
from strongroom.activity.events.models import DeadLetter, event_dead_letters
from strongroom.activity.notifications.service import sent_messages
from strongroom.assembly.features import import_models
from strongroom.assembly.pruning import PruneJob
from strongroom.clock import iso_format
from strongroom.content.nodes.lock_models import node_locks
from strongroom.content.tenants.models import invitations
from strongroom.extensions.first_start.first_administrator import Setup, setup_links
from strongroom.extensions.observability.instances.models import Instance, instances
from strongroom.extensions.observability.instances.store import InstanceStore
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import metadata
from strongroom.foundation.database.pace import Pace, paced
from strongroom.foundation.database.pruning import prune, prune_some
from strongroom.foundation.idempotency import idempotency_keys
from strongroom.foundation.jobs.named_leases import plugin_leases
from strongroom.foundation.limits.backends import counters, rate_events
from strongroom.foundation.limits.service import Counters
from strongroom.foundation.plugins.shared_values import plugin_shared_values
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.access_keys.models import access_keys
from strongroom.identity.sessions.models import (
    authorizations,
    factor_challenges,
    oauth_states,
    refresh_tokens,
)
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.identity.users.account_links import AccountLink, AccountLinks, LinkKind
from strongroom.identity.users.contact_links import ContactLink
from strongroom.identity.users.models import account_links, contact_links
from strongroom.identity.verification.captchas import captchas
from strongroom.identity.verification.codes import verification_codes
from strongroom.plugin_api.pruning import PruneStep
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

DAY = 24 * HOUR
EXPIRING = (
    captchas,
    verification_codes,
    oauth_states,
    factor_challenges,
    setup_links,
    counters,
    rate_events,
    authorizations,
    refresh_tokens,
    access_keys,
    invitations,
    plugin_leases,
    plugin_shared_values,
    account_links,
    contact_links,
    idempotency_keys,
    instances,
    node_locks,
)


pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(
        {
            "plugins": {"enabled": ["storage_local", "factor_totp"]},
            "messages": {"retention_days": 90},
            "audit": {"retention_days": 365},
        }
    ),
]


def live(api: Api) -> None:
    """Leave a row in each of the tables."""
    person = api.person()
    api.log_in(person.email, "Wrong1Password")
    api.code(person.email, "reset-password")
    api.post("/captchas", {})
    api.container.get(OAuthStateStore).issue("test", "browser", None, {}, Origin(address="192.0.2.1"))
    api.container.get(Setup).issue(Origin())
    assert api.post("/users/me/factors", {"kind": "totp"}, by=person).status_code == 201
    create_key(api, person)
    invited = {"email": "invited@example.com"}
    keyed = {"by": person, "headers": {"Idempotency-Key": "once"}}
    tenant = api.tenant(person)
    assert api.post(f"{tenant}/invitations", invited, **keyed).status_code == 201
    assert api.container.hosts.get("storage_local").leases.acquire("import", DAY // 1000)
    values = api.container.hosts.get("storage_local").values
    values.put("token", "secret", expires_at=api.clock.now() + DAY)
    link_account(api, person)
    link_contact(api, person)
    bury_event(api)
    file = api.upload(tenant, person, "file", b"x")
    locked = api.post(f"{tenant}/files/{file['id']}/locks", {"seconds": HOUR // 1000}, by=person)
    assert locked.status_code == 201
    instance = Instance("files1:8000", "1.0", api.clock.now(), 0, "{}")
    api.container.get(InstanceStore).put(instance)


def link_account(api: Api, person: Person) -> None:
    """Store a link by which the user could set a password for a day."""
    now = api.clock.now()
    link = AccountLink("0" * 64, person.id, LinkKind.RESET, None, None, person.id, now, now + DAY)
    with api.container.database.write() as connection:
        api.container.get(AccountLinks).replace(connection, link)


def link_contact(api: Api, person: Person) -> None:
    """Store a link by which the user could take a former address back for a day."""
    now = api.clock.now()
    link = ContactLink("1" * 64, person.id, "email", "a@example.com", None, 1, now, now, now + DAY)
    with api.container.database.write() as connection:
        connection.execute(insert(contact_links).values(asdict(link)))


def create_key(api: Api, person: Person) -> None:
    """Create an access key that ends in eight days, a day before the warning."""
    wanted = {
        "name": "robot",
        "scopes": ["users:read"],
        "expiresAt": iso_format(api.clock.now() + 8 * DAY),
        "currentPassword": PASSWORD,
    }
    assert api.post("/users/me/access-keys", wanted, by=person).status_code == 201


def bury_event(api: Api) -> None:
    positions = api.container.events.positions
    (position,), _ = positions.claim("receiver", ["stream"])
    dead = DeadLetter("receiver", "stream", 1, "file.created", "EventRejected", api.clock.now())
    assert positions.save(replace(position, position=1), dead=dead, release=True)


def counts(api: Api) -> dict[str, int]:
    tables = (*EXPIRING, event_dead_letters, sent_messages, audit_events)
    seal(api.container.database)
    with api.container.database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in tables
        }


def clean(api: Api) -> dict[str, int]:
    return dict(api.container.prune_job().run())


def run_jobs(api: Api) -> None:
    """Run the jobs that are due, as a server does."""
    runner = api.container.job_runner(api.container.jobs())
    runner.register()
    runner.run_due()


def test_what_still_counts_is_left_alone(api: Api) -> None:
    live(api)
    before = counts(api)
    assert all(before.values()), before
    assert set(clean(api).values()) == {0}
    assert counts(api) == before


def test_each_thing_goes_when_its_time_is_over_and_not_before(api: Api, clock: ManualClock) -> None:
    live(api)
    clock.advance(5 * MINUTE)
    assert clean(api) == {
        "captchas": 1,
        "verification codes": 1,
        "states of browsers": 0,
        "challenges of second factors": 1,
        "setup links": 0,
        "counters": 0,
        "leases of plugins": 0,
        "shared values of plugins": 0,
        "idempotency keys": 0,
        "links that set a password": 0,
        "links that restore a contact": 0,
        "events of rates": 0,
        "logins and refresh tokens": 0,
        "access keys": 0,
        "invitations": 0,
        "records of messages": 0,
        "audit events": 0,
        "deleted tenants": 0,
        "personal data of deleted users": 0,
        "user imports": 0,
        "files in the trash": 0,
        "versions of files": 0,
        "file events": 0,
        "failed erasures of plugins": 0,
        "dead letters of events": 0,
        "instances": 0,
        "locks": 0,
        "errors of directories": 0,
    }
    clock.advance(HOUR)
    cleaned = clean(api)
    assert cleaned["counters"] >= 2
    assert cleaned["states of browsers"] == cleaned["setup links"] == cleaned["locks"] == 1
    clock.advance(DAY)
    cleaned = clean(api)
    assert cleaned["events of rates"] >= 3
    api.container.job_runner(api.container.jobs()).run_now("core.warn_of_ending_keys")
    # The code, the invitation, and the warning of the ending key.
    assert counts(api)["sent_messages"] == 3
    clock.advance(30 * DAY)
    cleaned = clean(api)
    assert cleaned["logins and refresh tokens"] == 2
    assert cleaned["dead letters of events"] == 1
    assert cleaned["access keys"] == 0
    clock.advance(7 * DAY)
    assert clean(api)["access keys"] == 1
    assert all(counts(api)[table.name] == 0 for table in EXPIRING)
    clock.advance(60 * DAY)
    # The code and the invitation, and the warning a day later.
    assert clean(api)["records of messages"] == 3
    assert counts(api)["audit_events"] > 0
    clock.advance(365 * DAY)
    assert clean(api)["audit events"] > 0


def test_servers_prune_once_a_day(api: Api, clock: ManualClock) -> None:
    run_jobs(api)
    live(api)
    clock.advance(DAY - MINUTE)
    run_jobs(api)
    assert counts(api)["captchas"] == 1
    clock.advance(MINUTE)
    run_jobs(api)
    assert counts(api)["captchas"] == 0
    assert api.container.job_leases.states()["core.prune"].succeeded_at == clock.now()


def test_a_limit_still_holds_after_it(api: Api) -> None:
    for _ in range(3):
        assert api.log_in("nobody@example.com").status_code == 401
    clean(api)
    assert api.log_in("nobody@example.com").status_code == 400


def test_a_login_in_use_outlives_its_spent_tokens(api: Api, clock: ManualClock) -> None:
    person = api.person()
    token = api.log_in(person.email).headers["X-Refresh-Token"]
    clock.advance(20 * DAY)
    token = api.post("/authorizations/refresh", {"refreshToken": token}).headers["X-Refresh-Token"]
    clock.advance(11 * DAY)
    # The other login has expired with its token, and the first token of this one.
    assert clean(api)["logins and refresh tokens"] == 3
    assert api.post("/authorizations/refresh", {"refreshToken": token}).status_code == 200


def test_captchas_and_codes_do_not_heap_up_even_without_it(api: Api, clock: ManualClock) -> None:
    for _ in range(6):
        api.code("a@example.com", "register")
        api.post("/captchas", {})
        clock.advance(HOUR)
    assert counts(api)["captchas"] == 1
    assert counts(api)["verification_codes"] == 1


def filled(database: Database, clock: ManualClock, count: int) -> Counters:
    keep = Counters(clock, SecretKeys("s" * 32))
    with database.write() as connection:
        for number in range(count):
            keep.add(connection, "test", str(number), lifetime=HOUR)
    return keep


def test_it_goes_in_batches(database_url: str, clock: ManualClock) -> None:
    database = Database(database_url)
    filled(database, clock, 25)
    old = counters.c.expires_at <= clock.now() + HOUR
    with database.write() as connection:
        assert prune_some(connection, counters.c.subject, old, 10) == 10
    assert prune(database, counters.c.subject, old, batch=5) == 15
    assert prune(database, counters.c.subject, old, batch=5) == 0
    database.close()


def test_a_paced_removal_reports_its_batches_and_stops_after_one(
    database_url: str, clock: ManualClock
) -> None:
    database, batches = Database(database_url), list[int]()
    filled(database, clock, 25)
    old = counters.c.expires_at <= clock.now() + HOUR
    with paced(Pace(0.001, lambda: len(batches) >= 2, batches.append)):
        assert prune(database, counters.c.subject, old, batch=5) == 10
    assert batches == [5, 5]
    assert prune(database, counters.c.subject, old, batch=5) == 15
    database.close()


class StoppingRun:
    """A run of a job on a server that stops."""

    should_stop = True


def test_the_job_of_a_stopping_server_ends_after_a_batch(api: Api, clock: ManualClock) -> None:
    database = api.container.database
    removed = list[int]()
    filled(database, clock, 25)
    clock.advance(HOUR)
    old = counters.c.expires_at <= clock.now()

    def remove() -> int:
        removed.append(prune(database, counters.c.subject, old, 5))
        return removed[-1]

    step = PruneStep("counters", remove)
    PruneJob({"first": step, "second": step}).run_job(StoppingRun())
    assert removed == [5]


def test_many_at_once_remove_each_row_once_and_none_that_was_renewed(
    database_url: str, clock: ManualClock
) -> None:
    database = Database(database_url)
    keep = filled(database, clock, 200)
    clock.advance(HOUR)

    def renew(number: int) -> int:
        with database.write() as connection:
            return keep.add(connection, "test", str(number), lifetime=HOUR)

    with ThreadPoolExecutor(8) as pool:
        removals = [pool.submit(keep.prune, database) for _ in range(4)]
        renewals = list(pool.map(renew, range(0, 200, 10)))
        removed = sum(removal.result() for removal in removals)
    # Each counts from zero, whether or not the old row was pruned before.
    assert renewals == [1] * 20
    assert removed in range(180, 201)
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(counters)).scalar_one() == 20
    database.close()


def test_on_postgresql_it_never_waits(
    postgresql_databases: PostgresqlDatabases, clock: ManualClock
) -> None:
    with postgresql_databases.create() as url:
        one, other = Database(url), Database(url)
        keep = filled(one, clock, 3)
        clock.advance(HOUR)
        with one.write() as connection:
            assert keep.add(connection, "test", "1", lifetime=HOUR) == 1
            assert keep.prune(other) == 2
        one.close()
        other.close()


def test_the_command_says_what_went(config: Path, database_url: str) -> None:
    database = Database(database_url)
    # Of long ago, since the command goes by the machine's clock.
    filled(database, ManualClock(1_000_000_000_000), 3)
    database.close()
    result = run_command("--config", str(config), "prune")
    assert (result.returncode, result.stderr) == (0, "")
    assert "counters: 3 removed\n" in result.stdout
    assert len(result.stdout.splitlines()) == 28


def test_the_command_names_a_step_that_fails_and_runs_the_others(config: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "plugins.d").mkdir()
    (folder / "acme.py").write_text(
        "from strongroom.plugin_api import hookimpl\n"
        "from strongroom.plugin_api.pruning import PruneStep\n"
        'API_VERSION = "2.0"\n'
        "@hookimpl\ndef register_prune_steps(host):\n"
        '    return [PruneStep("rows", lambda: 1 // 0), PruneStep("others", lambda: 7)]\n'
    )
    change_config(config, {"plugins": {"folder": str(folder)}})
    result = run_command("--config", str(config), "prune")
    assert result.returncode == 1
    assert "not removed: acme.rows: ZeroDivisionError" in result.stderr
    assert "acme.others: 7 removed\n" in result.stdout
    assert "captchas: 0 removed\n" in result.stdout


def test_every_table_whose_rows_expire_is_looked_after() -> None:
    import_models()
    expiring = {table.name for table in metadata.tables.values() if "expires_at" in table.c}
    # The others are removed together with their bytes, grants or users.
    others = {"grants", "group_grants", "bundles", "uploads", "direct_uploads", "blob_holds"}
    others.add("passwords")
    assert expiring - {table.name for table in EXPIRING} == others
