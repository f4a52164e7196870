"""The files of the user: lists, details, changes, uploads and downloads."""

from typing import Final

from flask import Blueprint

from strongroom_console.my_files.creation import creation
from strongroom_console.my_files.listing import listing
from strongroom_console.my_files.uploads import uploads

AREAS: Final[tuple[Blueprint, ...]] = (listing, creation, uploads)
