"""Templates whose macros a page imports once, however many of its templates import them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from types import CodeType
from typing import Any

from jinja2 import Template, TemplateNotFound
from jinja2.environment import TemplateModule
from jinja2.utils import missing

Modules = dict[Template, tuple[list[Any], TemplateModule]]
"""The modules of a page, each with the values of the variables that it was made of."""

_SUFFIX = ".html"


class PageTemplate(Template):
    """A template whose module is made again only if a variable that it names has another value.

    The variable ``strongroom`` of a page has the modules. The names of imported templates must be
    literals in the templates that others import with context.
    """

    @cached_property
    def _names(self) -> frozenset[str]:
        """The literals of the template and its imports, among them the names of variables."""
        names, seen, waiting = set[str](), set[Template](), list[Template]([self])
        while waiting:
            template = waiting.pop()
            if template in seen:
                continue
            seen.add(template)
            literals = set(_literals(template.root_render_func.__code__))
            names |= literals
            waiting += [*self._imported(literals)]
        return frozenset(name for name in names if name.isidentifier())

    def _imported(self, literals: set[str]) -> Iterator[Template]:
        for name in literals:
            if name.endswith(_SUFFIX):
                # The name of the importing template is another literal, without its folder.
                with suppress(TemplateNotFound):
                    yield self.environment.get_template(name)

    def make_module(
        self,
        vars: dict[str, Any] | None = None,  # noqa: A002  the name of the overridden method
        shared: bool = False,
        locals: Mapping[str, Any] | None = None,  # noqa: A002  as above
    ) -> TemplateModule:
        """Return the module, as an import with context requests it."""
        modules: Modules | None = getattr((vars or {}).get("strongroom"), "modules", None)
        if modules is None or not shared:
            return super().make_module(vars, shared, locals)
        variables = {**(vars or {}), **{k: v for k, v in (locals or {}).items() if v is not missing}}
        values = [variables.get(name, missing) for name in self._names]
        made = modules.get(self)
        if made is None or any(value is not other for value, other in zip(values, made[0], strict=True)):
            made = modules[self] = values, super().make_module(vars, shared, locals)
        return made[1]


def _literals(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _literals(constant)
