"""Holds and retention: which nodes, versions and bytes may not be removed, and until when."""
