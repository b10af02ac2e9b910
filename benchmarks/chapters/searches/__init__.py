"""Local search: the same optimum, in how many tests and how much time?"""

from benchmarks.chapter import Chapter
from benchmarks.chapters.searches import (
    eleven_criteria,
    k_anonymity,
    practical,
    six_cases,
)

CHAPTER = Chapter(
    "searches",
    "Local search",
    "One table, a lattice of generalizations, the least loss. All searches share one framework: the same "
    "kernels, roll-ups and history; they differ in which node they test next. Tests are compared exactly, times "
    "in one run.",
    (
        k_anonymity.EXPERIMENT,
        six_cases.EXPERIMENT,
        eleven_criteria.EXPERIMENT,
        practical.EXPERIMENT,
    ),
)
