"""Users as administrators manage them, against a server."""

import asyncio
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import AsyncClient, Client, errors_by_code
from strongroom_client.models import NewUser, User, UserChange

PHPASS = {"algorithm": "phpass", "hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}
PHPASS_PASSWORD = "test12345"


def a_name() -> str:
    return f"u{secrets.token_hex(8)}"


def created(client: Client, **fields: object) -> User:
    """Create a user with a username of its own."""
    return client.users.create(NewUser(name="Anna", username=a_name(), **fields))  # type: ignore[arg-type]


def test_an_administrator_creates_a_user_who_logs_in(server: LiveServer, administrator: Client) -> None:
    email = f"{a_name()}@example.com"
    user = created(
        administrator, email=email, email_verified=True, password=PASSWORD, external_id=a_name()
    )
    assert (user.email, user.email_verified, user.status) == (email, True, "active")
    with Client(server.url) as client:
        assert client.log_in(email, PASSWORD).id == user.id


def test_a_user_keeps_the_password_of_another_system(server: LiveServer, administrator: Client) -> None:
    user = created(administrator, password_hash=PHPASS)
    with Client(server.url) as client:
        assert client.log_in(str(user.username), PHPASS_PASSWORD).id == user.id


def test_each_wrong_field_has_its_error(administrator: Client) -> None:
    with pytest.raises(errors_by_code.ValidationFailed) as raised:
        administrator.users.create(NewUser(name="Anna", username="a", mobile="12"))
    assert sorted(detail.field for detail in raised.value.details) == ["mobile", "username"]


def test_a_taken_name_is_an_error_of_its_field(administrator: Client) -> None:
    user = created(administrator)
    with pytest.raises(errors_by_code.CredentialTaken) as raised:
        administrator.users.create(NewUser(name="Ben", username=user.username))
    assert raised.value.field == "username"


def test_users_are_found_and_iterated(administrator: Client, alice: LiveUser) -> None:
    user = created(administrator, mobile="+8613800138000")
    users = administrator.users
    for name in (user.username, user.mobile):
        assert users.find(str(name)) == user
    by_email = users.find(alice.email)
    assert by_email is not None
    assert by_email.id == alice.id
    assert users.find("nobody@example.com") is None
    assert users.get(user.id) == user
    assert [each.id for each in users.iterate(username=str(user.username))] == [user.id]
    assert alice.id in [each.id for each in users.iterate(status="active", type_="USER")]


def test_a_suspended_user_cannot_log_in_until_reinstated(
    server: LiveServer, administrator: Client
) -> None:
    user = created(administrator, password=PASSWORD)
    with Client(server.url) as client:
        client.log_in(str(user.username), PASSWORD)
        end = datetime.now(UTC) + timedelta(days=1)
        suspended = administrator.users.suspend(user.id, reason="left", until=end)
        assert (suspended.status, suspended.suspension_reason) == ("suspended", "left")
        assert suspended.suspended_until is not None
        assert abs(suspended.suspended_until - end) < timedelta(seconds=1)
        with pytest.raises(errors_by_code.TokenInvalid):
            client.me()
        with pytest.raises(errors_by_code.UserSuspended):
            client.log_in(str(user.username), PASSWORD)
        assert administrator.users.reinstate(user.id).status == "active"
        assert client.log_in(str(user.username), PASSWORD).id == user.id


def test_a_user_is_changed_logged_out_and_deleted(server: LiveServer, administrator: Client) -> None:
    user = created(administrator, password=PASSWORD)
    assert administrator.users.change(user.id, UserChange(name="Anne")).name == "Anne"
    with Client(server.url) as client:
        client.log_in(str(user.username), PASSWORD)
        administrator.users.end_logins(user.id)
        with pytest.raises(errors_by_code.TokenInvalid):
            client.me()
    administrator.users.delete(user.id)
    with pytest.raises(errors_by_code.NotFound):
        administrator.users.get(user.id)


def test_users_are_listed_by_external_id_and_sorted(administrator: Client) -> None:
    user = created(administrator, external_id=a_name())
    users = administrator.users
    assert [each.id for each in users.iterate(external_id=str(user.external_id))] == [user.id]
    times = [each.created_at for each in users.iterate(sort="-createdAt")]
    assert times == sorted(times, reverse=True)


def test_contacts_are_set_and_removed(administrator: Client) -> None:
    user, email = created(administrator), f"{a_name()}@example.com"
    administrator.users.set_contact(user.id, "email", email, verified=True)
    changed = administrator.users.get(user.id)
    assert (changed.email, changed.email_verified) == (email, True)
    administrator.users.remove_contact(user.id, "email")
    assert administrator.users.get(user.id).email is None


def test_a_temporary_password_is_replaced_at_the_login(
    server: LiveServer, administrator: Client
) -> None:
    user = created(administrator)
    password = administrator.users.give_temporary_password(user.id).password
    with Client(server.url) as client:
        with pytest.raises(errors_by_code.PasswordChangeRequired):
            client.log_in(str(user.username), password)
        assert client.log_in(str(user.username), password, new_password=PASSWORD).id == user.id
        # A password that need not change stays.
        assert client.log_in(str(user.username), PASSWORD, new_password="Other1Horse").id == user.id
        assert client.log_in(str(user.username), PASSWORD).id == user.id


def test_a_link_sets_a_password_once(server: LiveServer, administrator: Client) -> None:
    user = created(administrator)
    link = administrator.users.create_link(user.id, "invite", send=False)
    token = str(link.url).partition("#")[2]
    with Client(server.url) as client:
        client.redeem_link(token, PASSWORD)
        assert client.log_in(str(user.username), PASSWORD).id == user.id
        with pytest.raises(errors_by_code.AccountLinkInvalid):
            client.redeem_link(token, PASSWORD)


def test_metadata_are_merged(administrator: Client) -> None:
    user, users = created(administrator, metadata={"team": "x", "room": 1}), administrator.users
    assert users.change_metadata(user.id, {"room": None, "desk": 7}) == {"team": "x", "desk": 7}
    assert users.metadata(user.id) == {"team": "x", "desk": 7}
    assert users.server_metadata(user.id) == {}
    assert users.change_server_metadata(user.id, {"plan": "gold"}) == {"plan": "gold"}


def test_administrators_do_not_suspend_themselves(administrator: Client, root: LiveUser) -> None:
    with pytest.raises(errors_by_code.OwnAccount):
        administrator.users.suspend(root.id)


def test_other_users_manage_no_users(client: Client, alice: LiveUser) -> None:
    with pytest.raises(errors_by_code.Forbidden):
        client.users.suspend(alice.id)


def test_the_asynchronous_client_manages_users(server: LiveServer, root: LiveUser) -> None:
    async def use() -> list[str]:
        async with AsyncClient(server.url) as client:
            await client.log_in(root.email, PASSWORD)
            user = await client.users.create(NewUser(name="Anna", username=a_name()))
            return [each.name async for each in client.users.iterate(username=str(user.username))]

    assert asyncio.run(use()) == ["Anna"]


def test_users_of_an_iterator_are_imported_with_progress(administrator: Client) -> None:
    imports, names = administrator.user_imports, [a_name() for _ in range(450)]
    users = ({"name": f"User {name}", "username": name} for name in [*names, "x"])
    reports: list[int] = []
    job = imports.create(users)
    ended = imports.wait(job.id, progress=lambda each: reports.append(each.read), seconds=0.1)
    assert (ended.state, ended.created, ended.failed) == ("finished", 450, 1)
    assert reports == sorted(reports)
    assert [(error.line, error.field) for error in imports.errors(job.id)] == [(451, "username")]
    assert administrator.users.find(names[-1]) is not None
    assert job.id in [each.id for each in imports.iterate()]


def test_the_asynchronous_client_imports_a_file(
    server: LiveServer, root: LiveUser, tmp_path: Path
) -> None:
    path = tmp_path / "users.ndjson"
    path.write_text('{"name": "Anna", "username": "a"}\n')

    async def use() -> list[str]:
        async with AsyncClient(server.url) as client:
            await client.log_in(root.email, PASSWORD)
            job = await client.user_imports.create(path, dry_run=True)
            assert (await client.user_imports.wait(job.id, seconds=0.1)).dry_run
            return [str(error.field) async for error in client.user_imports.errors(job.id)]

    assert asyncio.run(use()) == ["username"]


def test_exported_users_are_what_an_import_accepts(
    server: LiveServer, root: LiveUser, administrator: Client
) -> None:
    user = created(administrator, external_id=a_name(), password=PASSWORD)
    (line,) = (each for each in administrator.users.export() if each.get("username") == user.username)
    assert (line["externalId"], line["name"]) == (user.external_id, "Anna")
    assert "password" not in line
    imports = administrator.user_imports
    job = imports.wait(imports.create([line], on_conflict="skip").id, seconds=0.1)
    assert (job.skipped, job.failed) == (1, 0)

    async def usernames() -> list[object]:
        async with AsyncClient(server.url) as client:
            await client.log_in(root.email, PASSWORD)
            return [each.get("username") async for each in client.users.export()]

    assert user.username in asyncio.run(usernames())


def test_an_impersonation_reads_as_the_user_until_it_is_ended(administrator: Client) -> None:
    user = created(administrator)
    with administrator.impersonate(user.id, "Ticket 7", minutes=5) as acting:
        assert (acting.me().id, acting.user.id) == (user.id, user.id)
        assert acting.expires_at < datetime.now(UTC) + timedelta(minutes=6)
        with pytest.raises(errors_by_code.ImpersonationRefused):
            acting.create_tenant("Acme")
    with pytest.raises(errors_by_code.TokenInvalid):
        acting.me()
    acting.end()
    assert administrator.me().type_ == "ADMIN"


def test_an_impersonation_that_the_server_has_ended_is_not_refreshed(administrator: Client) -> None:
    user = created(administrator)
    acting = administrator.impersonate(user.id, "Ticket 7")
    administrator.users.suspend(user.id)
    with pytest.raises(errors_by_code.TokenInvalid):
        acting.me()
    acting.end()
    with pytest.raises(errors_by_code.UserSuspended):
        administrator.impersonate(user.id, "Ticket 7")


def test_the_asynchronous_client_impersonates(server: LiveServer, root: LiveUser) -> None:
    async def use() -> bool:
        async with AsyncClient(server.url) as client:
            await client.log_in(root.email, PASSWORD)
            user = await client.users.create(NewUser(name="Anna", username=a_name()))
            async with await client.impersonate(user.id, "Ticket 7") as acting:
                return (await acting.me()).id == user.id

    assert asyncio.run(use())
