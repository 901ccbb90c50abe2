"""Phase markers: what a program calls while it runs. Only the standard library, and Python 3.6 or newer.

Where the program is not recorded all of it does nothing, at the cost of a call.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import ctypes
import functools
from typing import Any, Callable, Iterable, Iterator, Optional, TypeVar, Union

__all__ = [
    "USEFUL", "CONTROL", "SERIAL", "recorded",
    "phase", "iteration", "iterations", "phased", "phase_begin", "phase_end", "iteration_begin", "iteration_end",
    "work", "count", "param", "record",
]

Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])

#: What a phase's time is: useful work (the default), control of parallelism, work that only one rank can do.
USEFUL, CONTROL, SERIAL = 0, 1, 2

# PYFUNCTYPE keeps the interpreter's lock: a marker takes less time than giving it back.
_NAME = ctypes.PYFUNCTYPE(None, ctypes.c_char_p)
_NAME_KIND = ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int)
_NAME_VALUE = ctypes.PYFUNCTYPE(None, ctypes.c_char_p, ctypes.c_double)
_AMOUNTS = ctypes.PYFUNCTYPE(None, ctypes.c_double, ctypes.c_double)
_SWITCH = ctypes.PYFUNCTYPE(None, ctypes.c_int)


class _Functions(ctypes.Structure):
    """struct lbprof_api of lbprof.h."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("phase_begin", _NAME_KIND),
        ("phase_end", _NAME),
        ("iteration_begin", _NAME),
        ("iteration_end", _NAME),
        ("work", _AMOUNTS),
        ("count", _NAME_VALUE),
        ("param", _NAME_VALUE),
        ("record", _SWITCH),
    ]


def _find() -> Any:
    """The recorder's functions, or None where it is not in the process."""
    try:
        entry = ctypes.PyDLL(None).lbprof_api
    except (OSError, AttributeError):
        return None
    entry.argtypes = [ctypes.c_int]
    entry.restype = ctypes.POINTER(_Functions)
    found = entry(1)
    return found.contents if found else None


_functions = _find()


def recorded() -> bool:
    """Whether the program runs under the recorder."""
    return _functions is not None


def _bytes(name: object) -> bytes:
    # A C string ends at its first zero.
    return str(name).split("\0", 1)[0].encode("utf-8", "replace")


class _Nothing:
    """A scope without markers."""

    __slots__ = ()

    def __enter__(self) -> "_Nothing":
        return self

    def __exit__(self, *_: object) -> None:
        pass


_NOTHING = _Nothing()


class _Scope:
    """A scope whose end is marked by ``_end``."""

    __slots__ = ("_name", "_kind")
    _end: Any

    def __init__(self, name: object, kind: int) -> None:
        self._name, self._kind = _bytes(name), kind

    def __exit__(self, *_: object) -> None:
        self._end(self._name)


if _functions is None:

    def phase_begin(name: object, kind: int = USEFUL) -> None:
        """A phase begins; prefer ``with phase(name):``, which ends it on exceptions too."""

    def phase_end(name: object) -> None:
        """The innermost phase of this name ends; phases still open inside it end with it."""

    def iteration_begin(name: object) -> None:
        """The next invocation of an iterated phase begins; prefer ``with iteration(name):``."""

    def iteration_end(name: object) -> None:
        """It ends."""

    def phase(name: object, kind: int = USEFUL) -> Any:
        """``with phase("force"):`` marks a phase; ``kind`` is USEFUL, CONTROL or SERIAL."""
        return _NOTHING

    def iteration(name: object) -> Any:
        """``with iteration("step"):`` marks one iteration of an iterated phase."""
        return _NOTHING

    def work(operations: float = 0.0, quanta: float = 0.0) -> None:
        """Work done in the innermost open phase: operations, and the quanta of data that they worked on."""

    def count(name: object, value: float) -> None:
        """A value of a counter in the innermost open phase."""

    def param(name: object, value: float) -> None:
        """A parameter of the run, such as the size of the problem."""

    def record(on: bool) -> None:
        """Recording of this thread stops (False) or goes on (True)."""

else:
    # Bound once: looking a field of a structure up makes a new function object each time.
    _phase_begin, _phase_end = _functions.phase_begin, _functions.phase_end
    _iteration_begin, _iteration_end = _functions.iteration_begin, _functions.iteration_end
    _work, _count, _param, _record = _functions.work, _functions.count, _functions.param, _functions.record

    class _Phase(_Scope):
        __slots__ = ()
        _end = _phase_end

        def __enter__(self) -> "_Phase":
            _phase_begin(self._name, self._kind)
            return self

    class _Iteration(_Scope):
        __slots__ = ()
        _end = _iteration_end

        def __enter__(self) -> "_Iteration":
            _iteration_begin(self._name)
            return self

    def phase_begin(name: object, kind: int = USEFUL) -> None:
        """A phase begins; prefer ``with phase(name):``, which ends it on exceptions too."""
        _phase_begin(_bytes(name), kind)

    def phase_end(name: object) -> None:
        """The innermost phase of this name ends; phases still open inside it end with it."""
        _phase_end(_bytes(name))

    def iteration_begin(name: object) -> None:
        """The next invocation of an iterated phase begins; prefer ``with iteration(name):``."""
        _iteration_begin(_bytes(name))

    def iteration_end(name: object) -> None:
        """It ends."""
        _iteration_end(_bytes(name))

    def phase(name: object, kind: int = USEFUL) -> Any:
        """``with phase("force"):`` marks a phase; ``kind`` is USEFUL, CONTROL or SERIAL."""
        return _Phase(name, kind)

    def iteration(name: object) -> Any:
        """``with iteration("step"):`` marks one iteration of an iterated phase."""
        return _Iteration(name, USEFUL)

    def work(operations: float = 0.0, quanta: float = 0.0) -> None:
        """Work done in the innermost open phase: operations, and the quanta of data that they worked on."""
        _work(operations, quanta)

    def count(name: object, value: float) -> None:
        """A value of a counter in the innermost open phase."""
        _count(_bytes(name), value)

    def param(name: object, value: float) -> None:
        """A parameter of the run, such as the size of the problem."""
        _param(_bytes(name), value)

    def record(on: bool) -> None:
        """Recording of this thread stops (False) or goes on (True)."""
        _record(1 if on else 0)


def iterations(items: Iterable[Item], name: object) -> Iterator[Item]:
    """``for step in iterations(range(n), "step"):`` marks each turn of the loop as an iteration.

    A loop that is left by ``break`` or ``return`` ends its iteration there; one left by an exception when the exception is
    forgotten: use ``with iteration(name):`` where that matters.
    """
    if _functions is None:
        return iter(items)
    return _iterations(items, name)


def _iterations(items: Iterable[Item], name: object) -> Iterator[Item]:
    for item in items:
        with iteration(name):
            yield item


def phased(function: Union[Callable[..., Any], str, None] = None, kind: int = USEFUL) -> Any:
    """Decorator: each call of the function is a phase, named after it or as given: ``@phased``, ``@phased("name")``."""
    if function is None or isinstance(function, str):
        name: Optional[str] = function
        return lambda decorated: _phased(decorated, name or decorated.__name__, kind)
    return _phased(function, function.__name__, kind)


def _phased(function: Function, name: str, kind: int) -> Function:
    if _functions is None:
        return function

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with phase(name, kind):
            return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]
