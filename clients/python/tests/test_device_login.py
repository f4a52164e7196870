"""Logins by a code, which the user enters in a browser on any computer."""

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import pytest
from click.testing import CliRunner

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser
from strongroom_client import (
    AsyncClient,
    Client,
    DeviceCodes,
    DeviceLoginFailed,
    FileTokens,
    MemoryTokens,
    NotLoggedIn,
    Retries,
)
from strongroom_client._async import client as async_client
from strongroom_client._async.device_login import AsyncDeviceLogin
from strongroom_client._sync import client as sync_client
from strongroom_client._sync.device_login import DeviceLogin
from strongroom_client._sync.session import Session
from strongroom_client.cli import main
from strongroom_client.device_codes import is_secure

METADATA: Final = {
    "token_endpoint": "https://files.example.com/oauth2/token",
    "revocation_endpoint": "https://files.example.com/oauth2/revoke",
    "device_authorization_endpoint": "https://files.example.com/oauth2/device-authorization",
    "strongroom_device_client": "strongroom-client",
}
CODES: Final = {
    "device_code": "secret",
    "user_code": "BCDF-GHJK",
    "verification_uri": "https://files.example.com/device",
    "expires_in": 60,
    "interval": 5,
}
TOKENS: Final = {"access_token": "access", "expires_in": 300, "refresh_token": "refresh"}


class User:
    """Enters the code in a browser while the program waits for the given time."""

    def __init__(self, server: LiveServer, user: LiveUser, decision: str, waits: int = 1) -> None:
        self._browser = Browser(server)
        self._user, self._decision, self._waits = user, decision, waits
        self.code = ""
        self.pauses: list[float] = []

    def show(self, codes: DeviceCodes) -> None:
        self.code = codes.user_code
        assert codes.verification_uri.endswith("/device")

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == self._waits:
            self._browser.open("/device")
            self._browser.log_in(self._user)
            self._browser.submit("/device", user_code=self.code)
            assert "strongroom-client (command line)" in self._browser.page.text
            self._browser.submit("/device", decision=self._decision)

    async def sleep_async(self, seconds: float) -> None:
        await asyncio.to_thread(self.sleep, seconds)


class FakeServer:
    """Answers polls in order, the last one again and again; the clock runs while the program waits."""

    def __init__(self, *errors: str, metadata: Any = METADATA, codes: Any = CODES) -> None:
        self._errors = list(errors)
        self._metadata, self._codes = metadata, codes
        self.now = 0.0
        self.pauses: list[float] = []
        self.shown: list[str] = []
        self.paths: list[str] = []

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)

    def answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.paths.append(path)
        if path.startswith("/.well-known/"):
            return httpx.Response(404 if self._metadata is None else 200, json=self._metadata)
        if path.endswith("/device-authorization"):
            return httpx.Response(200, json=self._codes)
        error = self._errors.pop(0) if len(self._errors) > 1 else self._errors[0]
        if error == "lost":
            raise httpx.ReadTimeout("lost")
        if error:
            return httpx.Response(400, json={"error": error})
        return httpx.Response(200, json=TOKENS)

    def log_in(self, url: str = "https://files.example.com") -> Any:
        http = httpx.Client(base_url=url, transport=httpx.MockTransport(self.answer))
        session = Session(http, key=None, tokens=MemoryTokens(), retries=Retries(attempts=1))
        login = DeviceLogin(session, self.sleep, lambda: self.now)
        return login.run(lambda codes: self.shown.append(codes.user_code), ("files:read",))


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> Callable[[User], User]:
    """Let a user act while the program waits."""

    def replace(user: User) -> User:
        monkeypatch.setattr(sync_client, "DeviceLogin", partial(DeviceLogin, sleep=user.sleep))
        replaced = partial(AsyncDeviceLogin, sleep=user.sleep_async)
        monkeypatch.setattr(async_client, "AsyncDeviceLogin", replaced)
        return user

    return replace


@pytest.fixture
def store(
    server: LiveServer, alice: LiveUser, waiting: Callable[[User], User], tmp_path: Path
) -> FileTokens:
    """The tokens of a login by a code."""
    store, user = FileTokens(tmp_path / "tokens.json"), waiting(User(server, alice, "allow"))
    with Client(server.url, tokens=store) as client:
        client.log_in_by_device(user.show)
    return store


def spoil(store: FileTokens) -> None:
    """Replace the access token by one that the server refuses."""
    tokens = store.load()
    assert tokens is not None
    store.save(msgspec.structs.replace(tokens, access_token="spoiled"))


def test_both_clients_log_in_by_a_code(
    server: LiveServer, alice: LiveUser, waiting: Callable[[User], User]
) -> None:
    user = waiting(User(server, alice, "allow"))
    with Client(server.url) as client:
        client.log_in_by_device(user.show)
        list(client.tenants())
    assert user.pauses == [5]

    async def run() -> None:
        async with AsyncClient(server.url) as client:
            await client.log_in_by_device(other.show, scopes=["tenants:read"])
            async for _ in client.tenants():
                pass

    other = waiting(User(server, alice, "allow"))
    asyncio.run(run())


def test_the_tokens_are_refreshed_at_the_token_endpoint(server: LiveServer, store: FileTokens) -> None:
    before = store.load()
    spoil(store)
    with Client(server.url, tokens=store) as client:
        list(client.tenants())
    after = store.load()
    assert before is not None
    assert after is not None
    assert after.refresh_token != before.refresh_token
    assert after.grant == before.grant


def test_a_logout_revokes_the_grant(server: LiveServer, store: FileTokens, tmp_path: Path) -> None:
    tokens = store.load()
    with Client(server.url, tokens=store) as client:
        client.log_out()
    assert store.load() is None
    stolen = FileTokens(tmp_path / "stolen.json")
    stolen.save(tokens)
    spoil(stolen)
    with Client(server.url, tokens=stolen) as client, pytest.raises(NotLoggedIn):
        list(client.tenants())
    assert stolen.load() is None


def test_a_user_refuses_the_login(
    server: LiveServer, alice: LiveUser, waiting: Callable[[User], User]
) -> None:
    user = waiting(User(server, alice, "refuse"))
    with Client(server.url) as client, pytest.raises(DeviceLoginFailed, match="user refused"):
        client.log_in_by_device(user.show)


def test_the_server_slows_the_program_down(
    server: LiveServer, alice: LiveUser, waiting: Callable[[User], User]
) -> None:
    user = waiting(User(server, alice, "allow", waits=3))
    with Client(server.url) as client:
        client.log_in_by_device(user.show)
    # The clock of the server has hardly moved between the first two requests.
    assert user.pauses == [5, 5, 10]


def test_each_slow_down_adds_five_seconds() -> None:
    server = FakeServer("authorization_pending", "slow_down", "authorization_pending", "slow_down", "")
    assert server.log_in().refresh_token == "refresh"
    assert server.pauses == [5, 5, 10, 10, 15]


def test_a_lost_response_doubles_the_pause() -> None:
    server = FakeServer("lost", "")
    server.log_in()
    assert server.pauses == [5, 10]


def test_the_polls_end_with_the_code() -> None:
    server = FakeServer("authorization_pending")
    with pytest.raises(DeviceLoginFailed, match="in time"):
        server.log_in()
    assert sum(server.pauses) < 60
    expired = FakeServer("authorization_pending", "expired_token")
    with pytest.raises(DeviceLoginFailed, match="in time"):
        expired.log_in()
    assert len(expired.pauses) == 2


@pytest.mark.parametrize("pause", [0, -5])
def test_the_pause_is_a_second_at_least(pause: int) -> None:
    server = FakeServer("authorization_pending", "", codes={**CODES, "interval": pause})
    server.log_in()
    assert server.pauses == [1, 1]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://files.example.com/device", True),
        ("http://127.0.0.1:8000/device", True),
        ("http://[::1]:8000/device", True),
        ("http://localhost:8000/device", True),
        ("http://files.example.com/device", False),
        ("http://127.0.0.1.example.com/device", False),
        ("http://localhost@example.com/device", False),
        ("javascript:alert(1)", False),
        ("//files.example.com", False),
    ],
)
def test_only_https_and_this_computer_are_secure(url: str, expected: bool) -> None:
    assert is_secure(url) is expected


def test_an_insecure_page_is_not_shown() -> None:
    server = FakeServer("", codes={**CODES, "verification_uri": "http://files.example.com/device"})
    with pytest.raises(DeviceLoginFailed, match="neither HTTPS"):
        server.log_in()
    assert (server.shown, server.pauses) == ([], [])


@pytest.mark.parametrize(
    "endpoint", ["token_endpoint", "revocation_endpoint", "device_authorization_endpoint"]
)
def test_an_insecure_endpoint_gets_nothing(endpoint: str) -> None:
    server = FakeServer("", metadata={**METADATA, endpoint: "http://files.example.com/oauth2"})
    with pytest.raises(DeviceLoginFailed, match="neither HTTPS"):
        server.log_in()
    assert len(server.paths) == 1


def test_an_insecure_server_is_not_asked() -> None:
    server = FakeServer("")
    with pytest.raises(DeviceLoginFailed, match="neither HTTPS"):
        server.log_in("http://files.example.com")
    assert server.paths == []


def test_a_server_without_the_plugin_is_named_with_what_to_enable() -> None:
    with pytest.raises(DeviceLoginFailed, match="enable the plugin oidc_provider"):
        FakeServer("", metadata=None).log_in()
    without = {name: value for name, value in METADATA.items() if name != "strongroom_device_client"}
    with pytest.raises(DeviceLoginFailed, match="set device_client"):
        FakeServer("", metadata=without).log_in()


def test_another_error_is_passed_on() -> None:
    with pytest.raises(Exception, match="invalid_grant"):
        FakeServer("invalid_grant").log_in()


def test_the_command_logs_in_and_out_by_a_code(
    server: LiveServer, alice: LiveUser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    user = User(server, alice, "allow")

    class ObservedLogin(DeviceLogin):
        def run(self, show: Any, scopes: Any) -> Any:
            def both(codes: DeviceCodes) -> None:
                user.show(codes)
                show(codes)

            return super().run(both, scopes)

    monkeypatch.setattr(sync_client, "DeviceLogin", partial(ObservedLogin, sleep=user.sleep))
    folder = tmp_path / "login"
    runner = CliRunner(env={"STRONGROOM_CLIENT_DIR": str(folder)})
    result = runner.invoke(main, ["login", server.url, "--device"])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"Logged in to {server.url}.\n"
    assert "/device in a browser, and enter this code within 10 min:" in result.stderr
    assert user.code in result.stderr
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("*.json")}
    assert modes == {"server.json": 0o600, "tokens.json": 0o600}
    assert json.loads((folder / "tokens.json").read_bytes())["grant"]["clientId"] == "strongroom-client"
    assert runner.invoke(main, ["tenants", "--create", "Device"]).exit_code == 0
    result = runner.invoke(main, ["logout"])
    assert (result.exit_code, (folder / "tokens.json").exists()) == (0, False)
    assert "already ended" not in result.stderr


def test_the_command_takes_one_way_to_log_in(server: LiveServer) -> None:
    for arguments, message in (
        (["--device", "--web"], "--device excludes"),
        (["--scope", "files:read"], "--scope needs --device"),
    ):
        result = CliRunner().invoke(main, ["login", server.url, *arguments])
        assert (result.exit_code, message in result.stderr) == (2, True)
