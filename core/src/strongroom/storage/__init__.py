"""Storage: bytes in named storages, and the record of them."""
