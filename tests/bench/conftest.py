"""Lets the tests import what they test: the benches are no part of any distribution."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
