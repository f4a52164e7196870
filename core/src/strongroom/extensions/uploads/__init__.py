"""Resumable uploads (tus 1.0)."""
