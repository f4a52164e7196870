"""What can go wrong with a backup."""


class BackupError(Exception):
    """The archive cannot be made or restored. The text is one line that says what to do."""
