"""The rows of :mod:`tests.mutants.table`, by feature."""
