"""A search whose tests are made elsewhere: it names a node, waits for the answer and names the next."""

from __future__ import annotations

from queue import Queue
from threading import Thread

from tarnkappe.errors import ParameterError
from tarnkappe.lattice import AutoSearch, Evaluation, FlashTwoPhase, Node, Search, SearchProblem
from tarnkappe.lattice.checker import NodeCheck
from tarnkappe.lattice.solution import Counters
from tarnkappe.privacy import Model

ASKING = ("flash", "flash-2p", "flash-dfs", "ola", "samarati", "bfs", "dfs")
"""The searches that learn all they know from answers; others look at classes or bounds themselves."""


def asking_search(search: Search) -> Search:
    """The search that is run; where none was chosen, one that needs few answers."""
    if isinstance(search, AutoSearch):
        return FlashTwoPhase()
    if search.name not in ASKING:
        raise ParameterError(
            "federation.search-looks-classes-helper",
            "the search '{search}' looks at classes that a helper may not see: in a masked run use {asking}",
            search=search.name,
            asking=", ".join(ASKING),
        )
    return search


class _Closed(Exception):  # noqa: N818 - it is no error
    """The run is over before the search is."""


class RemoteSearch:
    """A search that stands still until its question is answered.

    The searches are ordinary functions, so theirs runs in a thread; only one of the two is ever awake.
    """

    def __init__(self, problem: SearchProblem, search: Search) -> None:
        self._problem = problem
        self._search = asking_search(search)
        self._questions: Queue[Node | Exception | None] = Queue()
        self._answers: Queue[bool | None] = Queue()
        self._thread = Thread(target=self._run, daemon=True)

    def start(self) -> Node | None:
        """The first node to test."""
        self._thread.start()
        return self._next()

    def answer(self, satisfied: bool) -> Node | None:
        """Tell whether the last node satisfies; returns the next one, or None at the end."""
        self._answers.put(satisfied)
        return self._next()

    def close(self) -> None:
        """End the search, whatever it waits for."""
        self._answers.put(None)

    def ask(self, node: Node) -> bool:
        """Called by the search: wait for an answer."""
        self._questions.put(node)
        answer = self._answers.get()
        if answer is None:
            raise _Closed
        return answer

    def _next(self) -> Node | None:
        question = self._questions.get()
        if isinstance(question, Exception):
            raise question
        return question

    def _run(self) -> None:
        try:
            search = self._search
            attempt = search.state(self._problem, implied_criteria=False, effort=search.effort)
            attempt.checker = _Asking(self)  # type: ignore[assignment]
            search.search(attempt)  # type: ignore[arg-type]
            self._questions.put(None)
        except _Closed:
            pass
        except Exception as error:
            self._questions.put(error)


class _Asking:
    """Stands in for the checker of a search: every node that satisfies is as good as any other.

    Which of them loses least is decided by who knows the counts, when all are known.
    """

    def __init__(self, remote: RemoteSearch) -> None:
        self._remote = remote
        self.implied: tuple[Model, ...] = ()
        self.keeps_satisfying = True
        self.counters = Counters()

    def check(self, node: Node) -> NodeCheck:
        """Ask."""
        good = self._remote.ask(node)
        return NodeCheck(Evaluation(node, good, 0.0 if good else float("inf"), 0, 0), good, None)
