"""A user of pages, by mouse, finger or keyboard alone, with a stop-watch and a count of clicks."""

import time
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page

_MAX_TABS = 150
_FRAME = 100
"""Milliseconds."""

_IS_FOCUSED = "item => item === document.activeElement"


@dataclass
class Hand:
    """Presses controls and fills in fields, and counts it.

    Args:
        has_mouse: whether the hand clicks; otherwise, it reaches each control by Tab.
        has_finger: whether it taps instead, on a touch screen.
        clicks: how many controls were pressed; a key that presses a control counts as a click.
        tabs: how often Tab was pressed.
    """

    page: Page
    has_mouse: bool
    has_finger: bool = False
    clicks: int = 0
    tabs: int = 0
    started: float = field(default_factory=time.monotonic)

    def press(self, control: Locator, key: str = "Enter") -> None:
        """Press a button, or follow a link; by the keyboard with this key."""
        self.clicks += 1
        if self.has_mouse:
            self._point(control)
        else:
            self._reach(control)
            self.page.keyboard.press(key)

    def check(self, box: Locator) -> None:
        """Check a box."""
        self.press(box, "Space")

    def fill(self, input: Locator, text: str) -> None:  # noqa: A002  the element
        """Type into a field, which the mouse clicks before unless it has the focus."""
        if not self.has_mouse:
            self._reach(input)
        elif not self._has_focus(input):
            self.clicks += 1
            self._point(input)
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.type(text)

    def send(self) -> None:
        """Send the form of the field with the focus by Enter, which counts as a click."""
        self.clicks += 1
        self.page.keyboard.press("Enter")

    def _has_focus(self, input: Locator) -> bool:  # noqa: A002  the element
        input.wait_for(state="visible")
        # The browser gives the first field of a form the focus after the page is shown.
        self.page.wait_for_timeout(_FRAME)
        return bool(input.evaluate(_IS_FOCUSED))

    def _point(self, control: Locator) -> None:
        if self.has_finger:
            control.tap()
        else:
            control.click()

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def _reach(self, control: Locator) -> None:
        control.wait_for(state="visible")
        for _ in range(_MAX_TABS):
            if control.evaluate(_IS_FOCUSED):
                return
            self.tabs += 1
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {control}")
