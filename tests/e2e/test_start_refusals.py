"""A configuration that cannot be served: one line on standard error, and exit code 2."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.config import write_toml
from tests.support.distributions import install
from tests.support.server import serving

PREAMBLE = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.captcha import CaptchaProvider
API_VERSION = "2.0"
"""
CAPTCHA = """
class Riddle(CaptchaProvider):
    name = {name!r}
    kind = "riddle"
    def issue(self):
        raise AssertionError("no test gets this far")
    def verify(self, state, answer):
        raise AssertionError("no test gets this far")
@hookimpl
def register_captcha_providers():
    return [Riddle]
"""


@dataclass
class Deployment:
    """A configuration file, and a folder of installed plugins next to those of the environment."""

    config: Path
    site: Path

    def replace(self, old: str, new: str) -> None:
        """Change the configuration."""
        text = self.config.read_text()
        assert text.count(old) == 1
        self.config.write_text(text.replace(old, new))

    def enable(self, *names: str) -> None:
        """Enable plugins besides the local storage."""
        listed = ", ".join(f'"{name}"' for name in ("storage_local", *names))
        self.replace('enabled = ["storage_local"]', f"enabled = [{listed}]")

    def refusal(self, status: int = 2) -> str:
        """Start the server, which must refuse with one line; return it without its beginning."""
        result = run_command("serve", "--config", str(self.config))
        assert (result.returncode, result.stdout) == (status, "")
        assert result.stderr.startswith("strongroom: ")
        assert result.stderr.endswith("\n")
        assert result.stderr.count("\n") == 1, result.stderr
        return result.stderr.removeprefix("strongroom: ").rstrip("\n")


@pytest.fixture
def deployment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    config, site = tmp_path / "strongroom.toml", tmp_path / "site"
    # The tests name lines of this file.
    write_toml(
        config,
        {
            "server": {"port": free_port(), "data_dir": f"{tmp_path}/data"},
            "plugins": {"enabled": ["storage_local"]},
            "storages": {"main": {"backend": "local", "root": f"{tmp_path}/files"}},
            "login": {"methods": ["password"]},
        },
    )
    site.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    return Deployment(config, site)


def test_a_storage_whose_plugin_is_not_enabled(deployment: Deployment) -> None:
    deployment.replace('enabled = ["storage_local"]', "enabled = []")
    assert deployment.refusal() == (
        f"{deployment.config}:7: storages.main.backend: "
        'no enabled plugin offers a storage backend "local"; add "storage_local" to plugins.enabled'
    )


def test_a_plugin_that_is_not_installed(deployment: Deployment) -> None:
    deployment.enable("storage_tape")
    line = deployment.refusal()
    assert line.startswith(
        f'{deployment.config}:5: plugins.enabled: plugin "storage_tape" is not installed; '
        "pip install strongroom-storage-tape, or "
    )


def test_a_plugin_that_is_misspelt(deployment: Deployment) -> None:
    deployment.replace('"storage_local"', '"storage_locla"')
    assert deployment.refusal().endswith('or did you mean "storage_local"?')


@pytest.mark.parametrize(
    ("right", "wrong", "fault"),
    [
        ("port =", "prot =", '2: server.prot: unknown key; did you mean "port"?'),
        ("[plugins]", "[plugin]", '4: plugin: unknown key; did you mean "plugins"?'),
        (
            "[login]",
            "reserve_byte = 1\n[login]",
            '9: storages.main.reserve_byte: unknown key; did you mean "reserve_bytes"?',
        ),
        ('backend = "local"', "backend = 7", "7: storages.main.backend: must be a string"),
        ('methods = ["password"]', 'methods = "password"', "10: login.methods: must be a list"),
        (
            'methods = ["password"]',
            'methods = ["pasword"]',
            '10: login.methods: no enabled plugin offers a login method "pasword"; did you mean',
        ),
        (
            "[login]",
            'reserve_bytes = "1 MiB"\n[login]',
            "9: storages.main.reserve_bytes: must be a whole number",
        ),
        (
            "[login]",
            "reserve_bytes = -1\n[login]",
            "9: storages.main.reserve_bytes: must be at least 0",
        ),
        (
            "[server]",
            '[server]\nmode = "test"',
            "2: server.mode: must be one of: development, production",
        ),
        ("[plugins]", 'secret_key = "short"\n[plugins]', "4: server.secret_key: "),
        ("[login]", "[archive]\n[login]", "9: archive: unknown key; known here: "),
    ],
)
def test_a_key_or_value_that_is_wrong(
    deployment: Deployment, right: str, wrong: str, fault: str
) -> None:
    deployment.replace(right, wrong)
    assert deployment.refusal().startswith(f"{deployment.config}:{fault}")


def test_a_value_of_the_wrong_kind(deployment: Deployment) -> None:
    deployment.replace("[storages.main]", "[passwords]\nbcrypt_cost = true\n[storages.main]")
    assert deployment.refusal() == (
        f"{deployment.config}:7: passwords.bcrypt_cost: must be a whole number"
    )


def test_a_hook_that_is_misspelt(deployment: Deployment) -> None:
    code = "@hookimpl\ndef register_captcha_provider():\n    return []\n"
    install(deployment.site, "riddles", PREAMBLE + code)
    deployment.enable("riddles")
    assert deployment.refusal() == (
        f'{deployment.config}:5: plugins.enabled: plugin "riddles" is invalid: there is no hook '
        '"register_captcha_provider"; did you mean "register_captcha_providers"?'
    )


def test_a_plugin_that_raises_at_import(deployment: Deployment) -> None:
    install(deployment.site, "riddles", 'raise RuntimeError("no answer\\nfits")')
    deployment.enable("riddles")
    assert deployment.refusal() == (
        f'{deployment.config}:5: plugins.enabled: plugin "riddles" failed to import: '
        f"RuntimeError: no answer fits ({deployment.site}/acme_riddles.py:1)"
    )


def test_a_plugin_that_raises_in_a_hook(deployment: Deployment) -> None:
    code = '@hookimpl\ndef register_login_methods():\n    raise RuntimeError("broken")\n'
    install(deployment.site, "riddles", PREAMBLE + code)
    deployment.enable("riddles")
    assert (
        'plugin "riddles" failed in register_login_methods: RuntimeError: broken' in deployment.refusal()
    )


@pytest.mark.parametrize(
    ("version", "fault"),
    [
        (
            '"3.0"',
            'plugin "riddles" was written for plugin API 3.0; this server has 2.0; upgrade strongroom',
        ),
        (
            '"2.1"',
            'plugin "riddles" was written for plugin API 2.1; this server has 2.0; upgrade strongroom',
        ),
        ("1", 'plugin "riddles" must state API_VERSION = "2.0"'),
        ("None", 'plugin "riddles" must state API_VERSION = "2.0"'),
    ],
)
def test_a_plugin_for_another_api(deployment: Deployment, version: str, fault: str) -> None:
    install(deployment.site, "riddles", f"API_VERSION = {version}")
    deployment.enable("riddles")
    assert deployment.refusal() == f"{deployment.config}:5: plugins.enabled: {fault}"


def test_two_plugins_that_claim_one_name(deployment: Deployment) -> None:
    for plugin in ("riddles", "puzzles"):
        install(deployment.site, plugin, PREAMBLE + CAPTCHA.format(name="riddle"))
    deployment.enable("riddles", "puzzles")
    assert deployment.refusal() == (
        f'{deployment.config}:5: plugins.enabled: plugin "riddles" and plugin "puzzles" both claim '
        'the name "riddle" in register_captcha_providers'
    )


def test_a_plugin_that_claims_a_built_in_name(deployment: Deployment) -> None:
    install(deployment.site, "riddles", PREAMBLE + CAPTCHA.format(name="image"))
    deployment.enable("riddles")
    assert 'plugin "image_captcha" and plugin "riddles" both claim' in deployment.refusal()


def test_one_plugin_installed_by_two_distributions(deployment: Deployment) -> None:
    for module in ("acme_riddles", "bolt_riddles"):
        install(deployment.site, "riddles", PREAMBLE, module=module)
    deployment.enable("riddles")
    assert deployment.refusal() == (
        f'{deployment.config}:5: plugins.enabled: plugin "riddles" is installed twice, '
        "as acme_riddles and bolt_riddles; uninstall one of them"
    )


def test_a_plugin_enabled_twice(deployment: Deployment) -> None:
    deployment.enable("storage_local")
    assert 'plugin "storage_local" is enabled twice' in deployment.refusal()


def test_a_file_that_is_missing(deployment: Deployment) -> None:
    deployment.config.unlink()
    assert deployment.refusal() == (
        f"{deployment.config}: cannot be read: No such file or directory; "
        "name another by --config or STRONGROOM_CONFIG"
    )


def test_a_file_that_is_a_folder(deployment: Deployment) -> None:
    deployment.config.unlink()
    deployment.config.mkdir()
    assert deployment.refusal().startswith(f"{deployment.config}: cannot be read: Is a directory; ")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"[server", ":1"),
        (b"port = \xff\n", ""),
        (b"[server]\nport = 1\nport = 2\n", ":3: server.port"),
    ],
)
def test_a_file_that_is_no_toml(deployment: Deployment, content: bytes, place: str) -> None:
    deployment.config.write_bytes(content)
    assert deployment.refusal().startswith(f"{deployment.config}{place}: is not TOML: ")


def test_a_storage_that_cannot_be_opened(deployment: Deployment, tmp_path: Path) -> None:
    (tmp_path / "files").write_text("in the way")
    place = f"{deployment.config}:8: storages.main.root: "
    assert deployment.refusal().startswith(f"{place}cannot be used: ")


@pytest.mark.parametrize(
    ("url", "status"),
    [
        ("sqlite:////nowhere/x.db", 2),
        ("postgresql+psycopg://x:hush@127.0.0.1:1/x", 3),  # away, and may come back
        ("mysql://x:hush@y/z", 2),
    ],
)
def test_a_database_that_cannot_be_opened(deployment: Deployment, url: str, status: int) -> None:
    deployment.replace("[plugins]", f'[database]\nurl = "{url}"\n[plugins]')
    line = deployment.refusal(status)
    assert line.startswith(f"{deployment.config}:5: database.url: ")
    assert "hush" not in line


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('data_dir = "/proc/nowhere"', "data_dir"),
        ('trusted_proxies = ["10.0.0.0/99"]', "trusted_proxies"),
    ],
)
def test_a_value_that_cannot_be_worked_with(deployment: Deployment, line: str, key: str) -> None:
    text = deployment.config.read_text().splitlines()
    deployment.config.write_text("\n".join([text[0], text[1], line, *text[3:]]))
    assert deployment.refusal().startswith(f"{deployment.config}:3: server.{key}: ")


CODE_TEXT = "Subject: Code\n\n$code is good for $minutes minutes.\n"


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (
            "en/logn.txt",
            CODE_TEXT,
            "no message has this name; known here: en|zh/login|login-link|register|",
        ),
        (
            "fr/login.txt",
            CODE_TEXT,
            "no message has this name; known here: en|zh/login|login-link|register|",
        ),
        (
            "en/login.md",
            CODE_TEXT,
            "no message has this name; known here: en|zh/login|login-link|register|",
        ),
        ("en/login.txt", "Subject: Code\n\nGood for $minutes minutes.", "the text must contain $code"),
        ("en/login.txt", "Subject: $code\n\nSee above.", "the text must contain $code"),
        (
            "zh/bind.txt",
            "Subject: Code\n\n$code for $nmae",
            "unknown placeholder $nmae; known here: $code, $minutes",
        ),
        (
            "zh/password-changed.txt",
            "Subject: Changed\n\n$code",
            "unknown placeholder $code; known here: $product",
        ),
        (
            "en/login.txt",
            "Subject: Code\n\n$code costs $5",
            'a literal "$" must be written "$$"',
        ),
        ("en/login.txt", "$code", 'must be "Subject: ...", an empty line, and the text'),
        ("en/login.txt", "Subject:\n\n$code", 'must be "Subject: ...", an empty line, and the text'),
        ("en/login.txt", "Subject: Code\n$code", 'must be "Subject: ...", an empty line, and the text'),
        ("en/login.txt", b"Subject: \xff\n\n$code", "must be UTF-8"),
    ],
)
def test_a_text_that_cannot_be_sent(
    deployment: Deployment, tmp_path: Path, name: str, content: str | bytes, fault: str
) -> None:
    path = tmp_path / "texts" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    deployment.replace("[login]", f'[messages]\ntemplates_dir = "{tmp_path}/texts"\n[login]')
    line = deployment.refusal()
    if path.parent.name == "fr":
        path = path.parent
    assert line.startswith(f"{deployment.config}:10: messages.templates_dir: {path}: {fault}")
    checked = run_command("--config", str(deployment.config), "config", "check")
    assert (checked.returncode, checked.stderr) == (2, f"strongroom: {line}\n")


def test_a_folder_of_texts_that_is_not_there(deployment: Deployment) -> None:
    deployment.replace("[login]", '[messages]\ntemplates_dir = "/nowhere"\n[login]')
    fault = "messages.templates_dir: /nowhere: cannot be read: No such file or directory"
    remedy = "name a folder that the server's user may read"
    assert deployment.refusal() == f"{deployment.config}:10: {fault}; {remedy}"


def test_a_port_that_is_taken(deployment: Deployment) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = deployment.config.read_text().splitlines()[1]
        deployment.replace(line, f"port = {port}")
        assert deployment.refusal().startswith(f"{deployment.config}:2: server.port: ")


def test_a_plugin_whose_routes_fail(deployment: Deployment) -> None:
    code = '@hookimpl\ndef register_blueprints():\n    raise RuntimeError("broken")\n'
    install(deployment.site, "riddles", PREAMBLE + code)
    deployment.enable("riddles")
    assert 'plugin "riddles" failed in register_blueprints: RuntimeError: broken' in deployment.refusal()


@pytest.mark.parametrize("variable", ["STRONGROOM__SERVER__PROT", "STRONGROOM__SERVER__PORT"])
def test_a_variable_that_is_wrong(
    deployment: Deployment, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "eighty")
    assert deployment.refusal().startswith(f"environment {variable}: server.{variable[-4:].lower()}: ")


def test_an_installed_plugin_that_is_not_enabled_is_never_imported(
    deployment: Deployment, tmp_path: Path
) -> None:
    marker = tmp_path / "imported"
    install(deployment.site, "riddles", f"open({str(marker)!r}, 'w').close()\n{PREAMBLE}")
    with serving(deployment.config) as server:
        server.create_user("alice@example.com")
        Client.logged_in(server.url, "alice@example.com")
        assert "riddles" in server.command("plugins", "list")
    assert not marker.exists()
    deployment.enable("riddles")
    assert run_command("--config", str(deployment.config), "config", "check").returncode == 0
    assert marker.exists()
