"""The tokens of a login under threads, tasks and processes: a refresh token is used once."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import msgspec
import pytest
from tests.support.campaign import campaign_size

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import (
    AsyncClient,
    Client,
    FileTokens,
    MemoryTokens,
    Operation,
    Retries,
    Tokens,
    errors_by_code,
)
from strongroom_client._sync.session import Session
from strongroom_client.api import authorizations, users, verification
from strongroom_client.models import CaptchaRequest

CANCELLATIONS = campaign_size("CLIENT_CANCELLATIONS", 40)
PROCESS = """
import sys
from pathlib import Path
from strongroom_client import Client, FileTokens
from strongroom_client.api import users

with Client(sys.argv[1], tokens=FileTokens(Path(sys.argv[2]))) as client:
    sys.stdout.write("ready\\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(client.send(users.get_user("me")).id)
"""


@pytest.fixture
def store(server: LiveServer, alice: LiveUser, tmp_path: Path) -> FileTokens:
    """The tokens of a login whose access token is refused."""
    store = FileTokens(tmp_path / "tokens.json")
    with Client(server.url, tokens=store) as client:
        client.log_in(alice.email, PASSWORD)
    spoil(store)
    return store


def spoil(store: FileTokens) -> Tokens:
    """Replace the access token by one that the server refuses."""
    tokens = store.load()
    assert tokens is not None
    spoiled = msgspec.structs.replace(tokens, access_token="spoiled")
    store.save(spoiled)
    return spoiled


def test_the_file_is_for_its_owner_only(store: FileTokens, tmp_path: Path) -> None:
    assert (tmp_path / "tokens.json").stat().st_mode & 0o777 == 0o600


def test_threads_refresh_once(server: LiveServer, alice: LiveUser, store: FileTokens) -> None:
    with Client(server.url, tokens=store) as client, ThreadPoolExecutor(16) as pool:
        for _ in range(3):
            spoil(store)
            found = list(pool.map(lambda _: client.send(users.get_user("me")).id, range(16)))
            assert found == [alice.id] * 16


def test_tasks_refresh_once(server: LiveServer, alice: LiveUser, store: FileTokens) -> None:
    async def use() -> list[str]:
        async with AsyncClient(server.url, tokens=store) as client:
            users_found = await asyncio.gather(*(client.send(users.get_user("me")) for _ in range(50)))
            return [user.id for user in users_found]

    assert asyncio.run(use()) == [alice.id] * 50


def test_a_cancelled_task_loses_no_tokens(
    server: LiveServer, alice: LiveUser, store: FileTokens
) -> None:
    async def cancel_after(milliseconds: int) -> None:
        async with AsyncClient(server.url, tokens=store) as client:
            task = asyncio.ensure_future(client.send(users.get_user("me")))
            await asyncio.wait([task], timeout=milliseconds / 1000)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    for milliseconds in range(CANCELLATIONS):
        spoil(store)
        asyncio.run(cancel_after(milliseconds))
    with Client(server.url, tokens=store) as client:
        assert client.send(users.get_user("me")).id == alice.id


@pytest.fixture
def processes(
    server: LiveServer, tmp_path: Path, store: FileTokens
) -> "Iterator[list[subprocess.Popen[str]]]":
    """Processes that wait to send a request with the same tokens."""
    command: list[str | Path] = [sys.executable, "-c", PROCESS, server.url, tmp_path / "tokens.json"]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    yield started
    for process in started:
        process.kill()
        process.communicate()


def test_processes_refresh_once(alice: LiveUser, processes: "list[subprocess.Popen[str]]") -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in processes] == [alice.id] * 4


def test_a_login_that_was_ended_elsewhere_is_forgotten(
    server: LiveServer, store: FileTokens, tmp_path: Path
) -> None:
    with Client(server.url, tokens=store) as client:
        client.send(users.get_user("me"))
        elsewhere, tokens = FileTokens(tmp_path / "elsewhere"), store.load()
        assert tokens is not None
        elsewhere.save(tokens)
        with Client(server.url, tokens=elsewhere) as other:
            other.log_out()
        with pytest.raises(errors_by_code.TokenInvalid):
            client.send(users.get_user("me"))
    assert store.load() is None


def test_a_logout_removes_the_tokens(server: LiveServer, store: FileTokens) -> None:
    with Client(server.url, tokens=store) as client:
        client.log_out()
        assert store.load() is None


def test_the_device_id_of_the_server_is_sent_with_the_next_logins(
    server: LiveServer, alice: LiveUser, tmp_path: Path
) -> None:
    path, devices = tmp_path / "tokens.json", []
    for round_number in range(2):
        with Client(server.url, tokens=FileTokens(path)) as client:
            if round_number == 0:
                client.send(verification.create_captcha(body=CaptchaRequest()))
            client.log_in(alice.email, PASSWORD)
            logins = client.send(authorizations.list_authorizations("me")).data
            (current,) = (login for login in logins if login.current)
            devices.append(current.device)
            client.log_out()
    issued = FileTokens(path).load_device()
    assert issued is not None
    assert devices == [issued, issued]
    assert path.with_name("tokens.json.device").stat().st_mode & 0o777 == 0o600


def test_an_id_of_the_caller_stands_and_is_not_stored(server: LiveServer) -> None:
    store = MemoryTokens()
    operation = verification.create_captcha(body=CaptchaRequest(), x_device_id="mine")
    with Client(server.url, tokens=store) as client:
        client.send(operation)
        assert store.load_device() is None
        store.save_device("other")
        client.send(operation)
        assert store.load_device() == "other"


def test_a_refresh_whose_response_was_lost_keeps_the_login(
    server: LiveServer, alice: LiveUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = Session._transmit
    lost: list[httpx.Response] = []

    def lose_first(session: Session, operation: Operation[object], *rest: object) -> httpx.Response:
        response = sent(session, operation, *rest)  # type: ignore[arg-type]  # passed on
        if operation.path == "/authorizations/refresh" and not lost:
            lost.append(response)
            raise httpx.ReadError("broken")
        return response

    tokens = MemoryTokens()
    with Client(server.url, tokens=tokens, retries=Retries(first_wait=0.01)) as client:
        client.log_in(alice.email, PASSWORD)
        kept = tokens.load()
        assert kept is not None
        tokens.save(msgspec.structs.replace(kept, access_token="expired"))
        monkeypatch.setattr(Session, "_transmit", lose_first)
        assert client.me().id == alice.id
        client._session.refresh(tokens.load().access_token)  # type: ignore[union-attr]  # still there
        assert (client.me().id, len(lost)) == (alice.id, 1)
