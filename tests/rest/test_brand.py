"""The brand of a deployment: that of the example company, in pages and mails."""

import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.support.examples import brand
from tests.support.source_tree import ROOT

FOLDER = ROOT / "examples/brand"


CONFIG = {
    "pages": brand(),
    "plugins": {"enabled": ["storage_local", "login_pages"]},
    "server": {"base_path": "/vault"},
}


@pytest.mark.config(CONFIG)
class TestExample:
    @pytest.fixture
    def browser(self, api: Api) -> FlaskClient:
        return api.app.test_client()

    def page(self, browser: FlaskClient, language: str = "en") -> str:
        answer = browser.get("/vault/account/login", headers={"Accept-Language": language})
        assert answer.status_code == 200
        return answer.text

    def test_pages_show_the_logo_and_the_icon(self, browser: FlaskClient) -> None:
        page = self.page(browser)
        assert 'alt="Harbour Files"' in page
        assert 'alt="海港文件"' in self.page(browser, "zh")
        for path in re.findall(r'(?:src|srcset|<link rel="icon" href)="([^"]+)"', page)[:3]:
            assert path.startswith("/vault/static/strongroom/")
            answer = browser.get(path)
            assert answer.status_code == 200
            assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_a_drawing_that_is_opened_as_a_page_runs_nothing(self, browser: FlaskClient) -> None:
        icon = re.search(r'rel="icon" href="([^"]+\.svg)"', self.page(browser))
        assert icon is not None
        answer = browser.get(icon[1])
        assert answer.headers["Content-Type"] == "image/svg+xml"
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "sandbox" in policy

    def test_the_footer_has_links_and_filings_in_the_language_of_the_page(
        self, browser: FlaskClient
    ) -> None:
        footers = [self.page(browser, language).partition("<footer>")[2] for language in ("en", "zh")]
        labels = [re.findall(r">([^<>]+)</a>", footer) for footer in footers]
        filings = ["沪ICP备12345678号-1", "沪公网安备 31010102000001号"]
        assert labels == [
            ["中文", "Terms of service", "Privacy policy", "Help", "About Harbour", *filings],
            ["English", "服务条款", "隐私政策", "帮助", "关于海港", *filings],
        ]
        assert 'href="https://beian.miit.gov.cn/"' in footers[0]
        # They are Chinese on every page, which screen readers must know.
        assert re.findall(r' lang="zh">(沪[^<]+)</a>', footers[0]) == filings
        assert "webSearch?code=31010102000001" in footers[0]

    def test_its_style_sheet_is_the_last_and_loads_nothing_from_elsewhere(
        self, browser: FlaskClient
    ) -> None:
        answer = browser.get("/vault/account/login")
        sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)">', answer.text)
        assert browser.get(sheets[-1]).data == (FOLDER / "harbour.css").read_bytes()
        policy = dict(
            part.split(" ", 1) for part in answer.headers["Content-Security-Policy"].split("; ")
        )
        loading = {name: value for name, value in policy.items() if name.endswith("-src")}
        assert loading["default-src"] == "'none'"
        sources = {source for value in loading.values() for source in value.split()}
        assert all(re.fullmatch(r"'(none|self|nonce-.*)'|data:", source) for source in sources)

    def test_nothing_of_a_page_is_at_another_origin(self, browser: FlaskClient) -> None:
        loaded = r'<(?:script|link|img|source|audio)[^>]* (?:src|href|srcset)="([^"]+)"'
        paths = re.findall(loaded, self.page(browser))
        assert len(paths) > 4
        assert all(path.startswith("/vault/") for path in paths)

    def test_mails_show_the_logo_from_the_public_url(self, config: Path, browser: FlaskClient) -> None:
        mail = run_command("mail", "preview", "login", "--lang", "zh", "--config", str(config)).stdout
        logo = re.search(
            r'<img class="light" src="https://files\.example\.com(/vault/[^"]+)" alt="海港文件"', mail
        )
        assert logo is not None
        assert browser.get(logo[1]).data == (FOLDER / "logo.png").read_bytes()
        dark = re.search(r'<img class="dark" src="https://files\.example\.com(/vault/[^"]+)"', mail)
        assert dark is not None
        assert browser.get(dark[1]).data == (FOLDER / "logo-dark.png").read_bytes()
        assert ".dark { display: block !important;" in mail


def test_a_wrong_file_is_named_by_its_line_and_key(config: Path) -> None:
    change_config(config, {"pages": {"logo": str(ROOT / "README.md")}})
    answer = run_command("config", "check", "--config", str(config))
    assert answer.returncode == 2
    assert re.search(r"strongroom\.toml:\d+: pages\.logo: .*README\.md must be PNG or", answer.stderr)
