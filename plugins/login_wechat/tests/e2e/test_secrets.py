"""After all WeChat flows, none of their secrets is in the server's logs, files or responses."""

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.support.http import Caller, Reply
from tests.support.server import serving, write_config
from tests.support.traces import dump, raw_files, stands_in
from tests.support.wechat import APPS, WeChat, wechat

from strongroom.testing.server import free_port

AUTHORIZATIONS = "/api/v1/wechat-authorizations"
MINI_PROGRAM = "/api/v1/miniProgram-authorization"
BINDING = "/api/v1/users/me/wechatIds"


@dataclass
class Run:
    """The requests of a run, their responses and their secrets."""

    caller: Caller
    wechat: WeChat
    secrets: list[str] = field(default_factory=lambda: [app.secret for app in APPS.values()])
    answers: list[Reply] = field(default_factory=list)

    def send(self, status: int, path: str, body: Any, by: str = "", cookie: str = "") -> Reply:
        """Send a POST, and require its status."""
        caller = self.caller.bearing(by) if by else self.caller
        reply = caller.send("POST", path, body, **({"Cookie": cookie} if cookie else {}))
        assert reply.status == status, reply
        self.answers.append(reply)
        return reply

    def code(self, app: str, person: str) -> str:
        """Return a code, and note it with the key of its session."""
        code = self.wechat.code(app, person)
        self.secrets.append(code)
        if app == "mini":
            self.secrets.append(self.wechat.platform.session_key(self.wechat.apps[app].appid, person))
        return code

    def state(self, by: str = "") -> tuple[str, str]:
        """Return a state and the cookie that goes with it; both are the browser's own to know."""
        body = {"app": "site", "purpose": "bind" if by else "login"}
        reply = self.send(201, "/api/v1/wechat-qr-codes", body, by)
        self.answers.remove(reply)
        # Header names are case-insensitive.
        headers = {name.lower(): value for name, value in reply.headers.items()}
        state, cookie = reply.json["state"], headers["set-cookie"].partition(";")[0]
        self.secrets += [state, cookie.partition("=")[2]]
        return state, cookie

    def scan(self, status: int, path: str, person: str, by: str = "") -> Reply:
        """Let a person scan a code and the browser come back."""
        state, cookie = self.state(by)
        body = {"state": state, "code": self.code("site", person)}
        reply = self.send(status, path, body, by, cookie)
        self.send(400, path, body, by, cookie)
        return reply

    def fail(self, path: str, errcode: int, status: int) -> None:
        """Let the platform fail with an error message that contains the secrets of the request."""
        code = self.code("mini", "wei")
        said = f"{code} {APPS['mini'].secret}"
        self.wechat.platform.failures.plan(path, errcode, message=said)
        self.send(status, MINI_PROGRAM, {"code": code})


def run_everything(run: Run) -> None:
    """Log in by both kinds of app, bind, and fail in each way."""
    platform = run.wechat.platform
    run.wechat.join_account("site", "mini")
    run.scan(200, AUTHORIZATIONS, "lin")
    phone_code = run.wechat.phone_code("mini", "ada")
    code = run.code("mini", "ada")
    data = platform.give_user_data(run.wechat.apps["mini"].appid, "ada")
    body = {"code": code, "phoneCode": phone_code, **data}
    run.send(200, MINI_PROGRAM, body)
    run.send(401, MINI_PROGRAM, body)
    run.secrets += [phone_code, data["encryptedData"], data["signature"]]
    app_token = platform.app_tokens.get(run.wechat.apps["mini"], force=False)["access_token"]
    run.secrets.append(str(app_token))
    run.send(401, MINI_PROGRAM, {**body, "code": run.code("mini", "ada")})
    # Without a contact, so that the recent login is the proof.
    token = run.send(200, MINI_PROGRAM, {"code": run.code("mini", "wei")}).json["accessToken"]
    run.scan(201, BINDING, "wei", token)
    run.scan(409, BINDING, "lin", token)
    for errcode, status in ((40013, 503), (40125, 503), (45011, 503), (40226, 401), (99999, 503)):
        run.fail("/sns/jscode2session", errcode, status)
    platform.failures.plan_answer("/sns/jscode2session", b'{"session_key": "planted-session-key"')
    run.send(503, MINI_PROGRAM, {"code": run.code("mini", "wei")})
    run.secrets.append("planted-session-key")
    run.secrets += list(platform.person_tokens._access) + list(platform.person_tokens._refresh)


@pytest.fixture
def remains(tmp_path: Path, database_url: str) -> tuple[list[str], dict[str, str]]:
    """The secrets, and every place where one might stand."""
    output, port = tmp_path / "output", free_port()
    with wechat() as platform, ExitStack() as stack:
        changes = (platform.config(f"http://127.0.0.1:{port}"), {"server": {"port": port}})
        config = write_config(tmp_path, database_url, *changes)
        server = stack.enter_context(serving(config, output))
        run = Run(Caller(server.url), platform)
        run_everything(run)
        places = raw_files(database_url, "running") | dump(database_url)
    places |= raw_files(database_url, "stopped")
    places["output"] = output.read_text()
    places |= {
        f"answer {number}": json.dumps([reply.json, reply.headers])
        for number, reply in enumerate(run.answers)
    }
    return run.secrets, places


def test_no_secret_stands_in_output_tables_or_answers(
    remains: tuple[list[str], dict[str, str]],
) -> None:
    secrets, places = remains
    found = [
        (secret, name)
        for name, place in places.items()
        for secret in secrets
        if stands_in(secret, place)
    ]
    assert found == []
    # Otherwise nothing would be found however much stood there.
    assert len(secrets) > 25
    assert "wx00000000000000b1" in places["credentials"]
    assert "[login.wechat.apps.mini]" in places["output"]
    assert "login" in places["audit_events"]
