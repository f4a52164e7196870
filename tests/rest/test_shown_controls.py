"""Characters that reorder or control text are visible in mails and on a terminal."""

from pathlib import Path

from tests.support.api import PASSWORD, Api
from tests.support.commands import run_command

from strongroom.cli.output import terminal_json
from strongroom.foundation.text_direction import with_shown_controls
from strongroom.identity.users.resolver import IdentityResolver
from strongroom.plugin_api.login import Credential, VerifiedCredential

REVERSED = "Ann \u202egpj.exe"
SHOWN = "Ann \u27e8U+202E\u27e9gpj.exe"


def test_mails_show_them(api: Api) -> None:
    admin = api.person(admin=True, name=REVERSED)
    tenant = api.tenant(admin, name="Family \U0001f469\u200d\U0001f4bb")
    api.post(f"{tenant}/invitations", {"email": "eve@example.com"}, by=admin)
    text = api.outbox()[-1]["text"]
    assert "\u202e" not in text
    assert "\u27e8U+202E\u27e9gpj" in text
    assert "\U0001f469\u200d\U0001f4bb" in text


def test_notices_of_plugins_show_them(api: Api) -> None:
    host = api.container.hosts.get("storage_local")
    host.notify(api.person().id, "A drop", f"File: {REVERSED}\x1b[2J\u2028End")
    text = api.outbox()[-1]["text"]
    assert SHOWN in text
    assert not {"\u202e", "\x1b", "\u2028"} & {*text}


def test_the_command_line_shows_them(config: Path) -> None:
    arguments = ("--config", str(config), "users", "create", "--password-stdin", "--name", REVERSED)
    plain = run_command(*arguments, "--username", "ann", stdin=PASSWORD)
    assert plain.stdout.rstrip().endswith(f" {SHOWN}"), plain.stderr
    as_json = run_command(*arguments, "--username", "bob", "--json", stdin=PASSWORD)
    assert "\\u202e" in as_json.stdout, as_json.stderr
    refused = run_command(*arguments[:-1], "a\x1b[2Jb", "--username", "eve", stdin=PASSWORD)
    assert refused.returncode == 1
    assert "control" in refused.stderr


def test_texts_for_a_terminal() -> None:
    assert with_shown_controls("a\x1b[2J\x9b\x7f\u2028b\n\tc") == (
        "a\u27e8U+001B\u27e9[2J\u27e8U+009B\u27e9\u27e8U+007F\u27e9\u27e8U+2028\u27e9b\n\tc"
    )
    assert terminal_json({"name": "\u62a5\u202e\x9b"}) == '{"name": "\u62a5\\u202e\\u009b"}'


def test_a_name_of_a_platform_follows_the_rule(api: Api) -> None:
    resolver = api.container.get(IdentityResolver)
    stated = ["Ann\n\x1b[2J\0B", "\u200b\u3164", "\ud800Li", None]
    stored = []
    with api.container.database.write() as connection:
        for number, name in enumerate(stated):
            credential = Credential("acme", str(number))
            verified = VerifiedCredential(credential, may_register=True, display_name=name)
            stored.append(resolver.resolve(connection, verified).account.user.name)
    assert stored == ["Ann [2J B", "", "Li", ""]
