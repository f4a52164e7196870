"""The pages of the console in Chromium."""

from tests.e2e.pages.walks import PageWalks


class TestConsole(PageWalks):
    areas = ("console", "without-trash")
