"""The sizes of the pages of lists."""

from typing import Final

PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 200
"""The most records of one page."""
