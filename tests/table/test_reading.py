"""Any usual file is read, what is guessed is told, and every guess can be corrected."""

from __future__ import annotations

import bz2
import csv
import datetime as dt
import gzip
import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe.table.formats.unicode
from tarnkappe.errors import InputError, ParameterError, TarnkappeError
from tarnkappe.table import Table, read
from tarnkappe.table.formats.encoding_guess import guess_encoding
from tarnkappe.table.reading import Reading
from tarnkappe.table.spelling import DateOrder, SpellingKind

SECRET = "Xylophon"


def written(folder: Path, content: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.to_pylist() for column in table.data.columns), strict=True))


def reading(table: Table) -> Reading:
    assert table.reading is not None
    return table.reading


def kinds(table: Table) -> list[str]:
    return [str(spelling.kind) for spelling in reading(table).columns.values()]


# ---------------------------------------------------------------- bytes to text


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "cp850"])
def test_umlauts_tell_the_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Name;Straße\nMüller;Königsstraße\nJäger;Grüner Weg\n"
    table = read(written(tmp_path, text.encode(encoding)))
    assert texts(table) == [("Müller", "Königsstraße"), ("Jäger", "Grüner Weg")]
    assert reading(table).encoding == encoding
    assert any("since it is no UTF-8" in note and "--encoding" in note for note in reading(table).notes)


SCRIPTS = {
    "cp1250": "Imię;Miasto\nŁukasz Wójcik;Łódź\nMałgorzata;Kraków\n",
    "cp1251": "ФИО;Город\nИванов Иван;Москва\nПетрова Анна;Казань\n",
    "koi8_r": "ФИО;Город\nИванов Иван;Москва\nПетрова Анна;Казань\n",
    "cp1253": "Όνομα;Πόλη\nΓιώργος Παπαδόπουλος;Αθήνα\nΜαρία;Θεσσαλονίκη\n",
    "cp1255": "שם;עיר\nדוד כהן;תל אביב\nרות לוי;חיפה\n",
    "cp1256": "الاسم;المدينة\nمحمد علي;الرياض\nفاطمة;جدة\n",
    "cp932": "氏名;都道府県\n田中太郎;東京都\n鈴木花子;大阪府\n",
    "gb18030": "姓名;城市\n王伟;北京\n李芳;上海\n张敏;广州\n",
    "big5": "姓名;城市\n王偉;臺北\n李芳;高雄\n",
    "cp949": "이름;도시\n김철수;서울\n이영희;부산\n",
}


@pytest.mark.parametrize("encoding", SCRIPTS)
def test_letters_of_other_scripts_tell_the_encoding(tmp_path: Path, encoding: str) -> None:
    table = read(written(tmp_path, SCRIPTS[encoding].encode(encoding)))
    first, *rows = SCRIPTS[encoding].splitlines()
    assert table.column_names == tuple(first.split(";"))
    assert texts(table) == [tuple(row.split(";")) for row in rows]
    assert reading(table).encoding == encoding


PEOPLE = (
    "Müller;Köln", "Jürgen Groß;München", "Zoë Lefèvre;Orléans", "José Muñoz;Málaga", "Søren Ærø;Århus",
    "Ömer Çelik;Düsseldorf", "Käthe Böhm;Fürth", "Renée Dubé;Québec", "Ángel Núñez;Cádiz", "Åsa Björk;Malmö",
)  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "least"), [("utf-8", 1.0), ("cp1252", 0.94), ("mac_roman", 0.72), ("cp850", 0.77)]
)
def test_the_encoding_of_small_pieces_is_told_as_often_as_was_measured(encoding: str, least: float) -> None:
    pieces = []
    for start in range(len(PEOPLE)):
        for rows in (1, 3, 30):
            chosen = [PEOPLE[(start + row) % len(PEOPLE)] for row in range(rows)]
            pieces.append("\n".join(["name;town", *chosen, ""]))
    right = 0
    for piece in pieces:
        content = piece.encode(encoding)
        try:
            read_as = content.decode("utf-8")
        except UnicodeDecodeError:
            read_as = content.decode(guess_encoding(content), "replace")
        right += read_as == piece
    assert right >= least * len(pieces)


def test_an_umlaut_in_the_last_line_decides_for_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tarnkappe.table.formats.unicode, "CHUNK", 100)
    lines = "a;b\n" + "1;x\n" * 300
    assert texts(read(written(tmp_path, (lines + "2;Köln\n").encode("cp1252"))))[-1] == (2, "Köln")
    assert texts(read(written(tmp_path, (lines + "2;Köln\n").encode("utf-8"))))[-1] == (2, "Köln")


def test_single_broken_bytes_do_not_spoil_a_file_of_utf8(tmp_path: Path) -> None:
    content = ("a;b\n" + "1;Köln\n" * 30).encode() + b"2;M\xfcnchen\n"
    table = read(written(tmp_path, content))
    assert texts(table)[0] == (1, "Köln")
    assert texts(table)[-1] == (2, "München")
    assert "some bytes are no UTF-8" in reading(table).notes[0]


def test_bytes_that_windows_leaves_undefined_stop_nothing(tmp_path: Path) -> None:
    assert read(written(tmp_path, b"a;b\n1;M\xfcller\x81\n2;J\xe4ger\n")).num_rows == 2


COMPRESSED = {
    "a.csv.gz": gzip.compress,
    "a.csv.bz2": bz2.compress,
    "a.csv.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "a.csv": gzip.compress,
}


@pytest.mark.parametrize("name", list(COMPRESSED))
def test_compressed_text_is_recognized_by_its_content(tmp_path: Path, name: str) -> None:
    content = COMPRESSED[name](b"a;b\n1;2\n")
    assert texts(read(written(tmp_path, content, name))) == [(1, 2)]


def test_lz4_is_read(tmp_path: Path) -> None:
    with pa.CompressedOutputStream(str(tmp_path / "a.csv.lz4"), "lz4") as stream:
        stream.write(b"a;b\n1;2\n")
    assert texts(read(tmp_path / "a.csv.lz4")) == [(1, 2)]


def archive(folder: Path, **files: str) -> Path:
    with zipfile.ZipFile(folder / "a.zip", "w") as made:
        for name, content in files.items():
            made.writestr(name.replace("_", "."), content)
    return folder / "a.zip"


def test_an_archive_with_one_table_is_this_table(tmp_path: Path) -> None:
    assert texts(read(archive(tmp_path, a_csv="x,y\n1,2\n", readme_md="hello"))) == [(1, 2)]


def test_of_an_archive_with_several_tables_one_is_chosen(tmp_path: Path) -> None:
    path = archive(tmp_path, a_csv="x,y\n1,2\n", b_csv="x,y\n3,4\n")
    with pytest.raises(InputError, match=r"several tables, and --sheet chooses one: a\.csv, b\.csv"):
        read(path)
    assert texts(read(path, sheet="b.csv")) == [(3, 4)]
    with pytest.raises(ParameterError, match="there is no table 'c'"):
        read(path, sheet="c")


@pytest.mark.parametrize(
    "content", [b"a;b\n1;2\n", gzip.compress(b"a;b\n1;2\n", mtime=0), b'{"a": 1, "b": 2}\n']
)
def test_what_is_piped_in_is_read(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert texts(read("-")) == [(1, 2)]


def test_nothing_piped_in_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(InputError, match="nothing was piped in"):
        read("-")


# ---------------------------------------------------------------- header and names


def test_a_file_without_a_header_is_read_with_all_its_rows(tmp_path: Path) -> None:
    table = read(written(tmp_path, "34,Ulm,1.5\n45,Bonn,2.5\n"))
    assert table.column_names == ("column 1", "column 2", "column 3")
    assert table.num_rows == 2
    assert "no header" in reading(table).notes[0]
    assert read(written(tmp_path, "34,Ulm\n45,Bonn\n"), header=True).column_names == ("34", "Ulm")
    assert read(written(tmp_path, "a,b\nx,y\n"), header="no").num_rows == 2


def test_columns_get_names_of_their_own(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a,,a,b\nx,y,z,w\n"))
    assert table.column_names == ("a", "column 2", "a 2", "b")
    assert len(reading(table).notes) == 2


@pytest.mark.parametrize("name", ["", "rownames", "Unnamed: 0", "index"])
def test_a_numbering_of_the_rows_is_called_so(tmp_path: Path, name: str) -> None:
    table = read(written(tmp_path, f"{name},age\n1,30\n2,31\n3,32\n"))
    assert table.column_names == ("row number", "age")
    assert read(written(tmp_path, f"{name or 'index'},age\n7,30\n2,31\n")).column_names[0] != "row number"


def test_two_header_lines_make_one_name(tmp_path: Path) -> None:
    lines = "Person,,Answers,,\nage,sex,good,bad,why\n34,f,yes,no,x\n45,m,no,yes,y\n"
    table = read(written(tmp_path, lines))
    assert table.column_names == (
        "Person: age",
        "Person: sex",
        "Answers: good",
        "Answers: bad",
        "Answers: why",
    )
    assert table.num_rows == 2


def test_titles_above_the_header_are_left_out(tmp_path: Path) -> None:
    table = read(written(tmp_path, "Report of May\n\nname;age;town\nAnn;34;Ulm\nBob;45;Bonn\nEve;50;Köln\n"))
    assert table.column_names == ("name", "age", "town")
    assert table.num_rows == 3
    assert "above the header" in reading(table).notes[0]


def test_empty_columns_at_the_end_are_dropped_unless_they_have_a_value(tmp_path: Path) -> None:
    assert read(written(tmp_path, "a;b;;\n1;2;;\n3;4;;\n")).column_names == ("a", "b")
    assert read(written(tmp_path, "a;b;;\n1;2;;\n3;4;x;\n")).column_names == ("a", "b", "column 3")


def test_bad_lines_are_skipped_only_if_asked_and_few(tmp_path: Path) -> None:
    path = written(tmp_path, "a;b\n" + "1;2\n" * 200 + f"{SECRET}\n" + "1;2\n" * 10)
    with pytest.raises(InputError, match="line 202: expected 2 fields, found 1"):
        read(path)
    table = read(path, bad_lines="skip")
    assert table.num_rows == 210
    assert reading(table).skipped_lines == (202,)
    with pytest.raises(InputError, match="more than 1%"):
        read(written(tmp_path, "a;b\n1;2\n3\n1;2\n"), bad_lines="skip")


# ---------------------------------------------------------------- spelling of columns

GERMAN = (
    "Name;Geburtsdatum;Größe;PLZ;Anteil;Raucher;Besuch\n"
    "Müller;31.12.1980;1,85;01067;12 %;ja;03/04/2020\n"
    "Jäger;01.02.1975;1,7;80331;3 %;nein;05/04/2020\n"
    "Schön;NA;k.A.;80331;k.A.;ja;\n"
)


def test_a_german_excel_file_is_understood(tmp_path: Path) -> None:
    table = read(written(tmp_path, GERMAN.replace("\n", "\r\n").encode("cp1252")))
    assert kinds(table) == ["text", "date", "number", "code", "number", "boolean", "date"]
    assert reading(table).summary == (
        "Windows-1252, semicolon, decimal comma, dates like 31.12.1980, dates like 31/12/1980"
    )
    assert table.data.column("Geburtsdatum").to_pylist() == ["31.12.1980", "01.02.1975", None]
    assert table.data.column("Größe").to_pylist() == ["1,85", "1,7", None]
    assert (reading(table).line_end, reading(table).columns["Größe"].mark) == ("\r\n", "k.A.")


def test_words_for_missing_values_are_missing_where_they_can_be_nothing_else(tmp_path: Path) -> None:
    table = read(written(tmp_path, "n,t,c\n1,NA,DE\n-,x,FR\n2,-,NA\n3,Null,AT\n4,None,IT\n"))
    assert table.data.column("n").to_pylist() == [1, None, 2, 3, 4]
    assert table.data.column("t").to_pylist() == [None, "x", "-", "Null", "None"]
    assert table.data.column("c").to_pylist() == ["DE", "FR", "NA", "AT", "IT"]  # Namibia


def test_quotes_around_a_word_say_that_it_is_text_unless_everything_is_quoted(tmp_path: Path) -> None:
    assert texts(read(written(tmp_path, 'a,b\nx,"NA"\ny,NA\n'))) == [("x", "NA"), ("y", None)]
    assert texts(read(written(tmp_path, '"a","b"\n"x","NA"\n"y","1"\n'))) == [("x", None), ("y", 1)]
    assert texts(read(written(tmp_path, '"a","b"\n"x",""\n"y","1"\n'))) == [("x", None), ("y", 1)]
    assert texts(read(written(tmp_path, 'a,b\nx,""\ny,z\n'))) == [("x", ""), ("y", "z")]


def test_the_rest_of_the_file_decides_what_is_open(tmp_path: Path) -> None:
    def decimal(text: str) -> str:
        number = reading(read(written(tmp_path, text))).columns["n"].number
        return "" if number is None else number.decimal

    assert decimal('n,x\n"1,449",a\n"2,553",b\n') == "."
    assert decimal("n;x\n1,449;0,5\n2,553;7,25\n") == ","
    assert decimal("n;x\n1,449;a\n2,553;b\n") == ","
    assert read(written(tmp_path, "n;x\n1.449;a\n2.553;b\n")).data.column("n").to_pylist() == [1.449, 2.553]
    assert decimal("n;x\n1.449;0,5\n2.553;7,25\n") == ","

    def order(text: str) -> str:
        date = reading(read(written(tmp_path, text))).columns["d"].date
        return "" if date is None else str(date.orders[0][1])

    assert order("d,x\n03/04/2020,a\n") == DateOrder.OPEN
    assert order("d,e\n03/04/2020,13/01/2020\n") == DateOrder.DAY_FIRST
    assert order("d;e\n03/04/2020;a\n") == DateOrder.DAY_FIRST


def test_a_choice_of_columns_does_not_change_how_the_file_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, "d,e\n03/04/2020,13/01/2020\n")
    assert reading(read(path, columns=["d"])).columns["d"] == reading(read(path)).columns["d"]
    assert read(path, columns=["d"]).column_names == ("d",)


def test_one_value_in_two_spellings_is_one_value(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a;b;c\n7,0;1.1.1980;Yes\n7,0;01.01.1980;yes\n7;01.01.1980;no\n"))
    assert texts(table) == [
        ("7,0", "01.01.1980", "Yes"),
        ("7,0", "01.01.1980", "Yes"),
        ("7,0", "01.01.1980", "no"),
    ]


def test_one_odd_cell_in_a_hundred_spoils_no_column(tmp_path: Path) -> None:
    path = written(tmp_path, "n\n" + "".join(f"{n},5\n" for n in range(199)) + "about 3\n")
    table = read(path, delimiter=";")
    assert kinds(table) == ["number"]
    assert any("0.50% of the cells" in note for note in reading(table).notes)
    path = written(tmp_path, "n\n" + "1,5\n" * 20 + f"{SECRET}\n")
    assert kinds(read(path, delimiter=";")) == ["text"]


def test_every_guess_can_be_corrected(tmp_path: Path) -> None:
    path = written(tmp_path, "d,n,z\n03/04/2020,1.449,123\n05/06/2020,2.553,456\n")
    table = read(path, dates="mdy", decimal=",", missing="123", types={"z": "text"})
    assert reading(table).columns["d"].date.orders == (("a/b/Y", DateOrder.MONTH_FIRST),)
    assert reading(table).columns["n"].number.decimal == ","
    assert table.data.column("z").to_pylist() == [None, "456"]
    stated = read(written(tmp_path, "d\n1980/31/12\n"), types={"d": "date:%Y/%d/%m"})
    assert str(reading(stated).columns["d"].moment_of("1980/31/12").time.date()) == "1980-12-31"


@pytest.mark.parametrize(
    "wrong",
    [
        {"header": "maybe"},
        {"decimal": ";"},
        {"dates": "ymd"},
        {"bad_lines": "keep"},
        {"types": {"a": "float"}},
    ],
)
def test_a_correction_that_says_nothing_is_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        read(written(tmp_path, "a,b\n1,2\n"), **wrong)


def test_a_reading_is_data(tmp_path: Path) -> None:
    made = reading(read(written(tmp_path, GERMAN.encode("cp1252"))))
    again = Reading.from_dict(json.loads(json.dumps(made.to_dict())))
    assert again == made
    assert SECRET not in json.dumps(made.to_dict())


@pytest.mark.parametrize(
    "text", [f"x,\nd,e\n{SECRET},1\n", GERMAN.replace("Müller", SECRET), f"a;b\n1;{SECRET}\n"]
)
def test_notes_quote_no_cell(tmp_path: Path, text: str) -> None:
    assert SECRET not in str(reading(read(written(tmp_path, text.encode("cp1252")))).to_dict())


# ---------------------------------------------------------------- other formats


def test_other_formats_get_kinds_and_keep_their_cells(tmp_path: Path) -> None:
    path = written(tmp_path, '{"d": "31.12.1980", "n": "NA"}\n{"d": "01.02.1975", "n": "1,5"}\n', "a.jsonl")
    table = read(path)
    assert reading(table).columns["d"].kind is SpellingKind.DATE
    assert table.data.column("n").to_pylist() == ["NA", "1,5"]


# ---------------------------------------------------------------- nothing but errors of ours

odd = st.text(alphabet="ab1,;\t|\"'\r\n.- \x00é€:/NA", max_size=60).map(lambda text: text.encode("cp1252"))


@given(odd | st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_with_an_error_of_ours(content: bytes) -> None:
    source = io.TextIOWrapper(io.BytesIO(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", source)
        try:
            table = read("-")
        except TarnkappeError:
            return
    assert table.num_rows
    assert set(reading(table).columns) == set(table.column_names)


@given(st.lists(st.tuples(*[st.text(alphabet="ab1.,-/ 0%$KM'\"é", max_size=8)] * 2), min_size=1, max_size=12))
def test_what_a_standard_writer_writes_is_read_with_all_its_rows(rows: list[tuple[str, str]]) -> None:
    made = io.StringIO(newline="")
    csv.writer(made).writerows([("one", "two"), *rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(made.getvalue().encode())))
        table = read("-", delimiter=",", quote='"', header=True)
    assert table.num_rows == len(rows)


TITLED = (
    "Befragung 2024;;;\r\nStand: 12.03.2024;;;\r\n;;;\r\nNr.;Abteilung;Eintritt;Gehalt\r\n"
    "1;Einkauf;28.09.2019;4.823,65 €\r\n2;Vertrieb;04.08.2014;8.987,57 €\r\n3;IT;01.02.2003;3.100,00 €\r\n"
)


def test_titles_that_a_spreadsheet_has_padded_are_no_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TITLED.encode("cp1252"))
    table = read(tmp_path / "t.csv")
    assert table.column_names == ("Nr.", "Abteilung", "Eintritt", "Gehalt")
    assert table.num_rows == 3
    assert "left out above the header: 3 lines" in table.reading.notes
    assert read(tmp_path / "t.csv", header=False).num_rows == 7


def test_a_row_of_words_is_never_taken_for_names_below_a_title(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("person;;\nAnna;Ulm;Gicht\nBernd;Bonn;Asthma\nClara;Jena;Migraine\n")
    assert "Anna" not in read(tmp_path / "t.csv").column_names


def test_titles_above_the_header_of_a_workbook_are_left_out(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["Sommerlager"],
        [],
        ["Name", "geb.", "PLZ"],
        *([f"N{n}", dt.date(2010, 1, n), 50667] for n in (1, 2, 3)),
    ):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read(tmp_path / "t.xlsx")
    assert table.column_names == ("Name", "geb.", "PLZ")
    assert table.data.column("geb.").to_pylist()[0] == dt.date(2010, 1, 1)
    assert table.reading.notes == ("left out above the header: 1 line",)
