"""Compilation of the numerical kernels: one source, compiled twice.

A kernel is a function of arrays and numbers. Where a prebuilt library is at hand (`build.py` makes it for a
wheel, or by `make kernels` in a clone), its machine code runs and Numba is never loaded, which alone takes
longer than most searches. Otherwise Numba compiles the kernel on first use and caches it on disk. Either way
it runs without the interpreter lock, so that threads use all cores, and the results are equal bit by bit.

`TARN_NATIVE` says which of them is meant: `prebuilt` (the default; what is not prebuilt is compiled), `jit`,
or `python`, which runs the functions as they are written.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tarnkappe.process.libraries import load_numba

if TYPE_CHECKING:
    from tarnkappe.native.library import PrebuiltFunction

Kernel = TypeVar("Kernel", bound=Callable[..., object])

VARIABLE = "TARN_NATIVE"
RECORD = "TARN_NATIVE_RECORD"
"""Names a file to which every kernel adds the types that it is called with (see `signatures.txt`)."""


class CompiledFunction:
    """A kernel: callable like the function that it was made of, and known to Numba when others call it.

    Attributes:
        function: the function as it is written.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._entries: list[PrebuiltFunction] | None = None
        self._recorded: set[str] = set()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the machine code that fits the arguments."""
        if self._entries is None:
            self._entries = self._find()
        if not named:
            for entry in self._entries:
                fits, result = entry.call(arguments)
                if fits:
                    return result
        return self._elsewhere(*arguments, **named)

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.function.__qualname__}>"

    def __reduce__(self) -> str:
        return self.function.__qualname__

    def _find(self) -> list[PrebuiltFunction]:
        if os.environ.get(VARIABLE, "prebuilt") != "prebuilt" or RECORD in os.environ:
            return []
        from tarnkappe.native.library import entries_of

        return entries_of(self.function)

    def _elsewhere(self, *arguments: Any, **named: Any) -> Any:
        if os.environ.get(VARIABLE) == "python":
            import numpy as np

            with np.errstate(over="ignore"):  # words wrap around, as they do in machine code
                return self.function(*arguments, **named)
        if RECORD in os.environ and not named:
            from tarnkappe.native.signatures import record

            record(self.function, arguments, self._recorded)
        return self.dispatcher(*arguments, **named)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What Numba makes of the function."""
        numba = load_numba()
        _tell_of_compilations()
        try:
            return numba.njit(cache=True, nogil=True)(self.function)
        except RuntimeError:  # there is no folder that a cache could be written to
            return numba.njit(nogil=True)(self.function)

    @property
    def _numba_type_(self) -> Any:
        """Numba asks for it when a kernel calls another one."""
        return self.dispatcher._numba_type_

    @property
    def is_prebuilt(self) -> bool:
        """Whether the library has machine code of the function, made of the source that is here."""
        if self._entries is None:
            self._entries = self._find()
        return bool(self._entries)


def compiled(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers to machine code (cached, without the interpreter lock)."""
    return cast(Kernel, CompiledFunction(function))


def is_ready(kernel: Callable[..., object]) -> bool:
    """Whether a kernel runs at once: prebuilt, compiled here, or left in the cache by an earlier run."""
    assert isinstance(kernel, CompiledFunction)
    if kernel.is_prebuilt or os.environ.get(VARIABLE) == "python":
        return True
    dispatcher = kernel.dispatcher
    if dispatcher.signatures:
        return True
    try:  # Numba says nothing of its cache in public; whatever it is like, asking does no harm
        return bool(dispatcher._cache._cache_file._load_index())
    except Exception:
        return False


_listeners: list[Callable[[], None]] = []
"""Who is to be told of the next compilation, and is told only once."""


@functools.cache
def _tell_of_compilations() -> None:
    from numba.core import event

    class Compilations(event.Listener):
        def on_start(self, _: Any) -> None:
            while _listeners:
                _listeners.pop()()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]


@contextmanager
def on_first_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call a function once, when a kernel has to be compiled because no earlier run left it in the cache."""
    _listeners.append(tell)
    try:
        yield
    finally:
        if tell in _listeners:
            _listeners.remove(tell)


def is_interruption(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, which where it is pressed may cause others: in a kernel, or in a lock.

    A kernel ends with a SystemError, and a lock that was not taken yet with a RuntimeError as it is released.
    """
    found: BaseException | None = error
    while isinstance(found, SystemError | RuntimeError):
        found = found.__cause__ or found.__context__
    return isinstance(found, KeyboardInterrupt)
