"""A row of a mutant finds its code wherever it stands in its function, and however it is formatted."""

import pytest

from tests.mutants.places import replaced

MODULE = """\
class Access:
    def require(self, node, user):
        if not self.permits(
            node,
            user,  # the caller
        ):
            raise Forbidden("a  b")
        return node

    def read(self, node):
        return node
"""


def test_layout_comments_and_commas_at_the_end_do_not_matter() -> None:
    old = 'if not self.permits(node, user): raise Forbidden("a  b")'
    mutated = replaced(MODULE, "Access.require", old, "if False:\n    pass")
    assert "        if False:\n            pass\n        return node\n\n    def read" in mutated


def test_what_other_functions_contain_does_not_matter() -> None:
    mutated = replaced(MODULE, "Access.read", "return node", "return None")
    assert mutated == MODULE.removesuffix("return node\n") + "return None\n"


@pytest.mark.parametrize(
    ("function", "old"),
    [
        ("", "return node"),
        ("Access.read", "raise Forbidden"),
        ("Access.write", "return node"),
        ("Access.require", 'raise Forbidden("a b")'),
        ("Access.read", "node return"),
        ("Access.read", "eturn node"),
    ],
)
def test_code_that_is_gone_or_ambiguous_is_refused(function: str, old: str) -> None:
    with pytest.raises(LookupError):
        replaced(MODULE, function, old, "pass")
