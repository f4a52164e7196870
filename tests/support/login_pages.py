"""People in front of a browser with the login pages."""

import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyotp
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

import strongroom_login_passkey
from strongroom.builtin.recovery_code import RecoveryCode
from strongroom_factor_totp.plugin import Totp
from strongroom_login_passkey.factor import PasskeyFactor
from tests.support.browsers import PLATFORM, VirtualAuthenticator
from tests.support.server import Server

PASSWORD: Final = "Correct1Horse"
LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}
"""The languages of the pages, with the locales of browsers."""

_KIT: Final = Path(__file__).parents[2] / "core/src/strongroom/web/pages/messages"
_MESSAGES: Final = Path(__file__).parents[2] / "plugins/login_pages/src/strongroom_login_pages/messages"
_FORMS: Final = (
    ("totp", Totp.form),
    ("passkey", PasskeyFactor.form),
    ("recovery-code", RecoveryCode.form),
)


def texts_of(language: str) -> dict[str, str]:
    """Return the texts of all areas of the pages, and those of the built-in factors.

    The texts of a factor's form have keys such as ``totp.add``, and those of its templates ``use``.
    """
    areas = (tomllib.loads(path.read_text()) for path in _MESSAGES.glob(f"*.{language}.toml"))
    kit = tomllib.loads((_KIT / f"{language}.toml").read_text())
    texts = {key: text for area in (kit, *areas) for key, text in area.items()}
    for name, form in _FORMS:
        assert form is not None
        labels = {item.name: getattr(form, item.name) for item in fields(form)}
        texts |= {
            f"{name}.{key}": labels[key][language]
            for key in ("label", "hint", "field", "instruction", "result", "add", "use")
            if labels[key]
        }
    passkey = Path(strongroom_login_passkey.__file__).parent / f"messages/{language}.toml"
    texts |= {f"passkey.{key}": text for key, text in tomllib.loads(passkey.read_text()).items()}
    return texts


@dataclass
class Person:
    """A user in front of a browser."""

    server: Server
    page: Page
    texts: Mapping[str, str]
    email: str
    id: str
    device: VirtualAuthenticator | None = None

    @property
    def origin(self) -> str:
        return self.server.url.replace("127.0.0.1", "localhost")

    def text(self, key: str, **values: str) -> str:
        """Return a text of the pages in the person's language."""
        return self.texts[key].format(**values)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.origin}/account{path}")

    def press(self, key: str) -> None:
        """Press the button with a text."""
        self.page.get_by_role("button", name=self.text(key), exact=True).click()

    def open_login(self) -> None:
        """Open the login page, and its form if the person is logged in already."""
        self.open("/login")
        other_account = self.page.locator("summary", has_text=self.text("use-another-account"))
        if other_account.count():
            other_account.click()

    def log_in(self, password: str = PASSWORD) -> None:
        """Log in with the password."""
        self.open_login()
        self.page.get_by_label(self.text("username")).fill(self.email)
        self.page.get_by_label(self.text("password")).fill(password)
        self.press("log-in")

    def log_in_again(self, password: str = PASSWORD) -> None:
        """Enter the password again in the form with an error, which has kept the name."""
        self.page.get_by_label(self.text("password")).fill(password)
        self.press("log-in")

    def sees(self, key: str) -> None:
        """Require a message."""
        expect(self.page.locator("[role=alert]:visible, [role=status]")).to_have_text(self.text(key))

    def has_heading(self, key: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(self.text(key))

    def get_device(self, kind: Mapping[str, Any] = PLATFORM) -> VirtualAuthenticator:
        """Plug a device in, and add a passkey on it."""
        self.device = VirtualAuthenticator(self.page, kind)
        self.log_in()
        name = self.text("name-of-factor", name=self.text("passkey.label"))
        self.page.get_by_label(name).last.fill("Laptop")
        self.press("passkey.add")
        self.press("passkey.create")
        self.sees("factor-added")
        return self.device

    def log_out(self) -> None:
        self.open("/")
        self.page.locator("[popovertarget=person]:visible").click()
        self.page.locator("form[action$='/logout'] button").click()
        self.sees("logged-out")


@contextmanager
def person_at(browser: Browser, server: Server, language: str, **options: Any) -> Iterator[Person]:
    """Create a user in front of a browser window; each error of the browser is a failure.

    Args:
        language: the language of the browser, and of the texts that the person expects.
        options: further options of the browser window.
    """
    context = browser.new_context(locale=LOCALES[language], **options)
    texts = texts_of(language)
    email = f"{uuid4().hex}@example.com"
    user = server.create_user(email)
    # Autofill would answer at once; the journey with autofill has a window of its own.
    context.add_init_script("delete PublicKeyCredential.isConditionalMediationAvailable")
    page, page_errors = context.new_page(), list[str]()
    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.on("console", lambda message: page_errors.append(message.text))
    yield Person(server, page, texts, email, user["id"])
    context.close()
    # Browsers also report the status codes of forms with errors, such as 400.
    faults = [text for text in page_errors if "the server responded with a status of" not in text]
    assert not faults, faults


class AuthenticatorApp:
    """An app on a phone; a code may be one step early, so two logins need no waiting."""

    def __init__(self, secret: str) -> None:
        self._totp, self._used = pyotp.TOTP(secret), 0

    def code(self) -> str:
        """Return a code that was not used yet, good for 30 seconds at least."""
        self._used = max(self._used + 1, int(time.time()) // 30)
        return str(self._totp.generate_otp(self._used))


# A button may have parts of different heights, such as a picture and a name; each text has one line.
_BROKEN_BUTTONS: Final = """
    [...document.querySelectorAll("button")].filter((button) => {
      const texts = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      while (texts.nextNode()) {
        range.selectNodeContents(texts.currentNode);
        const tops = [...range.getClientRects()].map((line) => Math.round(line.top));
        if (new Set(tops).size > 1) return true;
      }
      return false;
    }).map((button) => button.textContent)
"""


class Inspection:
    """Inspects pages: WCAG by axe, and on phones no scrolling sideways and no broken buttons."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.faults: list[str] = []

    def inspect(self, name: str) -> None:
        """Inspect the current page in both colour schemes, wide and narrow."""
        for scheme, width in (("light", 1280), ("dark", 320)):
            # Colours that still change have a contrast of their own.
            self._page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]  # a literal
            self._page.set_viewport_size({"width": width, "height": 800})
            violations = Axe().run(self._page).response["violations"]
            self.faults += [f"{name} {scheme}: {found['id']} {found['nodes']}" for found in violations]
        if self._page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            self.faults.append(f"{name}: scrolls sideways")
        for width in (360, 320):
            self._page.set_viewport_size({"width": width, "height": 800})
            broken = self._page.evaluate(_BROKEN_BUTTONS)
            self.faults += [f"{name} {width}: the button {text} has two lines" for text in broken]
