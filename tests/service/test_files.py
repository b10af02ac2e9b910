"""The attacker uploads: bombs, lies, paths, too much; and wants the files of others."""

from __future__ import annotations

import bz2
import gzip
import io
import resource
import tracemalloc
import zipfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from tarnkappe.errors import AccessError, InputError, LimitError, NotFoundError, TarnkappeError
from tarnkappe.service.core import ServiceCore
from tarnkappe.service.files import Files, shown_name
from tarnkappe.service.people import Account, ServiceRole
from tarnkappe.service.settings import Limits
from tarnkappe.table import read
from tests.conftest import run_async
from tests.service.conftest import Running
from tests.service.test_serve import start

CSV = b"age,sex\n34,m\n45,f\n"


def workbook(**extra: bytes) -> bytes:
    page = io.BytesIO()
    book = openpyxl.Workbook()
    book.active.append(["age"])
    book.active.append([34])
    book.save(page)
    with zipfile.ZipFile(page, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, content in extra.items():
            archive.writestr(name, content)
    return page.getvalue()


def left(house: ServiceCore) -> list[str]:
    return [path.name for path in (house.settings.folder / "files").iterdir()]


def test_an_upload_is_kept_as_it_came(house: ServiceCore, ann: Account) -> None:
    stored = house.files.store([CSV[:5], CSV[5:]], "ward.csv", ann)
    assert house.files.path(stored.id, ann).read_bytes() == CSV
    assert (stored.name, stored.bytes) == ("ward.csv", len(CSV))
    assert house.files.list(ann) == [stored]
    assert house.files.path(stored.id, ann).stat().st_mode & 0o077 == 0
    house.remove_file(stored.id, ann)
    assert left(house) == []


@pytest.mark.parametrize(
    "content",
    [workbook(), CSV, gzip.compress(CSV), b"\xff\xfe" + "a;b\n1;2".encode("utf-16-le")],
    ids=["workbook", "csv", "gzip", "utf-16"],
)
def test_honest_files_come_in(house: ServiceCore, ann: Account, content: bytes) -> None:
    suffix = {b"PK": ".xlsx", b"\x1f\x8b": ".csv.gz"}.get(content[:2], ".csv")
    assert house.files.store([content], f"table{suffix}", ann).bytes == len(content)


def archive(**members: bytes) -> bytes:
    page = io.BytesIO()
    with zipfile.ZipFile(page, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return page.getvalue()


def statistics(suffix: str, folder: Path) -> bytes:
    path, frame = folder / f"table{suffix}", pd.DataFrame({"AGE": [34.0, 45.0], "SEX": ["m", "f"]})
    writers = {".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport, ".por": pyreadstat.write_por}
    if suffix in writers:
        writers[suffix](frame, str(path))
    else:
        pyreadstat.write_sav(frame, str(path), compress=suffix == ".zsav")
    return path.read_bytes()


@pytest.mark.parametrize("suffix", [".dta", ".sav", ".zsav", ".por", ".xpt"])
def test_files_of_statistics_packages_come_in(
    house: ServiceCore, ann: Account, tmp_path: Path, suffix: str
) -> None:
    stored = house.files.store([statistics(suffix, tmp_path)], f"table{suffix}", ann)
    assert read(house.files.path(stored.id, ann)).num_rows == 2
    with pytest.raises(InputError, match="whatever its name says"):
        house.files.store([CSV], f"table{suffix}", ann)


@pytest.mark.parametrize("name", ["t.csv.bz2", "t.csv.zst", "t.csv.lz4", "t.zip", "t.csv.zip"])
def test_packed_files_come_in_and_are_read(house: ServiceCore, ann: Account, name: str) -> None:
    content = {
        ".bz2": bz2.compress,
        ".zst": lambda text: pa.compress(text, "zstd", asbytes=True),
        ".lz4": lambda text: pa.compress(text, "lz4", asbytes=True),
        ".zip": lambda text: archive(**{"ward.csv": text, "readme.md": b"hello"}),
    }[Path(name).suffix](CSV)
    stored = house.files.store([content], name, ann)
    assert read(house.files.path(stored.id, ann)).data.to_pydict() == {"age": [34, 45], "sex": ["m", "f"]}


@pytest.mark.parametrize("name", ["bomb.csv.bz2", "bomb.csv.zst", "bomb.zip"])
def test_what_becomes_too_large_is_refused_however_it_is_packed(
    house: ServiceCore, ann: Account, name: str
) -> None:
    text = b"a" * (40 * 2**20)
    content = {
        ".bz2": bz2.compress,
        ".zst": lambda text: pa.compress(text, "zstd", asbytes=True),
        ".zip": lambda text: archive(**{"ward.csv": text}),
    }[Path(name).suffix](text)
    with pytest.raises(LimitError, match="unpacked"):
        house.files.store([content], name, ann)
    assert left(house) == []


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/cron.d/x.csv",
        "/etc/passwd.csv",
        "..\\..\\x.csv",
        "a\x00.csv",
        "\u202egpj.csv",
        "con.csv",
        "‮",
    ],
)
def test_no_name_of_a_client_becomes_part_of_a_path(house: ServiceCore, ann: Account, name: str) -> None:
    try:
        stored = house.files.store([CSV], name, ann)
    except InputError:
        assert left(house) == []
        return
    path = house.files.path(stored.id, ann)
    assert path.parent == house.settings.folder / "files"
    assert path.name == f"{stored.id}.csv"
    assert not set(stored.name) & set("/\\\x00\u202e")


def test_shown_names_are_short_and_keep_their_end() -> None:
    assert shown_name("x" * 1000 + ".csv").endswith(".csv")
    assert len(shown_name("x" * 1000 + ".csv")) < 150


@pytest.mark.parametrize("file_id", ["../service.db", "0" * 32, "' OR 1=1 --", "*", ""])
def test_ids_that_were_never_given_open_nothing(house: ServiceCore, ann: Account, file_id: str) -> None:
    house.files.store([CSV], "ward.csv", ann)
    with pytest.raises(NotFoundError):
        house.files.path(file_id, ann)


def test_nobody_sees_or_deletes_the_files_of_another(house: ServiceCore, ann: Account) -> None:
    stored = house.files.store([CSV], "ward.csv", ann)
    eve = Account("eve", frozenset(ServiceRole))
    assert house.files.list(eve) == []
    for attempt in (house.files.get, house.files.path, house.remove_file):
        with pytest.raises(NotFoundError):
            attempt(stored.id, eve)


def test_who_may_not_publish_uploads_nothing(house: ServiceCore) -> None:
    with pytest.raises(AccessError):
        house.files.store([CSV], "ward.csv", Account("phil", frozenset({ServiceRole.PHYSICIAN})))
    assert left(house) == []


LIES = {
    "text.parquet": CSV,
    "text.xlsx": CSV,
    "text.arrow": CSV,
    "book.csv": workbook(),
    "program.csv": b"\x7fELF" + bytes(100),
    "binary.csv": b"a,b\n" + bytes(100),
    "empty.csv": b"",
    "plain.csv.gz": CSV,
    "cut.csv.gz": gzip.compress(CSV * 1000)[:-20],
    "nothing.csv.gz": gzip.compress(b""),
    "zip.xlsx": b"PK\x03\x04" + bytes(100),
    "unknown.exe": CSV,
    "no suffix": CSV,
    "book.xlsx.gz": gzip.compress(workbook()),
    "plain.csv.bz2": CSV,
    "cut.csv.bz2": bz2.compress(CSV * 1000)[:-20],
    "plain.csv.zst": CSV,
    "cut.csv.zst": pa.compress(CSV * 1000, "zstd", asbytes=True)[:-20],
    "plain.zip": CSV,
    "no table.zip": archive(**{"readme.md": b"hello"}),
    "program.zip": archive(**{"ward.csv": b"\x7fELF" + bytes(100)}),
    "book.zip": workbook(),
    "book.ods": workbook(),
    "book.xlsb": workbook(),
    "text.xls": CSV,
}


@pytest.mark.parametrize("name", LIES)
def test_a_file_that_is_not_what_its_name_says_is_refused(
    house: ServiceCore, ann: Account, name: str
) -> None:
    with pytest.raises(TarnkappeError):
        house.files.store([LIES[name]], name, ann)
    assert left(house) == []


def small(house: ServiceCore, **changes: int) -> Files:
    return Files(house.store, house.settings.folder / "files", Limits(**changes))


def test_a_gzip_bomb_is_refused_without_being_unpacked(house: ServiceCore, ann: Account) -> None:
    bomb = gzip.compress(bytes(0) + b"a" * (20 * 2**20))
    assert len(bomb) < 2**16
    tracemalloc.start()
    with pytest.raises(LimitError, match="unpacked"):
        house.files.store([bomb], "bomb.csv.gz", ann)
    assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    tracemalloc.stop()
    with pytest.raises(LimitError, match="unpacked"):
        small(house, unpacked_bytes=1000).store([gzip.compress(CSV * 100)], "large.csv.gz", ann)
    assert left(house) == []


def test_a_workbook_that_is_a_bomb_is_refused(house: ServiceCore, ann: Account) -> None:
    bomb = workbook(**{"xl/worksheets/sheet2.xml": b"<a/>" * (5 * 2**20)})
    with pytest.raises(LimitError, match="unpacked"):
        house.files.store([bomb], "bomb.xlsx", ann)
    many = io.BytesIO()
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(10_001):
            archive.writestr(str(number), b"")
    with pytest.raises(LimitError):
        house.files.store([many.getvalue()], "many.xlsx", ann)
    entities = workbook(**{"xl/x.xml": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaa">]><x>&a;</x>'})
    with pytest.raises(InputError, match="entities"):
        house.files.store([entities], "laughs.xlsx", ann)
    assert left(house) == []


def test_too_much_is_refused_while_it_comes(house: ServiceCore, ann: Account) -> None:
    came = []

    def endless() -> Iterator[bytes]:
        while True:
            came.append(1)
            yield b"a,b\n" * 1000

    files = small(house, upload_bytes=100_000)
    with pytest.raises(LimitError, match="100,000 bytes"):
        files.store(endless(), "endless.csv", ann)
    assert len(came) < 30
    with pytest.raises(LimitError, match="no room"):
        small(house, stored_bytes=10).store([CSV], "ward.csv", ann)
    assert left(house) == []


def test_an_upload_that_breaks_off_leaves_nothing(house: ServiceCore, ann: Account) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CSV
        raise ConnectionResetError

    with pytest.raises(TarnkappeError):
        run_async(house.files.receive(broken(), "ward.csv", ann))
    assert left(house) == []
    assert house.files.list(ann) == []


def test_old_files_go_by_themselves(house: ServiceCore, ann: Account) -> None:
    stored = house.files.store([CSV], "ward.csv", ann)
    house.clean()
    assert house.files.list(ann) == [stored]
    house.close()
    later = ServiceCore(house.settings, clock=lambda: stored.created + 31 * 86_400)
    later.clean()
    assert later.files.list(ann) == []
    assert left(later) == []
    later.close()


def test_uploads_over_http(service: Running, steward: httpx.Client) -> None:
    made = steward.post("/files", params={"name": "../ward.csv"}, content=CSV)
    assert made.status_code == 201
    told = made.json()
    assert told["name"] == "ward.csv"
    assert steward.get(f"/files/{told['id']}").json() == told
    assert told in steward.get("/files").json()
    with service.client(service.somebody("eve", "steward")) as eve:
        assert eve.get(f"/files/{told['id']}").status_code == 404
        assert eve.delete(f"/files/{told['id']}").status_code == 404
        assert eve.get("/files").json() == []
    with service.client(service.somebody("phil", "physician")) as phil:
        assert phil.post("/files", params={"name": "ward.csv"}, content=CSV).status_code == 403
    assert steward.delete(f"/files/{told['id']}").status_code == 204
    assert steward.get(f"/files/{told['id']}").status_code == 404
    assert steward.post("/files", params={"name": "ward.csv"}, content=b"").status_code == 422
    assert steward.post("/files", content=CSV).status_code == 422


def upload(steward: httpx.Client, megabytes: int) -> int:
    """The status of an upload that is made up while it is sent."""
    line = b"34,m,some text that fills the line\n"
    piece = line * (2**20 // len(line))

    def pieces() -> Iterator[bytes]:
        yield b"age,sex,note\n"
        for _ in range(megabytes):
            yield piece

    return steward.post("/files", params={"name": "large.csv"}, content=pieces()).status_code


def test_an_upload_does_not_grow_memory(service: Running, steward: httpx.Client) -> None:
    upload(steward, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert upload(steward, 30) == 201
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 15 * 1024, (
        f"{grown / 1024:.0f} MB for an upload of 30 MB, sent and received in one process"
    )


@pytest.mark.slow
def test_an_upload_of_two_gigabytes_does_not_grow_memory(tmp_path: Path) -> None:
    """To a real `tarn serve` over HTTP; what is watched is the most that its process ever held."""
    process, told = start(tmp_path)
    try:
        headers = {"Authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
        with httpx.Client(base_url=f"{told['url']}/api/v1", headers=headers, timeout=600) as client:
            assert upload(client, 20) == 201
            before = most_memory(process.pid)
            assert upload(client, 2048) == 201
            grown = most_memory(process.pid) - before
            [large, _] = client.get("/files").json()
            assert large["bytes"] > 2 * 10**9
            assert client.delete(f"/files/{large['id']}").status_code == 204
        assert grown < 20 * 2**20, f"{grown / 2**20:.0f} MB"
    finally:
        process.terminate()
        process.communicate()


def most_memory(pid: int) -> int:
    """The most bytes that a process ever held."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024


def test_a_parquet_file_is_known_by_its_mark(house: ServiceCore, ann: Account, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    assert house.files.store([content], "t.parquet", ann).bytes == len(content)
