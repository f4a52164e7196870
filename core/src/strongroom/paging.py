"""Replaced by strongroom.database.paging."""

from strongroom.database.paging import Page, Paging, seek_page, select_page

__all__ = ["Page", "Paging", "seek_page", "select_page"]
