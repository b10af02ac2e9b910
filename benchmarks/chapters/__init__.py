"""The chapters of the book in their order: a new one is one file and one line here."""

from benchmarks.chapter import Chapter
from benchmarks.chapters import (
    algebra,
    effort,
    exchange,
    federation,
    first_hour,
    gate,
    peers,
    recoding,
    risk,
    scale,
    searches,
    service,
    suppression,
    usefulness,
)

CHAPTERS: tuple[Chapter, ...] = (
    searches.CHAPTER,
    effort.CHAPTER,
    suppression.CHAPTER,
    scale.CHAPTER,
    recoding.CHAPTER,
    usefulness.CHAPTER,
    federation.CHAPTER,
    algebra.CHAPTER,
    gate.CHAPTER,
    risk.CHAPTER,
    exchange.CHAPTER,
    first_hour.CHAPTER,
    service.CHAPTER,
    peers.CHAPTER,
)
