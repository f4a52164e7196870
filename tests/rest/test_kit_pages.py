"""Hostile requests to a page made with the page kit: no input is an error of the server."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.config import FIXED_CAPTCHA, lifted, write_api_config
from tests.support.databases import on_sqlite
from tests.support.page_browser import PageBrowser

from strongroom.foundation.database.upgrade import upgrade
from strongroom_login_pages.plugin import register_tables

CODE: Final = """
from flask import Blueprint, jsonify
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.visits import PageApplication, current_visit

API_VERSION = "2.0"
pages = Blueprint("kit", __name__)

@pages.get("/")
def show():
    visit = current_visit()
    flash = visit.take_flash()
    return jsonify(csrf=visit.host.browser.csrf, names=dict(flash.names), problem=flash.problem)

@pages.post("/")
def change():
    visit = current_visit()
    if problem := visit.request.form.get("problem"):
        return visit.refuse("/", problem)
    name = visit.request.form["name"]
    return visit.redirect("/", "moved", name=name, folder=name)

@pages.post("/json")
def load():
    return jsonify(current_visit().request.get_json())

@hookimpl
def register_wsgi_applications(host):
    application = PageApplication(host, "/kit")
    application.register_blueprint(pages)
    return [("/kit", application)]
"""
FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
JSON: Final = {"Content-Type": "application/json"}

pytestmark = on_sqlite


@pytest.fixture
def browser(tmp_path: Path, database_url: str) -> Iterator[PageBrowser]:
    (folder := tmp_path / "plugins.d").mkdir()
    (folder / "kit.py").write_text(CODE)
    plugins = {"plugins": {"folder": str(folder), "enabled": ["storage_local", "login_pages"]}}
    path = write_api_config(tmp_path, database_url, FIXED_CAPTCHA, lifted(), plugins)
    with Api.running(path) as api:
        upgrade(api.container.database.engine, {"login_pages": register_tables()})
        browser = PageBrowser(api)
        browser.log_in(api.person().email)
        yield browser


def test_no_text_is_too_long_for_the_next_page(browser: PageBrowser) -> None:
    csrf = browser.request("/kit/").json["csrf"]
    for letter in ("a", '"', "\\", "\u4e2d", "\U0001f600"):
        assert browser.request("/kit/", {"csrf": csrf, "name": letter * 300}).status_code == 303, letter
        names = browser.request("/kit/").json["names"]
        assert names == {"name": letter * 80, "folder": letter * 80}
        assert browser.request("/kit/", {"csrf": csrf, "problem": letter * 500}).status_code == 303, (
            letter
        )
        assert browser.request("/kit/").json["problem"] == letter * 300


def test_a_chunked_form_is_never_cut(browser: PageBrowser) -> None:
    csrf = browser.request("/kit/").json["csrf"]

    def send(size: int) -> Answer:
        start = f"csrf={csrf}&name=".encode()
        body = BytesIO(start + b"x" * (size - len(start)))
        environ: dict[str, Any] = {"wsgi.input": body, "wsgi.input_terminated": True}
        return browser.send_environ("POST", "/kit/", {**environ, "CONTENT_TYPE": FORM["Content-Type"]})

    assert send(64 * 1024).status_code == 303
    for size in (64 * 1024 + 1, 200_000):
        answer = send(size)
        assert (answer.status_code, error_code(answer)) == (413, "error.payload-too-large")


def test_faults_are_those_of_the_server(browser: PageBrowser) -> None:
    csrf = browser.request("/kit/").json["csrf"]
    secret = {"X-CSRF": csrf}
    answers = {
        "error.not-found": browser.send_bytes("GET", "/kit/nothing", b"", **secret),
        "error.method-not-allowed": browser.send_bytes("DELETE", "/kit/", b"", **secret),
        "error.unsupported-media-type": browser.send_bytes("POST", "/kit/json", b"{}", **secret),
        "error.malformed-request": browser.send_bytes("POST", "/kit/json", b"{", **JSON, **secret),
    }
    for code, answer in answers.items():
        assert error_code(answer) == code
    deep = browser.send_bytes("POST", "/kit/json", b"[" * 60_000, **JSON, **secret)
    assert (deep.status_code, error_code(deep)) == (400, "error.malformed-request")
    # A field that is missing, for a person.
    page = browser.request("/kit/", {"csrf": csrf}, Accept="text/html, application/xhtml+xml")
    assert page.status_code == 400
    assert "Go back, check what you entered, and try again." in page.text
