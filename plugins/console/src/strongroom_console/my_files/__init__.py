"""The files of the user: lists, details, changes, uploads and downloads."""

from typing import Final

from flask import Blueprint

from strongroom_console.my_files.listing import listing

AREAS: Final[tuple[Blueprint, ...]] = (listing,)
