"""Files are removed when they have no readers any more."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.storage.file_collection import FileCollector


def test_what_is_read_stays_until_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.arrow"
    file.touch()
    collector = FileCollector(tmp_path / "readers.lock")
    with collector.reading():
        with collector.reading():
            collector.collect([str(file)])
        assert file.exists()
    assert not file.exists()
