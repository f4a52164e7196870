"""The TypeScript client: its own tests in Node.js and Chromium, and transfers that are killed."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bench.forest import SHOWN, plant
from playwright.sync_api import Browser, BrowserContext, Page, Route

from strongroom.assembly.container import build
from strongroom.foundation.config import load
from strongroom.testing.server import free_port
from tests.support.browsers import CHROMIUM, VirtualAuthenticator, chromium
from tests.support.campaign import campaign_size
from tests.support.client import PASSWORD, Client
from tests.support.commands import run_command
from tests.support.config import FIXED_CAPTCHA, lifted
from tests.support.front_end import front_end
from tests.support.pages import blocks_of
from tests.support.proxy import cutting
from tests.support.server import EMAIL, Server, serving_nodes

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / "clients"
GUIDE = ROOT / "docs" / "guides" / "typescript-client.md"
EXAMPLE = ROOT / "examples" / "clients" / "first-steps.ts"
REACT_EXAMPLE = EXAMPLE.with_name("react-account.tsx")
MEBIBYTE = 1024 * 1024
SIZE = int(os.environ.get("STRONGROOM_TEST_CLIENT_MIB", "12")) * MEBIBYTE
NODES = campaign_size("CLIENT_NODES", 3000)
TAB_ROUNDS = campaign_size("TAB_ROUNDS", 5)
HEAP_MIB = 16
PATIENCE = 600
APP_PORT = free_port()
SERVER_PORT = free_port()
PUBLIC_URL = f"http://localhost:{SERVER_PORT}"
APP = f"http://localhost:{APP_PORT}"
SOURCES = shutil.ignore_patterns("node_modules", "dist", "build", "openapi.*", "*.tgz")

README = CLIENTS / "typescript" / "README.md"
SCRIPT, IMPORT_MAP = (
    f"<!doctype html><title>Front end</title>{block.content}"
    for block in blocks_of(README)
    if block.language == "html"
)
PAGE = f"""{IMPORT_MAP}<script type="module">
import * as client from "@strongroom/client";
window.strongroom = client;
</script>"""
REACT_PAGE = """<!doctype html><title>React</title><div id="root"><p>Loading</p></div>
<script type="module" src="/react-page.js"></script>"""
BUNDLE_KIB = 44


def run(command: list[str | Path], folder: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def succeed(command: list[str | Path], folder: Path, **env: str) -> str:
    result = run(command, folder, **env)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


pytestmark = [
    pytest.mark.extended,
    pytest.mark.config(
        lifted(),
        FIXED_CAPTCHA,
        {
            # Browsers have no passkeys for an IP address.
            "server": {"cors_origins": [APP], "port": SERVER_PORT, "public_url": PUBLIC_URL},
            # The second use of a refresh token is one at once.
            "tokens": {"refresh_reuse_seconds": 0},
            "plugins": {
                "enabled": [
                    "storage_local",
                    "factor_totp",
                    "login_passkey",
                    "login_pages",
                    "password_schemes",
                    "share_links",
                ],
                "login_pages": {"return_urls": [f"{APP}/?page=1", f"{APP}/react"]},
            },
            "second_factors": {"passkey": {"origins": [APP]}},
            "limits": {"login_failures_before_captcha": 3, "strength_per_address": ["1/hour"]},
        },
    ),
]


def code_of(page: Path, language: str = "ts") -> str:
    """Return the TypeScript of a page as one module, for a server whose URL is an argument."""
    code = "".join(block.content for block in blocks_of(page) if block.language == language)
    if language == "tsx":
        return code
    declared = """declare function solve(image: string | undefined): Promise<string>;
        declare function prompt(methods: string[]): Promise<string>;"""
    return declared + code.replace('"https://files.example.com"', "process.argv[2]!")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client that is installed, generated and compiled with its tests."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("typescript") / "client"
    shutil.copytree(CLIENTS / "typescript", folder, ignore=SOURCES)
    install = run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"], folder)
    if install.returncode:
        pytest.skip(f"npm cannot install the packages: {install.stderr.strip()[:200]}")
    document = run_command("--config", str(CLIENTS / "openapi.toml"), "openapi")
    assert document.returncode == 0, document.stderr
    (folder / "openapi.json").write_text(document.stdout)
    for script in ("generate", "build"):
        succeed([npm, "run", script], folder)
    for example in (EXAMPLE, REACT_EXAMPLE):
        shutil.copy(example, folder / "test")
    (folder / "test" / "start.ts").write_text(code_of(ROOT / "docs" / "start" / "client-author.md"))
    (folder / "test" / "readme.ts").write_text(code_of(README))
    (folder / "test" / "readme-react.tsx").write_text(code_of(README, "tsx"))
    (folder / "test" / "guide.ts").write_text(code_of(GUIDE))
    succeed(["npx", "tsc", "--project", "tsconfig.test.json"], folder)
    return folder


@dataclass(frozen=True)
class Account:
    """A user with a tenant and a key."""

    server: Server
    api: Client
    tenant_id: str
    key: str

    def transfer(
        self, direction: str, built: Path, url: str, path: Path, file_id: str = "-"
    ) -> list[str]:
        """Return the command that transfers a file."""
        script = str(built / "build" / "transfer.js")
        state = str(path.with_suffix(".uploads"))
        return ["node", script, direction, url, self.key, self.tenant_id, file_id, str(path), state]


@pytest.fixture(scope="module")
def account(shared_server: Server) -> Account:
    api = Client.logged_in(shared_server.url, EMAIL)
    tenant_id = api.make_tenant("Acme").rpartition("/")[2]
    body = {"name": "Transfers", "scopes": ["files:write"]}
    key = api.expect(201, "POST", "/users/me/access-keys", body).json()["key"]
    return Account(shared_server, api, tenant_id, key)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of SIZE random bytes."""
    path, source = tmp_path_factory.mktemp("content") / "large.bin", random.Random(SIZE)
    with path.open("wb") as file:
        for _ in range(SIZE // MEBIBYTE):
            file.write(source.randbytes(MEBIBYTE))
    return path


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def killed(command: list[str], at: int) -> None:
    """Run a transfer that kills itself when it has transferred so many bytes."""
    result = run([*command], Path.cwd(), HALT_AT=str(at))
    assert result.returncode == -signal.SIGKILL, result.stdout + result.stderr


def first_report(output: str) -> int:
    return int(output.split(maxsplit=1)[0])


def result_of(output: str) -> list[str]:
    """Return the id and the checksum of a transferred file."""
    return output.splitlines()[-1].split()


@pytest.fixture(scope="module")
def administrator(shared_server: Server) -> str:
    """The e-mail address of an administrator, as in the README."""
    email = "root@example.com"
    shared_server.create_user(email, PASSWORD, "--admin")
    return email


def test_the_tests_of_the_client_pass(built: Path, shared_server: Server, administrator: str) -> None:
    tests = sorted((built / "build").glob("*.test.js"))
    assert len(tests) > 2
    environment = {
        "STRONGROOM_URL": shared_server.url,
        "STRONGROOM_ADMINISTRATOR": administrator,
        "STRONGROOM_OUTBOX": str(shared_server.config.parent / "data" / "outbox.jsonl"),
    }
    output = run(["node", "--test", *tests], built, **environment)
    assert output.returncode == 0, output.stdout
    assert "# skipped 0" in output.stdout


def test_eight_tabs_at_two_nodes_keep_their_login(built: Path, tmp_path: Path) -> None:
    with serving_nodes(tmp_path, f"sqlite:///{tmp_path}/strongroom.sqlite3", lifted()) as nodes:
        nodes[0].create_user(EMAIL)
        urls = [node.url for node in nodes]
        output = succeed(["node", built / "build" / "tabs.js", str(TAB_ROUNDS), EMAIL, *urls], built)
    assert output == f"{TAB_ROUNDS} rounds\n"


def test_transfers_that_are_killed_continue(
    built: Path, account: Account, content: Path, tmp_path: Path
) -> None:
    path, url = tmp_path / content.name, account.server.url
    path.symlink_to(content)
    upload = account.transfer("up", built, url, path)
    for part in (4, 2):
        killed(upload, SIZE // part)
    resumed = succeed([*upload], tmp_path)
    assert first_report(resumed) >= SIZE // 2
    file_id, stored = result_of(resumed)
    assert stored == checksum(content)

    target = tmp_path / "received.bin"
    download = account.transfer("down", built, url, target, file_id)
    for part in (4, 2):
        killed(download, SIZE // part)
    assert not target.exists()
    (unfinished,) = tmp_path.glob(".*.part")
    assert SIZE // 4 <= unfinished.stat().st_size < SIZE
    succeed([*download], tmp_path)
    assert checksum(target) == checksum(content)
    account.api.expect(200, "DELETE", f"/api/v1/tenants/{account.tenant_id}/files/{file_id}")


@pytest.mark.parametrize("direction", ["up", "down"])
def test_transfers_continue_through_cut_connections(
    built: Path, account: Account, content: Path, tmp_path: Path, direction: str
) -> None:
    path = tmp_path / f"{direction}.bin"
    with path.open("wb") as file, content.open("rb") as source:
        file.write(source.read(12 * MEBIBYTE))
    expected, tenant = checksum(path), f"/api/v1/tenants/{account.tenant_id}"
    file_id = "-"
    if direction == "down":
        file_id = account.api.upload(tenant, path.name, path.read_bytes())["id"]
        path.unlink()
    cuts = [700_000, 2 * MEBIBYTE]
    if direction == "down":
        # A busy server loses what a reset connection has sent, and has the upload locked for a while.
        # The client gives an upload up after four failures without progress.
        cuts.append(300_000)
    with cutting(list(cuts), towards_server=direction == "up", server_url=account.server.url) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        output = succeed([*account.transfer(direction, built, url, path, file_id)], tmp_path)
        assert proxy.made == len(cuts)
    assert result_of(output)[1] == expected
    assert checksum(path) == expected


def test_many_nodes_are_iterated_in_flat_memory(built: Path, shared_server: Server) -> None:
    container = build(load(shared_server.config, {}))
    try:
        forest = plant(container, NODES + SHOWN)
    finally:
        container.close()
    options = ("--user", forest.member.user_id, "--scope", "files:read", "--json")
    key = json.loads(shared_server.command("access-keys", "create", *options))["key"]
    script: list[str | Path] = ["node", f"--max-old-space-size={HEAP_MIB}", built / "build/iterate.js"]
    output = succeed([*script, shared_server.url, key, forest.tenant, forest.folder], built)
    count, names, peak = map(int, output.split())
    assert (count, names) == (NODES, NODES // 1000)
    assert peak < HEAP_MIB


def test_the_package_is_built_twice_alike_and_runs_the_example(
    built: Path, shared_server: Server, tmp_path: Path
) -> None:
    digests = set()
    for name in ("one", "two"):
        copy = tmp_path / name
        shutil.copytree(built, copy, ignore=shutil.ignore_patterns("node_modules", "build"))
        (file,) = json.loads(succeed(["npm", "pack", "--json"], copy))
        digests.add(checksum(copy / file["filename"]))
    assert len(digests) == 1
    archive = copy / file["filename"]
    with tarfile.open(archive) as members:
        names = set(members.getnames())
    assert {"package/README.md", "package/dist/index.d.ts", "package/dist/openapi.d.ts"} <= names
    assert {"package/dist/strongroom.js", "package/dist/strongroom.mjs"} <= names
    assert not [name for name in names if "test" in name or name.startswith("package/src")]

    package = tmp_path / "project" / "node_modules" / "@strongroom" / "client"
    package.mkdir(parents=True)
    with tarfile.open(archive) as members:
        members.extractall(tmp_path / "archive", filter="data")
    (tmp_path / "archive" / "package").rename(package)
    dependency = built / "node_modules" / "openapi-fetch"
    (package.parents[1] / dependency.name).symlink_to(dependency)
    project = package.parents[2]
    (project / "package.json").write_text('{"type": "module"}')
    shutil.copy(built / "build" / "first-steps.js", project)
    command: list[str | Path] = ["node", "first-steps.js", shared_server.url, EMAIL, PASSWORD]
    (shown,) = (block.content for block in blocks_of(GUIDE) if block.language == "text")
    assert succeed(command, project) == shown


@pytest.mark.usefixtures("administrator")
def test_the_code_of_the_readme_runs(built: Path, shared_server: Server, tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7\n")
    output = succeed(["node", built / "build" / "readme.js", shared_server.url], tmp_path)
    files = "found Drafts\nfolder Old drafts\nfolder Reports\n0 of 9 bytes\n9 of 9 bytes\n9\n"
    files += "version 1: 9 bytes\nmanage\nerror.name-conflict\n"
    assert output == f"{files}3 function\nundefined\nmobile\nsuspended\n3\nUser 1\nAnna\n"
    assert (tmp_path / "copy.pdf").read_bytes() == b"%PDF-1.7\n"


def test_bundles_are_small_and_have_no_react(built: Path) -> None:
    for path in (built / "dist" / name for name in ("strongroom.js", "strongroom.mjs")):
        assert path.stat().st_size < BUNDLE_KIB * 1024
        assert "useSyncExternalStore" not in path.read_text()
    # An import map that names React is enough for it.
    hooks = (built / "dist" / "react.js").read_text()
    assert re.findall(r"from \"(.+)\"|import\(", hooks) == ["react"]
    assert hooks.startswith('"use client";')


@pytest.fixture(scope="module")
def react_page(built: Path, shared_server: Server) -> str:
    """The script of a page with React, for this server."""
    mode = '--define:process.env.NODE_ENV="development"'
    bundle = succeed(
        ["npx", "esbuild", "build/react-page.js", "--bundle", "--format=esm", mode, "--log-level=error"],
        built,
    )
    urls = {"https://files.example.com": shared_server.url, "https://app.example.com/": f"{APP}/react"}
    for shown, real in urls.items():
        assert shown in bundle
        bundle = bundle.replace(shown, real)
    return bundle


@pytest.fixture(scope="module")
def browser(built: Path, react_page: str) -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    bundles = {f"/{path.name}": path.read_text() for path in (built / "dist").glob("strongroom.*js")}
    pages = {"/": PAGE, "/script": SCRIPT, **bundles, "/react": REACT_PAGE, "/react-page.js": react_page}
    with front_end(APP_PORT, pages), chromium() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def evaluate(account: Account) -> Callable[[Page, str], Any]:
    """Runs the body of a function in a page, with a client that keeps its login in localStorage."""
    start = f"""
        const {{ Client, BrowserTokens, BrowserUploads }} = strongroom;
        const client = new Client({{ url: "{account.server.url}", tokens: new BrowserTokens() }});
        const tenantId = "{account.tenant_id}";
    """

    def evaluate(page: Page, body: str) -> Any:
        if page.url == "about:blank":
            page.goto(APP)
        page.wait_for_function("window.strongroom")
        return page.evaluate(f"async () => {{ {start} {body} }}")

    return evaluate


LOG_IN = f'await client.logIn({{ username: "{EMAIL}", password: "{PASSWORD}" }});'


def test_a_browser_transfers_a_file(
    context: BrowserContext, evaluate: Callable[[Page, str], Any]
) -> None:
    seen = evaluate(
        context.new_page(),
        f"""{LOG_IN}
        const bytes = new Uint8Array(300_000).map((_, n) => n * 7);
        const reports = [];
        const options = {{ onProgress: ({{ done }}) => reports.push(done), chunkSize: 100_000 }};
        const node = await client.upload(tenantId, new File([bytes], "browser.bin"), options);
        const blob = await new Response(await client.stream(tenantId, node.id)).blob();
        const received = new Uint8Array(await blob.arrayBuffer());
        const isEqual = received.every((byte, n) => byte === bytes[n]);
        return {{ reports, size: received.length, isEqual }};""",
    )
    assert seen == {"reports": [0, 100_000, 200_000, 300_000], "size": 300_000, "isEqual": True}


def log_in_on_the_login_page(page: Page, server: Server) -> None:
    page.wait_for_url(f"{server.url}/account/login**")
    page.locator("input[name=username]").fill(EMAIL)
    page.locator("input[name=password]").fill(PASSWORD)
    page.locator("input[name=password]").press("Enter")


def test_a_browser_logs_in_on_the_login_page_and_comes_back(
    context: BrowserContext, account: Account, evaluate: Callable[[Page, str], Any]
) -> None:
    page = context.new_page()
    evaluate(page, f'await client.openLogin({{ returnUrl: "{APP}/?page=1" }});')
    log_in_on_the_login_page(page, account.server)
    page.wait_for_url(f"{APP}/?page=1&code=**")
    seen = evaluate(
        page,
        """const changes = [];
        client.onChange((user) => changes.push(user?.name));
        const user = (await client.finishLogin()) ?? (await client.user());
        const same = JSON.stringify(user) === JSON.stringify(await client.user());
        return [changes, same, user.name === (await client.me()).name, location.search];""",
    )
    assert seen[1:] == [True, True, "?page=1"]
    assert len(seen[0]) == 1
    assert evaluate(page, "return await client.finishLogin() === undefined;")


def test_a_browser_adds_uses_renames_and_removes_a_passkey(
    context: BrowserContext, account: Account, evaluate: Callable[[Page, str], Any]
) -> None:
    page, email = context.new_page(), "passkey@example.com"
    account.server.create_user(email, PASSWORD)
    page.goto(APP)
    device = VirtualAuthenticator(page)
    seen = evaluate(
        page,
        f"""const {{ accounts }} = client;
        const names = async () => {{
            const all = [];
            for await (const {{ name }} of accounts.passkeys()) all.push(name);
            return all;
        }};
        const first = await client.logIn({{ username: "{email}", password: "{PASSWORD}" }});
        const {{ id }} = await accounts.addPasskey("Laptop");
        await client.logOut();
        const user = await client.logInByPasskey();
        await accounts.renamePasskey(id, "Phone");
        const before = await names();
        await accounts.removePasskey(id);
        return [JSON.stringify(user) === JSON.stringify(first), before, await names()];""",
    )
    assert seen == [True, ["Phone"], []]
    assert len(device.credentials) == 1


def test_tabs_with_react_log_in_and_out_together(context: BrowserContext, account: Account) -> None:
    pages = first, second = context.new_page(), context.new_page()
    faults: list[str] = []
    for page in pages:
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.extend([line.text] if line.type == "error" else []))
        page.goto(f"{APP}/react")
    second.get_by_text("Log in").wait_for()
    first.get_by_text("Log in").click()
    log_in_on_the_login_page(first, account.server)
    for page in pages:
        page.get_by_text("Log out").wait_for()
    assert first.url == f"{APP}/react"
    # This tab has not seen the login begin.
    first.reload()
    first.get_by_text("Log out").wait_for()
    second.get_by_text("Log out").click()
    for page in pages:
        page.get_by_text("Log in").wait_for()
    assert faults == []


def test_a_return_without_a_login_is_an_error_of_the_session(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(APP)
    page.evaluate('sessionStorage.setItem("strongroom.login", JSON.stringify({ state: "own" }))')
    page.goto(f"{APP}/react?code=x&state=other")
    page.get_by_text("The login has failed. ").wait_for()
    assert page.get_by_text("Log in").is_visible()


def test_a_session_of_react_has_tokens_for_backends(context: BrowserContext, account: Account) -> None:
    page = context.new_page()
    page.goto(f"{APP}/react?probe")
    page.get_by_text("unauthenticated").wait_for()
    login = f'sessions.at(-1).login({{ username: "{EMAIL}", password: "{PASSWORD}" }})'
    user = page.evaluate(login)
    page.get_by_text(user["id"]).wait_for()
    seen = page.evaluate(
        f"""async () => {{
        const [{{ fetch }}, {{ accessToken, fetch: last, user }}] = [sessions[0], sessions.at(-1)];
        const response = await last("{account.server.url}/users/me");
        const parts = (await accessToken()).split(".").length;
        return [parts, (await response.json()).id, user.id, fetch === last];
        }}"""
    )
    assert seen == [3, user["id"], user["id"], True]
    page.evaluate("sessions.at(-1).logout()")
    page.get_by_text("unauthenticated").wait_for()
    assert page.evaluate("sessions.at(-1).accessToken().then((token) => token ?? null)") is None
    assert page.evaluate("sessions.map(({ status }) => status)") == [
        *["loading"] * page.evaluate('sessions.filter(({ status }) => status === "loading").length'),
        "unauthenticated",
        "authenticated",
        "unauthenticated",
    ]


def test_a_script_tag_has_the_client(
    context: BrowserContext, evaluate: Callable[[Page, str], Any]
) -> None:
    page = context.new_page()
    page.goto(f"{APP}/script")
    assert page.evaluate("client instanceof strongroom.Client")
    seen = evaluate(page, f"{LOG_IN} return [(await client.me()).email, typeof openapiFetch];")
    assert seen == [EMAIL, "undefined"]


def test_a_browser_reads_errors(context: BrowserContext, evaluate: Callable[[Page, str], Any]) -> None:
    seen = evaluate(
        context.new_page(),
        f"""{LOG_IN}
        const judge = () => client.api.POST("/password-strength", {{ body: {{ password: "x" }} }});
        await judge().catch(() => null);
        const error = await judge().catch((error) => error);
        return {{ name: error.name, code: error.code, waits: error.retryAfter > 60 }};""",
    )
    assert seen == {"name": "RateLimitedError", "code": "error.too-many-requests", "waits": True}


def test_tabs_refresh_once(context: BrowserContext, evaluate: Callable[[Page, str], Any]) -> None:
    first, second = context.new_page(), context.new_page()
    evaluate(first, LOG_IN)
    refreshes: list[str] = []
    context.on(
        "request",
        lambda request: (
            refreshes.append(request.method)
            if request.method == "POST" and request.url.endswith("/authorizations/refresh")
            else None
        ),
    )
    evaluate(first, 'const t = new BrowserTokens(); t.save({ ...t.load(), accessToken: "expired" });')
    many = """window.done = Promise.all(
        Array.from({ length: 5 }, () => client.api.GET("/api/v1/tenants"))).then((all) => all.length);"""
    # Both begin before either has ended.
    for page in (first, second):
        evaluate(page, many)
    assert [page.evaluate("window.done") for page in (first, second)] == [5, 5]
    assert refreshes == ["POST"]


def test_an_upload_continues_after_a_reload(
    context: BrowserContext, evaluate: Callable[[Page, str], Any]
) -> None:
    page = context.new_page()
    upload = """
        const bytes = new Uint8Array(300_000).fill(7);
        const file = new File([bytes], "reloaded.bin", { lastModified: 1_700_000_000_000 });
        const reports = [];
        const options = { state: new BrowserUploads(), chunkSize: 100_000 };
    """
    chunks: list[Route] = []

    def pass_two(route: Route) -> None:
        chunks.extend([route] if route.request.method == "PATCH" else [])
        # The third chunk stays on its way until the page is left.
        if len(chunks) < 3:
            route.continue_()

    page.route("**/uploads/*", pass_two)
    evaluate(
        page,
        f"""{LOG_IN} {upload}
        await new Promise((stop) => {{
            const onProgress = ({{ done }}) => done === 200_000 && stop();
            client.upload(tenantId, file, {{ ...options, onProgress }}).catch(() => null);
        }});""",
    )
    page.reload()
    page.unroute("**/uploads/*")
    seen = evaluate(
        page,
        f"""{upload}
        const onProgress = ({{ done }}) => reports.push(done);
        const node = await client.upload(tenantId, file, {{ ...options, onProgress }});
        return {{ first: reports[0], size: node.size }};""",
    )
    assert seen["first"] >= 200_000
    assert seen["size"] == 300_000
