"""A small XML tree whose elements know their line, read without document types.

Entities that a document declares itself could grow without bounds or name files, so a document type is
refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from tarnkappe.errors import QueryError, Reason


@dataclass
class Element:
    """An element with its attributes, its elements and its text (what stands between elements is joined)."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def error(self, code: str, template: str, /, **values: object) -> QueryError:
        """An error about this element."""
        return self.error_because(Reason(code, template, **values))

    def error_because(self, message: Reason) -> QueryError:
        """The same for a reason that is known already."""
        return QueryError(
            "algebra.line-tag-message",
            "Line {line}, <{tag}>: {message}.",
            line=self.line,
            tag=self.tag,
            message=message,
        )

    def only_attributes(self, *names: str) -> None:
        """Refuse other attributes."""
        for name in self.attributes:
            if name not in names:
                raise self.error(
                    "algebra.attribute-not-known", "the attribute '{name}' is not known", name=name
                )

    def attribute(self, name: str) -> str:
        """An attribute that must be there."""
        if name not in self.attributes:
            raise self.error("algebra.attribute-missing", "the attribute '{name}' is missing", name=name)
        return self.attributes[name]

    def only_children(self, *tags: str) -> None:
        """Refuse other elements, and text beside elements."""
        if self.text.strip():
            raise self.error("algebra.text-where-only-elements", "there is text where only elements belong")
        for child in self.children:
            if child.tag not in tags:
                raise child.error("algebra.not-belong", "this does not belong into <{tag}>", tag=self.tag)

    def child(self, tag: str) -> Element:
        """The one element with a tag."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) != 1:
            raise self.error(
                "algebra.tag-found-needs", "it needs one <{tag}>, and has {found}", tag=tag, found=len(found)
            )
        return found[0]

    def leaf(self) -> str:
        """The text of an element that holds nothing else."""
        self.only_attributes()
        if self.children:
            raise self.error("algebra.elements-where-only-text", "there are elements where only text belongs")
        return self.text

    def texts(self, tag: str) -> tuple[str, ...]:
        """The texts of the elements of a list."""
        self.only_attributes()
        self.only_children(tag)
        return tuple(child.leaf() for child in self.children)


def parse_xml(text: str, most: int | None = None) -> Element:
    """The root element of a document.

    Args:
        text: the document.
        most: elements that it may have; a stranger's could take all memory.
    """
    builder = _Builder(most)
    try:
        builder.parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise QueryError(
            "algebra.line-column-not-xml",
            "Line {lineno}, column {offset}: not XML ({message}).",
            lineno=error.lineno,
            offset=error.offset + 1,
            message=message,
        ) from None
    return builder.document.children[0]


class _Builder:
    def __init__(self, most: int | None) -> None:
        self.document = Element("", {}, 0)
        self._most, self._elements = most, 0
        self._open = [self.document]
        self.parser = expat.ParserCreate("utf-8")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_document_type

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1 + len(attributes)
        if self._most is not None and self._elements > self._most:
            raise QueryError(
                "algebra.xml-more-elements",
                "Line {line}: a document of more than {most:,} elements and attributes is not read.",
                line=self.parser.CurrentLineNumber,
                most=self._most,
            )
        element = Element(tag, attributes, self.parser.CurrentLineNumber)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        self._open[-1].text += text

    def _refuse_document_type(self, *_: object) -> None:
        raise QueryError(
            "algebra.line-document-type-not-allowed",
            "Line {currentlinenumber}: a document type is not allowed in a plan.",
            currentlinenumber=self.parser.CurrentLineNumber,
        )


def inline(tag: str, texts: Iterable[str]) -> str:
    """Elements with texts, one beside the other."""
    return "".join(f"<{tag}>{escaped(text)}</{tag}>" for text in texts)


def escaped(text: str) -> str:
    """A text that any reader of XML gives back unchanged, in an element or between double quotes."""
    special = {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "\n": "&#10;",
        "\r": "&#13;",
        "\t": "&#9;",
    }
    if any(not _is_xml(character) for character in text):
        raise QueryError(
            "algebra.name-text-control-characters",
            "A name or text with control characters cannot be written as XML; use JSON.",
        )
    return "".join(special.get(character, character) for character in text)


def _is_xml(character: str) -> bool:
    code = ord(character)
    return character in "\t\n\r" or (0x20 <= code <= 0xFFFD and not 0xD800 <= code <= 0xDFFF) or code > 0xFFFF
