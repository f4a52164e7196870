"""The fast path of files; see :mod:`strongroom.web.fast_path`."""
