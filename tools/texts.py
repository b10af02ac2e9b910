"""Collects the sentences of errors, reasons and rules into the catalogue of `tarnkappe.texts`.

`make texts` writes it: a new sentence has an empty translation, one whose English has changed is fuzzy.
`--check` says what is amiss and writes nothing; `--merge FILE ...` takes translations over from other files.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from tarnkappe.texts.catalogue import PLACES, read_po  # noqa: E402

CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")
MAKERS = {"Reason", "rule", "require", "refuse", "refused", "error"}
"""What makes a sentence beside the classes of errors: a code, and then the English of it."""
HEAD = """\
# The German of every sentence that an error, a reason or a rule can say: `make texts` collects them.
# The context is the code of the sentence; what stands in braces is filled in and must stay.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Language: de\\n"
"""


@dataclass(frozen=True)
class Said:
    """A call that makes a sentence.

    Attributes:
        path: the module.
        line: where.
        code: its code; empty if the call has none.
        template: its English; None if it is not a literal.
    """

    path: str
    line: int
    code: str
    template: str | None


@dataclass
class Entry:
    """A sentence of a catalogue."""

    code: str
    english: str
    translation: str = ""
    is_fuzzy: bool = False
    modules: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        marks = ["#: " + " ".join(sorted(set(self.modules)))] if self.modules else []
        marks += ["#, fuzzy"] if self.is_fuzzy else []
        texts = {"msgctxt": self.code, "msgid": self.english, "msgstr": self.translation}
        return "\n".join(marks + [f'{key} "{_escaped(text)}"' for key, text in texts.items()])


def trees(root: Path = ROOT) -> dict[str, ast.Module]:
    """The modules of the package by their paths."""
    package = root / "src" / "tarnkappe"
    return {
        str(path.relative_to(package)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(package.rglob("*.py"))
    }


def error_classes(modules: Iterable[ast.Module]) -> set[str]:
    """The names of all classes of errors."""
    bases = {
        node.name: {_name(base) for base in node.bases}
        for tree in modules
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"TarnkappeError"}
    while more := {name for name, above in bases.items() if name not in found and above & found}:
        found |= more
    return found


def sayings(modules: Mapping[str, ast.Module]) -> Iterator[Said]:
    """Every call that makes a sentence, and the sentences of tables called TEMPLATES."""
    errors = error_classes(modules.values())
    for path, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in errors | MAKERS:
                yield from _said(path, node, _name(node.func) in errors)
            elif isinstance(node, ast.Assign) and _name(node.targets[0]) == "TEMPLATES":
                assert isinstance(node.value, ast.Dict)
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    yield Said(path, node.lineno, str(_text(key)), _text(value))


def _said(path: str, call: ast.Call, is_error: bool) -> Iterator[Said]:
    texts = [_text(each) for each in call.args]
    for index, text in enumerate(texts):
        if text is not None and CODE.fullmatch(text):
            yield Said(path, call.lineno, text, texts[index + 1] if index + 1 < len(texts) else None)
            return
    passed_on = any(keyword.arg is None for keyword in call.keywords)
    if is_error and not passed_on:
        yield Said(path, call.lineno, "", None)


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def collected(said: Iterable[Said]) -> dict[str, Entry]:
    """The sentences by code.

    Raises:
        SystemExit: two sentences share a code, or one is not a literal.
    """
    found: dict[str, Entry] = {}
    for each in said:
        if each.template is None:
            raise SystemExit(f"{each.path}:{each.line}: a code and a literal sentence are needed")
        entry = found.setdefault(each.code, Entry(each.code, each.template))
        if entry.english != each.template:
            raise SystemExit(
                f"{each.path}:{each.line}: '{each.code}' has another sentence in {entry.modules}"
            )
        entry.modules.append(each.path)
    return dict(sorted(found.items()))


def merged(found: Mapping[str, Entry], *catalogues: str) -> dict[str, Entry]:
    """The sentences with the translations of catalogues, the last of which counts."""
    for text in catalogues:
        for each in read_po(text):
            if each.code not in found or not each.translation:
                continue
            entry = found[each.code]
            entry.translation = each.translation
            entry.is_fuzzy = each.is_fuzzy or each.english != entry.english
    for entry in found.values():
        if not entry.translation and not re.search(r"[^\W\d_]{2}", PLACES.sub("", entry.english)):
            entry.translation = entry.english  # nothing to translate in it
    return dict(found)


def amiss(found: Mapping[str, Entry]) -> list[str]:
    """What is wrong with translations."""
    wrong = []
    for entry in found.values():
        if not entry.translation:
            wrong.append(f"{entry.code}: not translated")
        elif entry.is_fuzzy:
            wrong.append(f"{entry.code}: the English has changed")
        elif _places(entry.english) != _places(entry.translation) or not _chosen_by_known(entry.translation):
            wrong.append(f"{entry.code}: other places than the English has")
    return wrong


def _places(template: str) -> set[str]:
    """Where values are filled in; which words follow from a number is up to the language."""
    return {each for each in PLACES.findall(template) if "|" not in each}


def _chosen_by_known(template: str) -> bool:
    """Whether words are chosen only by values that are filled in, too."""
    known = {re.split("[:!]", each[1:-1])[0] for each in _places(template)}
    return all(each[1:].partition(":")[0] in known for each in PLACES.findall(template) if "|" in each)


def written(found: Mapping[str, Entry]) -> str:
    """The catalogue."""
    return "\n\n".join([HEAD.rstrip("\n"), *map(str, found.values())]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


def main() -> None:
    """Write the catalogue, or say what is amiss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--merge", nargs="*", type=Path, default=[], help="catalogues with translations")
    asked = parser.parse_args()
    place = ROOT / "src" / "tarnkappe" / "texts" / "de.po"
    before = place.read_text(encoding="utf-8") if place.exists() else ""
    others = [path.read_text(encoding="utf-8") for path in asked.merge]
    found = merged(collected(sayings(trees())), before, *others)
    wrong = amiss(found)
    if asked.check:
        wrong += [] if written(found) == before else ["de.po is not what `make texts` writes"]
        print("\n".join(wrong))
        raise SystemExit(bool(wrong))
    place.write_text(written(found), encoding="utf-8")
    print(f"{len(found)} sentences, {len(wrong)} to be looked at")


if __name__ == "__main__":
    main()
