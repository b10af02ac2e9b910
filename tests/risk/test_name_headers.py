"""Headers that say "given name" or "full name" in some language: the names may be few and on no list."""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pytest

from tarnkappe.risk.identifiers import propose_roles
from tarnkappe.risk.identifiers.words import words_of
from tarnkappe.table import Role, Table

HEADERS = (
    *("First name", "Surname", "Maiden name", "Vorname", "Familienname", "Mädchenname", "Zuname"),
    *("Prénom", "Nom de jeune fille", "Nom d'usage", "Nom et prénom", "Apellidos", "Nombre completo"),
    *("Sobrenome", "Nome completo", "Cognome", "Nome e cognome", "Cognoms", "Abizenak", "Apelidos"),
    *("Voornaam", "Achternaam", "Meisjesnaam", "Roepnaam", "Virnumm"),
    *("Fornavn", "Mellemnavn", "Pigenavn", "Etternavn", "Förnamn", "Efternamn", "Flicknamn", "Eiginnafn"),
    *("Etunimi", "Sukunimi", "Koko nimi", "Tyttönimi", "Eesnimi", "Perekonnanimi", "Vārds", "Uzvārds"),
    *("Vardas", "Pavardė", "Imię", "Imiona", "Nazwisko", "Jméno", "Příjmení", "Meno", "Priezvisko"),
    *("Keresztnév", "Vezetéknév", "Családnév", "Utónév", "Leánykori név", "Prenume", "Nume de familie"),
    *("Ime", "Prezime", "Priimek", "Име", "Презиме", "Фамилия", "Mbiemri", "Emri i babait", "Kunjom"),
    *("Sloinne", "Cyfenw", "Όνομα", "Επώνυμο", "Ονοματεπώνυμο", "Πατρώνυμο"),
    *("Soyadı", "Adı Soyadı", "Ad Soyad", "Adý Soyadý", "SOYADÝ", "Kızlık soyadı"),
    *("Имя", "Отчество", "ФИО", "Ім'я", "Ім’я", "Прізвище", "По батькові", "Прозвішча", "გვარი", "Ազգանուն"),
    *("שם פרטי", "שם משפחה", "الاسم", "الاسم الأول", "اسم العائلة", "نام خانوادگی"),
    *("नाम", "पूरा नाम", "উপনাম নাম", "ชื่อ", "นามสกุล", "Họ tên", "Họ và tên", "Nama lengkap"),
    *("姓名", "氏名", "お名前", "名字", "姓氏", "이름", "성명", "성함"),
)
NAMES = ["Eva", "László", "Bożena", "Elena", "Wöll"]


def role(header: str) -> Role:
    [column] = propose_roles(Table(pa.table({header: NAMES * 30})))
    return column.role


@pytest.mark.parametrize("header", HEADERS)
def test_a_few_names_are_withheld(header: str) -> None:
    assert role(header) is Role.IDENTIFIER
    assert role(header.upper()) is Role.IDENTIFIER
    assert role(header.replace(" ", "_")) is Role.IDENTIFIER


@pytest.mark.parametrize("header", [each for each in HEADERS if each[0].isascii() and not each.isascii()])
def test_a_few_names_are_withheld_without_accents(header: str) -> None:
    plain = header.replace("ı", "i").replace("ø", "o").replace("ł", "l")
    bare = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    if "ý" in header.casefold() or "ö" in header.casefold() or "ä" in header:
        return  # umlauts are written out, and the other code page has no bare form
    assert role(bare) is Role.IDENTIFIER


def test_turkish_of_another_code_page_changes_no_other_word() -> None:
    """Windows-1254 read as Windows-1252: ý for ı, þ for ş, ð for ğ."""
    for turkish in ("Adı Soyadı", "SOYADI", "Maaş", "Yaş", "Şehir"):
        read = turkish.encode("cp1254").decode("cp1252")
        assert words_of(read) == words_of(turkish)
    assert words_of("Rodinný stav") == ["rodinny", "stav"]
    assert words_of("Þjóðerni") == ["thjoderni"]


def test_vowel_signs_end_no_word() -> None:
    assert words_of("मोबाइल नंबर")[0] == "मोबाइल"
    assert len(words_of("ชื่อ นามสกุล")) == 2
