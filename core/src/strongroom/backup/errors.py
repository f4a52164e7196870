"""The error of backup and restore."""


class BackupError(Exception):
    """The archive cannot be created or restored; the message is one line with the remedy."""
