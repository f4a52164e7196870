"""The commands of the program ``strongroom``."""

import gc

# Imports allocate many objects but little garbage; collecting would take an eighth of their time.
gc.disable()
try:
    from strongroom.cli.main import main
finally:
    gc.enable()

__all__ = ["main"]
