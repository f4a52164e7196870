"""Versions: earlier contents of files, which replacing the content keeps."""
