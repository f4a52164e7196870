"""The command: login, lists, transfers, synchronization and share links, against a server."""

import fcntl
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner, Result

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import Client, Operation
from strongroom_client._sync.session import Session
from strongroom_client.api import tenants
from strongroom_client.cli import main
from strongroom_client.cli.durations import duration
from strongroom_client.cli.visible import visible
from strongroom_client.models import NewTenant

Run = Callable[..., Result]
PROGRAM = Path(sys.executable).with_name("strongroom-client")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("login")


@pytest.fixture(scope="module")
def run(folder: Path, server: LiveServer, alice: LiveUser) -> Run:
    """Run the command with a login."""

    def run(*arguments: object, stdin: str = "", status: int = 0) -> Result:
        environment = {"STRONGROOM_CLIENT_DIR": str(folder)}
        result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin, env=environment)
        assert result.exit_code == status, (result.output, result.exception)
        return result

    run("login", server.url, "--username", alice.email, "--stdin", stdin=f"{PASSWORD}\n")
    return run


@pytest.fixture
def tenant(client: Client, request: pytest.FixtureRequest) -> str:
    """The name of a new tenant."""
    name: str = request.node.name[:60]
    client.send(tenants.create_tenant(body=NewTenant(name=name)))
    return name


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A folder to synchronize."""
    root = tmp_path / "local"
    (root / "a" / "b").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "top.txt").write_text("top")
    (root / "a" / "b" / "报告.txt").write_text("report")
    return root


def actions(result: Result) -> list[tuple[str, str]]:
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return [(line["action"], line["path"]) for line in lines]


def content(root: Path) -> dict[str, str | None]:
    return {
        path.relative_to(root).as_posix(): None if path.is_dir() else path.read_text()
        for path in root.rglob("*")
    }


def test_the_login_is_for_its_owner_only(run: Run, folder: Path) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("*.json")}
    assert modes == {"server.json": 0o600, "tokens.json": 0o600}


def test_a_wrong_password_is_status_3(
    run: Run, server: LiveServer, alice: LiveUser, tmp_path: Path
) -> None:
    arguments = ["login", server.url, "--username", alice.email, "--stdin"]
    environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path)}
    result = CliRunner().invoke(main, arguments, input="Wrong1Horse\n", env=environment)
    assert result.exit_code == 3
    assert "error.invalid-credentials" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_go_up_and_down(run: Run, tenant: str, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("content")
    assert f"{tenant}:" in run("ls").stdout.splitlines()
    assert "note.txt" in run("up", note, f"{tenant}:").stdout
    run("up", note, f"{tenant}:", status=5)
    (line,) = run("--json", "ls", f"{tenant}:/").stdout.splitlines()
    assert json.loads(line)["name"] == "note.txt"
    run("down", f"{tenant}:/note.txt", tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_text() == "content"
    assert "does not exist" in run("down", f"{tenant}:/other.txt", tmp_path, status=4).stderr
    run("ls", "no-such-tenant:", status=4)
    run("ls", "path-without-tenant", status=2)


@pytest.mark.parametrize(
    ("name", "local"),
    [
        ("x" * 251 + ".txt", "x" * 251 + ".txt"),
        ("报" * 251 + ".txt", "报" * 83 + ".txt"),
        ("." + "告" * 200, "." + "告" * 84),
    ],
    ids=["255 bytes", "extension", "hidden"],
)
def test_a_long_name_comes_down_shortened_if_need_be(
    run: Run, tenant: str, tmp_path: Path, client: Client, name: str, local: str
) -> None:
    (tmp_path / "source").write_text("content")
    tenant_id = next(each.id for each in client.iterate(tenants.list_tenants()) if each.name == tenant)
    client.upload(tenant_id, tmp_path / "source", name=name)
    run("down", f"{tenant}:/{name}", tmp_path)
    assert (tmp_path / local).read_text() == "content"


def test_a_folder_is_synchronized_upwards_and_downwards(
    run: Run, tenant: str, local: Path, tmp_path: Path
) -> None:
    up = ("--json", "sync", local, f"{tenant}:/backup")
    first = actions(run(*up))
    assert sorted(first) == [
        ("copied", "a/b/报告.txt"),
        ("copied", "top.txt"),
        ("created", "a"),
        ("created", "a/b"),
        ("created", "empty"),
    ]
    assert actions(run(*up)) == []

    copy = tmp_path / "copy"
    down = ("--json", "sync", f"{tenant}:/backup", copy)
    run(*down)
    assert content(copy) == content(local)
    assert actions(run(*down)) == []

    (local / "top.txt").write_text("changed")
    shutil.rmtree(local / "a")
    assert actions(run(*up)) == [("copied", "top.txt")]
    assert actions(run(*up, "--delete")) == [("deleted", "a")]
    assert actions(run(*down)) == [("copied", "top.txt")]
    assert actions(run(*down, "--delete"))[-1] == ("deleted", "a")
    assert content(copy) == content(local)


def test_local_changes_are_undone_although_the_server_has_none(
    run: Run, tenant: str, local: Path, tmp_path: Path
) -> None:
    run("sync", local, f"{tenant}:")
    copy = tmp_path / "copy"
    down = ("--json", "sync", f"{tenant}:", copy)
    run(*down)
    (copy / "top.txt").unlink()
    (copy / "a" / "b" / "报告.txt").write_text("damaged")
    assert sorted(actions(run(*down))) == [("copied", "a/b/报告.txt"), ("copied", "top.txt")]
    assert content(copy) == content(local)


def test_a_file_replaces_a_folder_only_with_delete(run: Run, tenant: str, local: Path) -> None:
    run("sync", local, f"{tenant}:")
    shutil.rmtree(local / "a")
    (local / "a").write_text("a file now")
    assert "--delete" in run("sync", local, f"{tenant}:", status=1).stderr
    assert sorted(actions(run("--json", "sync", local, f"{tenant}:", "--delete"))) == [
        ("copied", "a"),
        ("deleted", "a"),
    ]


def test_links_in_the_target_are_not_followed(
    run: Run, tenant: str, local: Path, tmp_path: Path
) -> None:
    run("sync", local, f"{tenant}:")
    outside, copy = tmp_path / "outside", tmp_path / "copy"
    outside.mkdir()
    copy.mkdir()
    (copy / "a").symlink_to(outside)
    run("sync", f"{tenant}:", copy, status=1)
    assert list(outside.iterdir()) == []


def test_names_that_one_side_does_not_take_are_skipped(
    run: Run, client: Client, tenant: str, local: Path, tmp_path: Path
) -> None:
    (local / "line\nbreak").mkdir()
    (local / "line\nbreak" / "inside").write_text("inside")
    (local / "line\nbreak.txt").write_text("refused by the server")
    Path(os.fsdecode(os.fsencode(local) + b"/\xff.txt")).write_text("not UTF-8")
    taken = {"a", "a/b", "a/b/报告.txt", "empty", "top.txt", "back\\slash"}
    (local / "back\\slash").write_text("taken")
    up = ("--json", "sync", local, f"{tenant}:")
    for expected in (taken, set()):
        result = run(*up, status=1)
        assert {path for _, path in actions(result)} == expected
        assert "4 entries were skipped" in result.stderr
    assert actions(run(*up, "--delete", status=1)) == []

    tenant_id = next(each.id for each in client.iterate(tenants.list_tenants()) if each.name == tenant)
    client.upload(tenant_id, local / "top.txt", name="报" * 255)
    copy = tmp_path / "copy"
    result = run("--json", "sync", f"{tenant}:", copy, status=1)
    assert {path for _, path in actions(result)} == taken
    assert "1 entries were skipped" in result.stderr
    assert set(content(copy)) == taken


def test_names_in_another_normalization_form_are_the_same(
    run: Run, tenant: str, local: Path, tmp_path: Path
) -> None:
    decomposed, composed = "cafe\u0301", "caf\u00e9"
    (local / decomposed).mkdir()
    (local / decomposed / decomposed).write_text("one")
    up = ("--json", "sync", local, f"{tenant}:", "--delete")
    assert ("copied", f"{composed}/{composed}") in actions(run(*up))
    assert actions(run(*up)) == []
    assert composed in run("ls", f"{tenant}:/{decomposed}").stdout
    down = ("--json", "sync", f"{tenant}:", local, "--delete")
    assert actions(run(*down)) == []
    (local / decomposed / decomposed).write_text("damaged")
    assert actions(run(*down)) == [("copied", f"{composed}/{composed}")]
    assert content(local / decomposed) == {decomposed: "one"}

    (local / decomposed / composed).write_text("a twin of the other name")
    assert "1 entries were skipped" in run(*up, status=1).stderr


def test_a_name_that_is_not_utf8_is_not_uploaded(run: Run, tenant: str, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.txt"))
    path.write_text("content")
    assert "is not UTF-8" in run("up", path, f"{tenant}:", status=2).stderr


def test_a_share_link_is_made_listed_and_revoked(
    run: Run, tenant: str, local: Path, server: LiveServer
) -> None:
    run("up", local / "top.txt", f"{tenant}:")
    made = json.loads(run("--json", "share", "create", f"{tenant}:/top.txt", "--days", 3).stdout)
    secret = made["url"].rpartition("/")[2]
    assert server.request("GET", f"/api/v1/shares/{secret}").json()["kind"] == "read"
    assert made["id"] in run("share", "list", f"{tenant}:").stdout
    assert made["id"] in run("share", "list", f"{tenant}:/top.txt").stdout
    run("share", "revoke", f"{tenant}:", made["id"])
    assert run("share", "list", f"{tenant}:").stdout == ""
    run("share", "revoke", f"{tenant}:", made["id"], status=4)


def test_an_access_key_logs_in(
    run: Run, server: LiveServer, alice: LiveUser, client: Client, tmp_path: Path
) -> None:
    tenant_id = client.send(tenants.create_tenant(body=NewTenant(name="Keyed"))).id
    scopes = ("--scope", "files:read", "--tenant", tenant_id)
    key = server.command("access-keys", "create", "--user", alice.id, *scopes)
    environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path)}
    runner = CliRunner(env=environment)
    result = runner.invoke(main, ["login", server.url, "--key", "--stdin"], input=key)
    assert result.exit_code == 0, result.output
    result = runner.invoke(main, ["ls", f"{tenant_id}:"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert runner.invoke(main, ["ls"]).exit_code == 5
    assert runner.invoke(main, ["logout"]).exit_code == 0
    assert runner.invoke(main, ["ls"]).exit_code == 3


def test_a_process_prints_plain_lines_and_no_bar(
    run: Run, tenant: str, local: Path, folder: Path
) -> None:
    command: list[str | Path] = [PROGRAM, "sync", local, f"{tenant}:"]
    environment = {**os.environ, "STRONGROOM_CLIENT_DIR": str(folder)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "copied top.txt\n" in result.stdout


def test_a_terminal_shows_a_bar(run: Run, tenant: str, large: Path, folder: Path) -> None:
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
    command: list[str | Path] = [PROGRAM, "up", large, f"{tenant}:"]
    environment = {**os.environ, "STRONGROOM_CLIENT_DIR": str(folder)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=end) as process:
        os.close(end)
        shown = b""
        # Linux reports the end of a terminal as an error.
        with suppress(OSError):
            while piece := os.read(terminal, 4096):
                shown += piece
    os.close(terminal)
    assert process.returncode == 0
    assert b"large.bin: 100%" in shown or b"large.bin:  50%" in shown


def test_folders_are_made_moved_and_deleted(run: Run, tenant: str, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("content")
    run("mkdir", f"{tenant}:/a")
    run("mkdir", f"{tenant}:/a", status=5)
    run("mkdir", "-p", f"{tenant}:/a/b")
    run("mkdir", f"{tenant}:/x/y", status=4)
    run("up", note, f"{tenant}:/a")
    run("mv", f"{tenant}:/a/note.txt", f"{tenant}:/a/b")
    run("mv", f"{tenant}:/a/b/note.txt", f"{tenant}:/renamed.txt")
    assert "renamed.txt" in run("ls", f"{tenant}:").stdout
    run("mv", f"{tenant}:/renamed.txt", "Other:/x", status=2)
    assert "use --recursive" in run("rm", f"{tenant}:/a", status=2).stderr
    run("rm", "-r", f"{tenant}:/a", f"{tenant}:/renamed.txt")
    assert run("ls", f"{tenant}:").stdout == ""
    assert f"  {tenant}\n" in run("tenants").stdout
    assert json.loads(run("--json", "tenants", "--create", "Made").stdout)["name"] == "Made"


def test_a_folder_goes_up_with_its_content(run: Run, tenant: str, local: Path) -> None:
    (local / "link").symlink_to(local / "top.txt")
    assert f"{local} is a folder; use --recursive." in run("up", local, f"{tenant}:", status=2).stderr
    run("up", "-r", local, f"{tenant}:")
    assert [line.split()[-1] for line in run("ls", f"{tenant}:/local").stdout.splitlines()] == [
        "a/",
        "empty/",
        "top.txt",
    ]
    assert "报告.txt" in run("ls", f"{tenant}:/local/a/b").stdout
    run("up", "-r", "--on-conflict", "replace", local, f"{tenant}:")
    missing = run("up", local / "missing", f"{tenant}:", status=1).stderr
    assert missing == f"Error: {local}/missing: No such file or directory\n"


def test_files_are_copied_on_the_server(run: Run, tenant: str, local: Path) -> None:
    run("up", "-r", local, f"{tenant}:")
    run("cp", f"{tenant}:/local/top.txt", f"{tenant}:/other.txt")
    run("cp", f"{tenant}:/other.txt", f"{tenant}:/local/empty")
    run("cp", f"{tenant}:/other.txt", f"{tenant}:/local/empty", status=5)
    run("cp", "--on-conflict", "rename", f"{tenant}:/other.txt", f"{tenant}:/local/empty")
    assert len(run("ls", f"{tenant}:/local/empty").stdout.splitlines()) == 2
    run("cp", f"{tenant}:/local", f"{tenant}:/copy")
    assert run("cat", f"{tenant}:/copy/a/b/报告.txt", f"{tenant}:/copy/top.txt").stdout == "reporttop"
    assert "is a folder" in run("cat", f"{tenant}:/copy", status=2).stderr
    run("cp", f"{tenant}:/missing", f"{tenant}:/x", status=4)
    run("cp", f"{tenant}:/other.txt", "Other:/x", status=2)


def test_a_content_is_written_as_it_is_until_the_reader_ends(
    run: Run, tenant: str, large: Path, folder: Path
) -> None:
    run("up", large, f"{tenant}:")
    environment = {**os.environ, "STRONGROOM_CLIENT_DIR": str(folder)}
    command: list[str | Path] = [PROGRAM, "cat", f"{tenant}:/large.bin"]
    whole = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert (whole.stdout, whole.stderr) == (large.read_bytes(), b"")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10) == large.read_bytes()[:10]
        process.stdout.close()
        assert process.stderr.read() == b""


def test_names_are_searched(run: Run, tenant: str, local: Path) -> None:
    run("up", "-r", local, f"{tenant}:")
    assert sorted(run("search", f"{tenant}:", "TOP").stdout.splitlines()) == [
        f"{tenant}:/local/top.txt",
    ]
    assert run("search", f"{tenant}:/local/a", "报").stdout == f"{tenant}:/local/a/b/报告.txt\n"
    assert run("search", f"{tenant}:/local/a", "top").stdout == ""
    assert run("search", "--type", "folder", f"{tenant}:", "l").stdout == f"{tenant}:/local/\n"
    run("search", f"{tenant}:/missing", "x", status=4)


def test_deleted_files_are_restored(run: Run, tenant: str, local: Path) -> None:
    run("up", "-r", local, f"{tenant}:")
    run("rm", f"{tenant}:/local/top.txt")
    run("restore", f"{tenant}:/local/top.txt")
    assert run("cat", f"{tenant}:/local/top.txt").stdout == "top"
    for text in ("older", "newer"):
        (local / "twice.txt").write_text(text)
        run("up", local / "twice.txt", f"{tenant}:")
        run("rm", f"{tenant}:/twice.txt")
    run("restore", f"{tenant}:/twice.txt")
    assert run("cat", f"{tenant}:/twice.txt").stdout == "newer"
    run("restore", f"{tenant}:/twice.txt", status=5)
    (older,) = map(json.loads, run("--json", "restore", "--list", f"{tenant}:").stdout.splitlines())
    assert older["id"] in run("restore", "--list", f"{tenant}:").stdout
    run("restore", f"{tenant}:/{older['id']}", "--to", f"{tenant}:/local/a")
    assert run("cat", f"{tenant}:/local/a/twice.txt").stdout == "older"
    assert "is not in the trash" in run("restore", f"{tenant}:/twice.txt", status=4).stderr
    run("restore", f"{tenant}:/x", "--to", "Other:/", status=2)


def test_names_never_command_the_terminal(run: Run, tenant: str, client: Client) -> None:
    tenant_id = next(each.id for each in client.iterate(tenants.list_tenants()) if each.name == tenant)
    name = "invoice\u202efdp.exe"
    made = client.upload(tenant_id, b"x", name=name)
    shown = "invoice\\u202efdp.exe"
    for arguments in (
        ("ls", f"{tenant}:"),
        ("search", f"{tenant}:", "invoice"),
        ("mv", f"{tenant}:/{name}", f"{tenant}:/{name}"),
        ("rm", f"{tenant}:/{name}"),
        ("restore", f"{tenant}:/{made.id}"),
        ("--json", "ls", f"{tenant}:"),
    ):
        output = run(*arguments).stdout
        assert shown in output, output
        assert "\u202e" not in output
    assert json.loads(output)["name"] == name
    missing = run("ls", f"{tenant}:/\x1b[2J{name}", status=4)
    assert "\\u001b[2Jinvoice\\u202e" in missing.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc\x1b[2J\x7f\x9b", "a\\u0009b\\u000ac\\u001b[2J\\u007f\\u009b"),
        ("\u200e\u061c\u2066\u2028\ufeff\u00ad", "\\u200e\\u061c\\u2066\\u2028\\ufeff\\u00ad"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("报告 café 👩\u200d💻 क\u200cख", "报告 café 👩\u200d💻 क\u200cख"),
    ],
    ids=["control", "formatting", "tag", "letters"],
)
def test_hidden_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


class NoServer(BaseHTTPRequestHandler):
    """Answers as a web server of another kind."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Hello</title>")

    def log_message(self, *_: object) -> None:
        """Write no log."""


@pytest.mark.parametrize("key", ["srk_x", None])
def test_another_kind_of_server_is_named(tmp_path: Path, key: str | None) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), NoServer) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        arguments = ["login", f"http://127.0.0.1:{other.server_port}", "--stdin", "--username", "alice"]
        environment = {"STRONGROOM_CLIENT_DIR": str(tmp_path)}
        by_key = ["--key"] if key else []
        result = CliRunner().invoke(main, [*arguments, *by_key], input="srk_x\n", env=environment)
        other.shutdown()
    assert result.exit_code in (1, 6)
    assert result.stderr.startswith("Error: No Strongroom server answered")


def test_an_interrupted_command_is_status_130_and_names_the_remedy(
    run: Run, tenant: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "upload", interrupt)
    assert "Run the same command again" in run("up", large, f"{tenant}:", status=130).stderr


def test_an_outage_is_reported_with_the_remedy(
    run: Run, tenant: str, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sends = Session._transmit

    def fail(session: Session, operation: Operation[object], *rest: object) -> httpx.Response:
        if operation.method == "PATCH":
            raise httpx.ReadError("broken")
        return sends(session, operation, *rest)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(Session, "_transmit", fail)
    said = run("up", large, f"{tenant}:", status=6).stderr
    assert said.count("The server does not answer. Trying again in ") == 3
    assert "Run the same command again to continue" in said


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0 s"), (12, "12 s"), (200, "3 min 20 s"), (76_520, "21 h 15 min")]
)
def test_durations_have_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_an_unreachable_server_is_status_6(tmp_path: Path) -> None:
    environment = {
        "STRONGROOM_CLIENT_DIR": str(tmp_path),
        "STRONGROOM_URL": "http://127.0.0.1:9",
        "STRONGROOM_KEY": "srk_x",
    }
    result = CliRunner().invoke(main, ["ls"], env=environment)
    assert result.exit_code == 6
