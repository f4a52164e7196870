"""Storage backend for the filesystems of fsspec."""
