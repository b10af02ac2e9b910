"""The attacker uploads small files that become huge: refused by what they say of themselves, before a row is read."""

from __future__ import annotations

from pathlib import Path

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.errors import InputError, LimitError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.people import Account
from tarnkappe.service.work.unpacking import HARMLESS, require_unpackable

ROWS = 4_000_000


def zeros(kind: pa.DataType, rows: int) -> pa.Array:
    return pa.array(np.zeros(rows, dtype=kind.to_pandas_dtype()), kind)


def parquet_bomb(path: Path, groups: int, **how: object) -> None:
    """A column of one value, again and again: each group is a few bytes on the disk."""
    group = pa.table({"age": zeros(pa.int64(), ROWS), "sex": zeros(pa.int64(), ROWS)})
    with pq.ParquetWriter(path, group.schema, **how) as writer:
        for _ in range(groups):
            writer.write_table(group, row_group_size=ROWS)


def arrow_bomb(path: Path, batches: int) -> None:
    batch = pa.record_batch({"age": zeros(pa.int64(), ROWS)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema, options=options) as writer:
        for _ in range(batches):
            writer.write_batch(batch)


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    parquet_bomb(folder / "dictionary.parquet", 20)
    parquet_bomb(folder / "plain.parquet", 20, use_dictionary=False, compression="zstd")
    arrow_bomb(folder / "zstd.arrow", 40)
    return folder


BOMBS = ("dictionary.parquet", "plain.parquet", "zstd.arrow")


@pytest.mark.parametrize("name", BOMBS)
def test_a_small_file_that_becomes_huge_is_refused_before_any_work(
    house: ServiceCore, ann: Account, bombs: Path, name: str
) -> None:
    content = (bombs / name).read_bytes()
    assert len(content) * 100 < HARMLESS
    with pytest.raises(LimitError, match="unpacked, the table has more than"):
        house.files.store([content], name, ann)
    assert house.files.list(ann) == []
    assert list((house.settings.folder / "files").iterdir()) == []


def test_a_bomb_is_refused_over_http_by_a_process_of_its_own(steward: httpx.Client, bombs: Path) -> None:
    content = (bombs / BOMBS[0]).read_bytes()
    answer = steward.post("/files", params={"name": BOMBS[0]}, content=content)
    assert (answer.status_code, answer.json()["kind"]) == (413, "LimitError")


def test_honest_tables_come_in_however_well_they_are_packed(
    house: ServiceCore, ann: Account, tmp_path: Path
) -> None:
    parquet_bomb(tmp_path / "a.parquet", 1)
    arrow_bomb(tmp_path / "a.arrow", 1)
    for path in tmp_path.glob("a.*"):
        assert house.files.store([path.read_bytes()], path.name, ann).bytes == path.stat().st_size


def test_a_footer_that_is_none_is_refused(house: ServiceCore, ann: Account) -> None:
    with pytest.raises(InputError, match="damaged"):
        house.files.store([b"PAR1" + b"x" * 100 + b"PAR1"], "a.parquet", ann)


def test_the_greatest_of_both_limits_never_exceeds_what_any_file_may_become(tmp_path: Path) -> None:
    parquet_bomb(tmp_path / "a.parquet", 1)
    with pytest.raises(LimitError, match="1,000 bytes"):
        require_unpackable(tmp_path / "a.parquet", 1000, 200)
