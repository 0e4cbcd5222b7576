"""The form in which predicates are stored: to bring them to it twice changes nothing."""

from __future__ import annotations

import pytest
from sharing.pairs.every import PAIRS, read

from workbench.sharing.draft import stored_form
from workbench.sql.logical import Block


@pytest.mark.slow
@pytest.mark.parametrize("canonicalize", [True, False], ids=["canonical", "as written"])
def test_the_stored_form_of_a_stored_form_is_itself(canonicalize: bool) -> None:
    for pair in PAIRS:
        asked = read(pair.first)
        if isinstance(asked, Block):
            once = stored_form(asked.where, canonicalize)
            assert stored_form(once, canonicalize) == once, pair.title
