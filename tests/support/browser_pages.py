"""Walks through pages in Chromium: each language, colour scheme and width, with and without scripts."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request
from playwright.sync_api import Error as PlaywrightError

from tests.support.page_templates import template_of

LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}
"""The languages of pages, with the locales of browsers."""

WIDTHS: Final = (320, 768, 1280)
SCHEMES: Final[Sequence[Literal["light", "dark"]]] = ("light", "dark")
_HEIGHT: Final = 800
_PATIENCE: Final = 30_000
"""Milliseconds within which a page opens on a busy machine."""

_MAX_CONTROLS: Final = 150
_OF_THE_KEYBOARD: Final = "en"

_SCROLLS: Final = "document.documentElement.scrollWidth > innerWidth"
_MOVES: Final = """() => document.getAnimations()
    .filter(item => item.effect.getComputedTiming().duration > 1)
    .map(item => `${item.animationName ?? item.transitionProperty} of ${item.effect.target?.className}`)
"""
# A control whose edge and text have the colour of its surface is not seen there.
_UNSEEN: Final = """() =>
    [...document.querySelectorAll("button, .button, select, textarea, input:not([type=hidden])")]
      .filter(item => item.checkVisibility({visibilityProperty: true, opacityProperty: true}))
      .filter(item => !["checkbox", "radio", "file", "range"].includes(item.type))
      .filter(item => item.getBoundingClientRect().height > 1)
      .filter(item => {
        const style = getComputedStyle(item);
        return style.color === style.backgroundColor && style.borderTopColor === style.backgroundColor;
      })
      .map(item => `${item.tagName} ${item.textContent.trim() || item.name}`)
"""
# A finger needs 44 pixels, and a mouse 24 (WCAG 2.2, section 2.5.8). Controls in a sentence are exempt.
_LEAST_OF_FINGERS: Final = 44
_LEAST_OF_MICE: Final = 24
_LOW_BUTTONS: Final = """least =>
    [...document.querySelectorAll("button, .button, select, input:not([type=hidden])")]
      .filter(item => item.checkVisibility({visibilityProperty: true}))
      .filter(item => !["checkbox", "radio", "file"].includes(item.type))
      // A button that the pages clip to a pixel has its size as soon as it has the focus.
      .filter(item => item.getBoundingClientRect().height > 1)
      .filter(item => item.getBoundingClientRect().height < least - 0.5)
      .map(item => `${item.tagName} ${item.textContent.trim() || item.name}`)
"""
_TEXTS: Final = """() => {
    const language = document.documentElement.lang;
    const skipped = "script, style, code, bdi, [translate=no], .secret, .brand, .avatar";
    const isOther = item => {
      const own = item.closest("[lang]");
      return item.closest(skipped) || (own && own.lang !== language);
    };
    const texts = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const item = walker.currentNode.parentElement;
      if (!isOther(item) && item.checkVisibility({visibilityProperty: true})) {
        texts.push(walker.currentNode.textContent);
      }
    }
    for (const item of document.body.querySelectorAll("*")) {
      if (isOther(item)) continue;
      for (const name of ["aria-label", "placeholder", "alt", "title"]) {
        texts.push(item.getAttribute(name) ?? "");
      }
    }
    return texts.map(text => text.trim()).filter(Boolean);
}"""
# In the order of the document, or of the modal dialog. Of radio buttons, Tab reaches one.
_CONTROLS: Final = """() => {
    const fields = "button, input, select, textarea", others = "summary, audio[controls], iframe";
    const selector = `a[href], ${fields}, ${others}, [tabindex]`;
    const root = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document;
    globalThis.controlsOfTest = [...root.querySelectorAll(selector)].filter(item =>
      item.checkVisibility({visibilityProperty: true}) && !item.disabled && item.tabIndex >= 0
      && item.type !== "hidden" && !(item.type === "radio" && !item.checked));
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
    return controlsOfTest.map(item => `${item.tagName} ${item.textContent.trim() || item.name}`);
}"""
_FOCUS: Final = """() => {
    const item = document.activeElement, style = getComputedStyle(item);
    // Within a frame, the focus is that of the page in it.
    if (item.tagName === "IFRAME") return [controlsOfTest.indexOf(item), true];
    const isOutlined = style => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    // A link that fills its tile has the outline around the tile.
    const outline = isOutlined(style) || isOutlined(getComputedStyle(item.closest("li") ?? item));
    // A control that only the focus shows, such as the choice next to a search, is none of those.
    const place = controlsOfTest.indexOf(item), isShown = place < 0 && item !== document.body;
    return [isShown ? -2 : place, outline || style.boxShadow !== "none"];
}"""

_SHOWN_BY_FOCUS: Final = -2
_THE_PAGE: Final = -1

_CHINESE: Final = re.compile(r"[\u3400-\u9fff]")
_WORDS: Final = re.compile(r"[A-Za-z]{3,}")


@dataclass
class Visitor:
    """A browser window in front of a page.

    Args:
        stage: what the pages are about, as the table of screens needs it.
    """

    page: Page
    origin: str
    language: str
    stage: Any
    has_scripts: bool

    def go(self, path: str) -> None:
        """Open a path, or a whole URL."""
        self.page.goto(path if path.startswith("http") else f"{self.origin}{path}")

    def fill(self, **values: str) -> None:
        """Fill in fields by their names; a hyphen is an underscore here."""
        for name, value in values.items():
            self.page.locator(f"[name='{name}']:visible").first.fill(value)

    def follow(self, selector: str) -> None:
        """Open the page of the first link of a selector, which scripts may show as a dialog."""
        self.go(self.page.locator(selector).first.get_attribute("href") or "")

    def press(self, selector: str) -> None:
        """Press the first visible control of a selector."""
        self.page.locator(f"{selector}:visible").first.click()


@dataclass(frozen=True)
class Screen:
    """A page of the product, and how to reach it.

    Args:
        template: that of the page, by the name of :func:`page_templates`.
        open: brings the window there.
        needs_scripts: whether it exists only with scripts.
        names: further text that is the same in all languages, as a regular expression.
    """

    name: str
    template: str
    open: Callable[[Visitor], None]
    needs_scripts: bool = False
    names: str = "(?!)"


@dataclass
class Walk:
    """Inspects screens one after another, and collects their faults.

    Args:
        names: text that is the same in all languages.
        partners: other origins that pages may show.
    """

    browser: Browser
    origin: str
    language: str
    stage: Any
    has_scripts: bool
    names: re.Pattern[str]
    partners: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)

    def inspect(self, screen: Screen) -> None:
        """Open a screen in a window of its own, and inspect it."""
        self.visit(screen, lambda page: self._faults(page, screen))

    def visit(self, screen: Screen, faults: Callable[[Page], Iterable[str] | None]) -> None:
        """Open a screen in a window of its own, and collect the faults that a function finds there."""
        if screen.needs_scripts and not self.has_scripts:
            return
        with self._window() as (page, noted):
            try:
                screen.open(Visitor(page, self.origin, self.language, self.stage, self.has_scripts))
                found = [*(faults(page) or ()), *noted]
            except PlaywrightError as error:
                # The other screens are inspected nevertheless.
                found = [f"cannot be opened, at {urlsplit(page.url).path}: {error.message}"]
        self.faults += [f"{screen.name} ({self.language}): {fault}" for fault in found]

    def _faults(self, page: Page, screen: Screen) -> Iterator[str]:
        if (template := template_of(page.content())) != screen.template:
            yield f"{urlsplit(page.url).path} has the template {template} in place of {screen.template}"
        yield from _layout_faults(page)
        yield from self._text_faults(page, screen)
        if self.has_scripts:
            yield from _axe_faults(page)
            yield from _forced_colour_faults(page)
        # The order of controls does not depend on the language.
        if self.has_scripts and self.language == _OF_THE_KEYBOARD:
            yield from _keyboard_faults(page)

    @contextmanager
    def _window(self) -> Iterator[tuple[Page, list[str]]]:
        context = self.browser.new_context(
            locale=LOCALES[self.language], java_script_enabled=self.has_scripts
        )
        # Autofill of passkeys would wait for a device.
        context.add_init_script("delete PublicKeyCredential.isConditionalMediationAvailable")
        context.set_default_timeout(_PATIENCE)
        page, noted = context.new_page(), list[str]()

        def note_console(message: ConsoleMessage) -> None:
            # Browsers also report the status of pages with errors, such as 404.
            if message.type == "error" and "the server responded with a status of" not in message.text:
                noted.append(f"console: {message.text}")

        def note_request(request: Request) -> None:
            if not request.url.startswith((self.origin, *self.partners, "data:", "blob:")):
                noted.append(f"request to another origin: {request.url}")

        page.on("console", note_console)
        page.on("pageerror", lambda error: noted.append(f"script: {error}"))
        page.on("request", note_request)
        yield page, noted
        context.close()

    def _text_faults(self, page: Page, screen: Screen) -> Iterator[str]:
        language = page.evaluate("document.documentElement.lang")
        if language.partition("-")[0] != self.language:
            yield f"the language is {language!r}"
        for text in page.evaluate(_TEXTS):
            rest = re.sub(screen.names, "", self.names.sub("", text))
            if self.language == "en" and _CHINESE.search(rest):
                yield f"Chinese text: {text!r}"
            if self.language == "zh" and _WORDS.search(rest) and not _CHINESE.search(rest):
                yield f"English text: {text!r}"


def _layout_faults(page: Page) -> Iterator[str]:
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        if page.evaluate(_SCROLLS):
            yield f"scrolls sideways at {width}"
    yield from _low_buttons(page, _LEAST_OF_MICE)
    page.set_viewport_size({"width": WIDTHS[0], "height": _HEIGHT})
    with touching(page):
        if page.evaluate(_SCROLLS):
            yield f"scrolls sideways under fingers at {WIDTHS[0]}"
        yield from _low_buttons(page, _LEAST_OF_FINGERS)


def _low_buttons(page: Page, least: int) -> Iterator[str]:
    yield from (f"lower than {least} pixels: {item}" for item in page.evaluate(_LOW_BUTTONS, least))


@contextmanager
def touching(page: Page) -> Iterator[None]:
    """Have a page in a device with a touch screen."""
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    yield
    session.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    session.detach()


def _axe_faults(page: Page) -> Iterator[str]:
    for scheme, width in zip(SCHEMES, (WIDTHS[-1], WIDTHS[0]), strict=True):
        # Colours that change slowly would be measured on their way to the other scheme.
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": _HEIGHT})
        for violation in Axe().run(page).response["violations"]:
            nodes = [node["html"] for node in violation["nodes"]]
            yield f"{scheme} {width}: {violation['id']} {nodes}"


def _forced_colour_faults(page: Page) -> Iterator[str]:
    """Inspect a page in colours of the system, as in the mode of high contrast of Windows.

    axe ignores the colours of the system, and all else is what it has inspected.
    """
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce", forced_colors="active")
        yield from (f"{scheme}, forced colours: not visible: {item}" for item in page.evaluate(_UNSEEN))
        yield from (f"moves in spite of reduced motion: {item}" for item in page.evaluate(_MOVES))
    page.emulate_media(color_scheme="light", forced_colors="none")


def _keyboard_faults(page: Page) -> Iterator[str]:
    """Press Tab through the page: each control has its turn, in order, and its focus is visible."""
    controls = page.evaluate(_CONTROLS)
    stops: list[int] = []
    others = {_SHOWN_BY_FOCUS, _THE_PAGE}
    while len(set(stops) - others) < len(controls) and len(stops) < _MAX_CONTROLS:
        page.keyboard.press("Tab")
        stop, is_visible = page.evaluate(_FOCUS)
        # The browser marks the further stops in a field of a date.
        if stop >= 0 and not is_visible and stop not in stops[-1:]:
            yield f"no visible focus: {controls[stop]}"
        stops.append(stop)
    # Players and frames have several stops of their own.
    is_modal = page.locator("dialog:modal").count()
    listed = [stop for stop in stops if stop not in (others if is_modal else {_SHOWN_BY_FOCUS})]
    # A modal dialog keeps the focus, which began at the control that the dialog chose.
    if is_modal and 0 in listed:
        listed = listed[listed.index(0) :] + listed[: listed.index(0)]
    reached = [stop for place, stop in enumerate(listed) if place == 0 or stop != listed[place - 1]]
    if reached != [*range(len(controls))]:
        order = [controls[stop] if stop >= 0 else "the page" for stop in reached]
        yield f"Tab reaches {order}, and not {controls}"
