"""Compiles each template once for all applications of a process: each test makes an application."""

from types import CodeType

from jinja2 import Environment
from jinja2.bccache import Bucket, BytecodeCache


class CompiledTemplates(BytecodeCache):
    """Keeps the code of templates in memory, by their text and by what else the compiler reads."""

    def __init__(self) -> None:
        self._codes: dict[object, CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Set the code, if there is some."""
        bucket.code = self._codes.get(_key(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code."""
        assert bucket.code is not None
        self._codes[_key(bucket)] = bucket.code


def _key(bucket: Bucket) -> object:
    environment = bucket.environment
    options = (
        *(environment.autoescape, environment.optimized, environment.keep_trailing_newline),
        *(environment.trim_blocks, environment.lstrip_blocks, environment.newline_sequence),
    )
    # The compiler runs filters and tests of constants.
    functions = (frozenset(environment.filters.items()), frozenset(environment.tests.items()))
    return type(environment), bucket.key, bucket.checksum, options, functions, (*environment.extensions,)


def pytest_configure() -> None:
    """Give all environments that are made from now on the same compiled templates."""
    compiled, make = CompiledTemplates(), Environment.__init__

    def make_with_templates(self: Environment, *arguments: object, **options: object) -> None:
        make(self, *arguments, **options)  # type: ignore[arg-type]
        self.bytecode_cache = self.bytecode_cache or compiled

    Environment.__init__ = make_with_templates  # type: ignore[method-assign]
