"""The trash: deleted files and folders that can be restored for some days."""
