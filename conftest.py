"""Loads the fixtures for the tests of the core and of all plugins.

It is above them, because pytest allows a conftest below the root of a run to load no plugin.
"""

pytest_plugins = [
    "tests.support.durations",
    "tests.support.collection",
    "tests.support.compiled_templates",
    "tests.support.databases",
    "tests.support.fixtures",
    "tests.support.threads",
]
