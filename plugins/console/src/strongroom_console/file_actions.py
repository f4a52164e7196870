"""What is done with files, as records of it name it."""

from typing import Final

ACTIONS: Final = {
    "folder.created": "did-create-folder",
    "file.created": "did-create",
    "file.replaced": "did-replace",
    "file.renamed": "did-rename",
    "file.moved": "did-move",
    "file.deleted": "did-delete",
    "file.restored": "did-restore",
    "file.purged": "did-purge",
    "file.version_purged": "did-purge-version",
    "file.version_changed": "did-change-version",
    "file.downloaded": "did-download",
}
"""The keys of the actions on files."""
