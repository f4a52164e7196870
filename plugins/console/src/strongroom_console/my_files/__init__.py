"""The files of the user: lists, details, changes, uploads and downloads."""

from typing import Final

from flask import Blueprint

from strongroom_console.my_files.access import access
from strongroom_console.my_files.changes import changes
from strongroom_console.my_files.creation import creation
from strongroom_console.my_files.destination import destination
from strongroom_console.my_files.details import details
from strongroom_console.my_files.downloads import downloads
from strongroom_console.my_files.holds import holds
from strongroom_console.my_files.listing import listing
from strongroom_console.my_files.news import news
from strongroom_console.my_files.previews import previews
from strongroom_console.my_files.shared import shared
from strongroom_console.my_files.shares import shares
from strongroom_console.my_files.sharing import sharing
from strongroom_console.my_files.trash import trash
from strongroom_console.my_files.uploads import uploads
from strongroom_console.my_files.versions import versions

AREAS: Final[tuple[Blueprint, ...]] = (
    listing,
    creation,
    changes,
    destination,
    downloads,
    trash,
    news,
    shared,
    uploads,
    details,
    previews,
    versions,
    access,
    holds,
    sharing,
    shares,
)
