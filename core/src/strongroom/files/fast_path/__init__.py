"""Fast path of the file routes; see :mod:`strongroom.web.fast_path`."""
