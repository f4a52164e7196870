"""Inspection of uploaded content: scans, the states of files, and the quarantine."""
