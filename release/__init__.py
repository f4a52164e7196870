"""Releases: the version, the changelog, the distributions and their bill of materials."""
