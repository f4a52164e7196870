"""A user of pages, by the mouse or by the keyboard alone, with a stop-watch and a count of clicks."""

import time
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page

_MAX_TABS = 150
_IS_FOCUSED = "item => item === document.activeElement"


@dataclass
class Hand:
    """Presses controls and fills in fields, and counts it.

    Args:
        has_mouse: whether the hand clicks; otherwise, it reaches each control by Tab.
        clicks: how many controls were pressed; a key that presses a control counts as a click.
        tabs: how often Tab was pressed.
    """

    page: Page
    has_mouse: bool
    clicks: int = 0
    tabs: int = 0
    started: float = field(default_factory=time.monotonic)

    def press(self, control: Locator, key: str = "Enter") -> None:
        """Press a button, or follow a link; by the keyboard with this key."""
        self.clicks += 1
        if self.has_mouse:
            control.click()
        else:
            self._reach(control)
            self.page.keyboard.press(key)

    def check(self, box: Locator) -> None:
        """Check a box."""
        self.press(box, "Space")

    def fill(self, input: Locator, text: str) -> None:  # noqa: A002  the element
        """Type into a field, which the mouse clicks before."""
        if self.has_mouse:
            self.clicks += 1
            input.click()
        else:
            self._reach(input)
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.type(text)

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
