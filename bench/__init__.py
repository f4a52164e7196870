"""Measures Strongroom beside a limit, in the same run."""
