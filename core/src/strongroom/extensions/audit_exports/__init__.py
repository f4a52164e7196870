"""Exports of the audit log, and verification in steps."""
