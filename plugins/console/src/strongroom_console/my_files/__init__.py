"""The files of the user: lists, details, changes, uploads and downloads."""
