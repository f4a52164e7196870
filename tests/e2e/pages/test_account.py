"""The pages of the account, and of what works in its name."""

from tests.e2e.pages.walks import PageWalks


class TestAccount(PageWalks):
    areas = ("account", "clients", "directories", "names")
