"""Logins, operations, errors and lists, against a server."""

import asyncio
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest
from bench.forest import plant
from tests.support.campaign import campaign_size

from strongroom.assembly.container import build
from strongroom.foundation.config import load
from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, live_server
from strongroom_client import AsyncClient, Client, errors_by_code
from strongroom_client.api import files, second_factors, tenants, trash, users
from strongroom_client.models import FactorAnswer, NewFactor, NewFolder, NewTenant

NODES = campaign_size("CLIENT_NODES", 4000)
PAGE = 200


def key_of(server: LiveServer, user_id: str) -> str:
    """Return an access key of a user that reads."""
    scopes = ("--scope", "files:read", "--scope", "tenants:read")
    return server.command("access-keys", "create", "--user", user_id, *scopes).strip()


def test_a_client_without_a_login_gets_the_error_of_the_code(server: LiveServer) -> None:
    with Client(server.url) as client, pytest.raises(errors_by_code.TokenRequired) as raised:
        client.send(tenants.list_tenants())
    assert (raised.value.status, raised.value.code) == (401, "error.token-required")
    assert raised.value.request_id


def test_a_wrong_password_is_invalid_credentials(server: LiveServer, alice: LiveUser) -> None:
    with Client(server.url) as client, pytest.raises(errors_by_code.InvalidCredentials):
        client.log_in(alice.email, "Wrong1Horse")


def test_the_error_of_a_field_names_it(client: Client) -> None:
    with pytest.raises(errors_by_code.ValidationFailed) as raised:
        client.send(tenants.create_tenant(body=NewTenant(name="")))
    assert raised.value.field == "name"


def test_a_list_arrives_compressed(client: Client, server: LiveServer, alice: LiveUser) -> None:
    codings: list[str | None] = []

    def note(response: httpx.Response) -> None:
        codings.append(response.headers.get("Content-Encoding"))

    tenant = client.send(tenants.create_tenant(body=NewTenant(name="Compressed"))).id
    for number in range(4):
        client.send(files.create_folder(tenant, body=NewFolder(name=f"folder {number}")))
    with Client(server.url, http=httpx.Client(event_hooks={"response": [note]})) as other:
        other.log_in(alice.email, PASSWORD)
        listed = other.send(files.list_files(tenant, "me"))
    assert (len(listed.data), codings[-1]) == (4, "gzip")


def test_a_password_steps_up(client: Client) -> None:
    with pytest.raises(errors_by_code.WrongPassword):
        client.step_up(password="Wrong1Horse")
    client.step_up(password=PASSWORD)
    assert client.send(tenants.list_tenants()).success


def test_logging_out_ends_the_login(client: Client) -> None:
    client.log_out()
    with pytest.raises(errors_by_code.TokenRequired):
        client.send(users.get_user("me"))


def test_an_access_key_is_sent_as_it_is(server: LiveServer, alice: LiveUser, tenant_id: str) -> None:
    with Client(server.url, key=key_of(server, alice.id)) as client:
        assert client.send(tenants.get_tenant(tenant_id)).id == tenant_id
        with pytest.raises(errors_by_code.InsufficientScope):
            client.send(files.create_folder(tenant_id, body=NewFolder(name="Reports")))


def enrol(client: Client, factor: NewFactor, answer: FactorAnswer) -> Mapping[str, Any]:
    """Enrol a second factor, whose answer may be that of an app, and return what the server shows."""
    begun = client.send(second_factors.begin_factor("me", body=factor))
    if "secret" in begun.shown:
        answer = FactorAnswer(answer=pyotp.TOTP(begun.shown["secret"]).now())
    return client.send(second_factors.confirm_factor("me", begun.id, body=answer)).shown


def enrol_both(client: Client) -> list[str]:
    """Enrol an app and recovery codes, and return the latter."""
    enrol(client, NewFactor(kind="totp", name="Phone"), FactorAnswer())
    shown = enrol(client, NewFactor(kind="recovery-code"), FactorAnswer())
    codes: list[str] = shown["recoveryCodes"]
    return codes


def test_a_second_factor_answers_the_challenge(server: LiveServer) -> None:
    alice = server.user()
    with Client(server.url) as client:
        client.log_in(alice.email, PASSWORD)
        codes = enrol_both(client)
    answers = [{"totp": "000000"}, {"recoveryCode": codes[0]}]
    challenges: list[Mapping[str, Any]] = []

    def factor(challenge: Mapping[str, Any]) -> Mapping[str, Any] | None:
        challenges.append(challenge)
        return answers[len(challenges) - 1]

    with Client(server.url) as other:
        with pytest.raises(errors_by_code.SecondFactorRequired):
            other.log_in(alice.email, PASSWORD)
        assert other.log_in(alice.email, PASSWORD, second_factor=factor).id == alice.id
        other.step_up(second_factor=lambda _: {"recoveryCode": codes[1]})
        assert other.send(users.get_user("me")).id == alice.id
    assert len(challenges) == len(answers)
    assert "totp" in challenges[0]["methods"]


def test_a_list_is_iterated_page_by_page(client: Client, tenant_id: str) -> None:
    for number in range(7):
        client.send(files.create_folder(tenant_id, body=NewFolder(name=f"folder {number}")))
    found = client.iterate(files.list_files(tenant_id, "me", page_size=3, sort="-name"))
    assert [node.name for node in found] == [f"folder {number}" for number in range(6, -1, -1)]


def test_records_that_are_deleted_while_a_list_is_iterated_skip_no_other(
    client: Client, tenant_id: str
) -> None:
    made = [client.create_folder(tenant_id, f"folder {number}").id for number in range(9)]
    seen = []
    for node in client.iterate(files.list_files(tenant_id, "me", page_size=2)):
        client.delete(tenant_id, node.id)
        seen.append(node.id)
    assert seen == made
    deleted = []
    for item in client.iterate(trash.list_trash(tenant_id, page_size=2)):
        client.trash.delete(tenant_id, item.id)
        deleted.append(item.id)
    assert sorted(deleted) == sorted(made)


def test_methods_change_files(client: Client) -> None:
    tenant = client.create_tenant("Methods")
    assert tenant.id in [each.id for each in client.tenants()]
    assert client.me().id == client.send(users.get_user("me")).id
    folder = client.create_folder(tenant.id, "Reports")
    inner = client.create_folder(tenant.id, "2026", folder.id)
    assert [node.name for node in client.files(tenant.id, folder.id)] == ["2026"]
    assert client.rename(tenant.id, inner.id, "2027").name == "2027"
    assert client.move(tenant.id, inner.id, None).parent_id is None
    assert client.move(tenant.id, inner.id, folder.id, "2028").name == "2028"
    assert client.file(tenant.id, inner.id).parent_id == folder.id
    client.delete(tenant.id, folder.id)
    assert list(client.files(tenant.id)) == []


def test_tasks_share_a_client(server: LiveServer, alice: LiveUser) -> None:
    async def use() -> list[str]:
        async with AsyncClient(server.url) as client:
            await client.log_in(alice.email, PASSWORD)
            names = [f"tenant {number}" for number in range(5)]
            made = [client.send(tenants.create_tenant(body=NewTenant(name=name))) for name in names]
            await asyncio.gather(*made)
            return [each.name async for each in client.iterate(tenants.list_tenants(page_size=2))]

    assert set(asyncio.run(use())) >= {f"tenant {number}" for number in range(5)}


def test_a_captcha_is_solved_once(tmp_path: Path) -> None:
    captcha: dict[str, Any] = {"login_failures_before_captcha": 1}
    questions: list[Mapping[str, Any]] = []

    def solve(question: Mapping[str, Any]) -> str:
        questions.append(question)
        return "1234"

    config = {"limits": captcha, "captcha": {"provider": "fixed", "answer": "1234"}}
    with live_server(tmp_path, config=config) as server:
        alice = server.user()
        with Client(server.url, captcha=solve) as client:
            for _ in range(2):
                with pytest.raises(errors_by_code.InvalidCredentials):
                    client.log_in(alice.email, "Wrong1Horse")
            client.log_in(alice.email, PASSWORD)
    assert len(questions) == 2


@pytest.fixture(scope="module")
def forest(server: LiveServer) -> Iterator[Client]:
    """A client of a user who sees many files, all named differently."""
    container = build(load(server.config, {}))
    try:
        planted = plant(container, NODES)
    finally:
        container.close()
    with Client(server.url, key=key_of(server, planted.member.user_id)) as client:
        yield client


def test_lists_of_any_length_take_the_memory_of_one_page(forest: Client) -> None:
    tenant = next(iter(forest.iterate(tenants.list_tenants())))
    own = next(
        node for node in forest.iterate(files.list_files(tenant.id, "me")) if node.type_ == "folder"
    )
    listing = files.list_files_in_folder(tenant.id, "me", own.id, page_size=PAGE)
    forest.send(listing)
    tracemalloc.start()
    try:
        count = sum(1 for _ in forest.iterate(listing))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == NODES - 1000
    assert peak < 4 * 1024 * 1024
