"""Content scanner for ClamAV's daemon clamd."""
