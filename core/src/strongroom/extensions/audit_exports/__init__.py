"""Exports of the audit log, and their verification."""
