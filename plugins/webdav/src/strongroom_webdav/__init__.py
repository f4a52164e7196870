"""Serves files to file managers, editors and sync programs by WebDAV (RFC 4918)."""
