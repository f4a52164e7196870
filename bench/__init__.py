"""Benchmarks: measures Strongroom and a reference in the same run."""
