"""Thousands of random steps on the tree and its grants, each compared with a model in plain Python."""

import pytest
from tests.support.api import Api
from tests.support.campaign import campaign_steps
from tests.support.tree.machine import TreeMachine, run_machine

pytestmark = pytest.mark.both_databases


def test_tree_and_grants_match_the_model(hurried: Api) -> None:
    run_machine(TreeMachine, hurried, campaign_steps(hurried, "TREE_STEPS", 8_000))
