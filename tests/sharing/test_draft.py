"""The form in which predicates are stored: to bring them to it twice changes nothing."""

from __future__ import annotations

import pytest
from sharing.pairs import PAIRS, Pair
from sharing.small_streams import query

from workbench.sharing.draft import stored_form
from workbench.sql.logical import Block

BLOCKS = [pair for pair in PAIRS if "big" not in pair.first and "per_src" not in pair.first]


@pytest.mark.parametrize("pair", BLOCKS, ids=[pair.title for pair in BLOCKS])
@pytest.mark.parametrize("canonicalize", [True, False], ids=["canonical", "as written"])
def test_the_stored_form_of_a_stored_form_is_itself(pair: Pair, canonicalize: bool) -> None:
    asked = query(pair.first)
    if isinstance(asked, Block):
        once = stored_form(asked.where, canonicalize)
        assert stored_form(once, canonicalize) == once
