"""The language of a dialogue: that of the environment, if it is one of ours, else English.

Sentences are written in English where they belong; the patterns that the web application has for them, too,
say them in another language. What has no pattern is shown as it is.
"""

from __future__ import annotations

import re

from tarnkappe.texts import language
from tarnkappe.web.reasons import in_words

ASIDE = re.compile(r"\(((?:[^()]|\([^()]*\))+)\)")
"""What stands in parentheses, the parameters of a model among it."""


def told(text: str) -> str:
    """A text of one or more lines, each in the language of the environment."""
    spoken = language()
    return text if spoken == "en" else "\n".join(_line(spoken, line) for line in text.split("\n"))


def _line(spoken: str, line: str) -> str:
    bare = line.strip()
    said = in_words(spoken, bare)
    if said == bare:
        return line
    said = ASIDE.sub(lambda found: f"({in_words(spoken, found.group(1))})", said)
    return line[: len(line) - len(line.lstrip())] + said
