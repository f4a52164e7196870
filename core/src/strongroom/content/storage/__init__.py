"""Storage: blobs in named storages, and their rows in the database."""
