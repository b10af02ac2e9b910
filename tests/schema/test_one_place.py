"""What the schema layer does is done nowhere else."""

from __future__ import annotations

import pytest

from tests.test_architecture import MODULES, PACKAGE


@pytest.mark.parametrize("word", ["get_close_matches", "force_setattr(made", "msgspec.convert("])
def test_one_folder_of_the_package_knows_how(word: str) -> None:
    knowing = {
        path.relative_to(PACKAGE).parts[0] for path in MODULES if word in path.read_text(encoding="utf-8")
    }
    assert knowing == {"schema"}
