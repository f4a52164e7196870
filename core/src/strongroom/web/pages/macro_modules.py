"""Templates whose macros a page imports once, however many of its templates import them."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dis import get_instructions
from functools import cached_property, lru_cache
from types import CodeType
from typing import Any

from jinja2 import Template, TemplateNotFound
from jinja2.environment import TemplateModule
from jinja2.utils import missing

Modules = dict[Template, tuple[list[Any], TemplateModule]]
"""The modules of a page, each with the values of the variables that it was made of."""

_SUFFIX = ".html"
_MAX_TEMPLATES = 1_024


class PageTemplate(Template):
    """A template whose module is made again only if a variable that it names has another value.

    The variable ``strongroom`` of a page has the modules. The names of imported templates must be
    literals in the templates that others import with context.
    """

    @cached_property
    def _names(self) -> frozenset[str]:
        """The variables of the context that the template and its imports read."""
        names, seen, waiting = set[str](), set[Template](), list[Template]([self])
        while waiting:
            template = waiting.pop()
            if template in seen:
                continue
            seen.add(template)
            code = template.root_render_func.__code__
            names |= _names_in(code)
            waiting += [*self._imported(code)]
        return frozenset(names)

    def _imported(self, code: CodeType) -> Iterator[Template]:
        for name in {*_literals(code)}:
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


@lru_cache(_MAX_TEMPLATES)  # disassembling takes longer than rendering, and applications share templates
def _names_in(code: CodeType) -> frozenset[str]:
    return frozenset(_read_names(code))


def _read_names(code: CodeType) -> Iterator[str]:
    """Yield the variables that compiled code reads from its context, by ``resolve("name")``.

    Not what the template defines: each import has other macros of the same names.
    """
    former = ""
    for step in get_instructions(code):
        if step.opname == "LOAD_CONST" and former == "resolve":
            yield step.argval
        if step.opname != "PUSH_NULL":
            former = step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _read_names(constant)


def _literals(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, CodeType):
            yield from _literals(constant)
