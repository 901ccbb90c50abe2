"""Phase markers for Python programs.

    import lbprof

    for step in lbprof.iterations(range(n), "step"):
        with lbprof.phase("force"):
            ...
            lbprof.work(operations=20 * pairs, quanta=pairs)

    @lbprof.phased                      # the function's name, or @lbprof.phased("name")
    def partition(): ...

One file, standard library only. Where the program is not recorded all of it does nothing, at the cost of a call.
docs/markers.md tells what the markers mean in a report.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import ctypes
import functools

__all__ = [
    "USEFUL", "CONTROL", "SERIAL", "recorded",
    "phase", "iteration", "iterations", "phased", "phase_begin", "phase_end", "iteration_begin", "iteration_end",
    "work", "count", "param", "record",
]

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


def _find():
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


def recorded():
    """Whether the program runs under the recorder."""
    return _functions is not None


def _bytes(name):
    # A C string ends at its first zero.
    return str(name).split("\0", 1)[0].encode("utf-8", "replace")


class _Nothing:
    """A scope without markers."""

    __slots__ = ()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


_NOTHING = _Nothing()


class _Scope:
    __slots__ = ("_name", "_kind")

    def __init__(self, name, kind):
        self._name, self._kind = _bytes(name), kind

    def __exit__(self, *_):
        self._end(self._name)
        return False


if _functions is None:

    def phase_begin(name, kind=USEFUL):
        """A phase begins; prefer ``with phase(name):``, which ends it on exceptions too."""

    def phase_end(name):
        """The innermost phase of this name ends; phases still open inside it end with it."""

    def iteration_begin(name):
        """The next invocation of an iterated phase begins; prefer ``with iteration(name):``."""

    def iteration_end(name):
        """It ends."""

    def phase(name, kind=USEFUL):
        """``with phase("force"):`` marks a phase; ``kind`` is USEFUL, CONTROL or SERIAL."""
        return _NOTHING

    def iteration(name):
        """``with iteration("step"):`` marks one iteration of an iterated phase."""
        return _NOTHING

    def work(operations=0.0, quanta=0.0):
        """Work done in the innermost open phase: operations, and the quanta of data that they worked on."""

    def count(name, value):
        """A value of a counter in the innermost open phase."""

    def param(name, value):
        """A parameter of the run, such as the size of the problem."""

    def record(on):
        """Recording of this thread stops (False) or goes on (True)."""

else:
    # Bound once: looking a field of a structure up makes a new function object each time.
    _phase_begin, _phase_end = _functions.phase_begin, _functions.phase_end
    _iteration_begin, _iteration_end = _functions.iteration_begin, _functions.iteration_end
    _work, _count, _param, _record = _functions.work, _functions.count, _functions.param, _functions.record

    class _Phase(_Scope):
        __slots__ = ()
        _end = _phase_end

        def __enter__(self):
            _phase_begin(self._name, self._kind)
            return self

    class _Iteration(_Scope):
        __slots__ = ()
        _end = _iteration_end

        def __enter__(self):
            _iteration_begin(self._name)
            return self

    def phase_begin(name, kind=USEFUL):
        """A phase begins; prefer ``with phase(name):``, which ends it on exceptions too."""
        _phase_begin(_bytes(name), kind)

    def phase_end(name):
        """The innermost phase of this name ends; phases still open inside it end with it."""
        _phase_end(_bytes(name))

    def iteration_begin(name):
        """The next invocation of an iterated phase begins; prefer ``with iteration(name):``."""
        _iteration_begin(_bytes(name))

    def iteration_end(name):
        """It ends."""
        _iteration_end(_bytes(name))

    def phase(name, kind=USEFUL):
        """``with phase("force"):`` marks a phase; ``kind`` is USEFUL, CONTROL or SERIAL."""
        return _Phase(name, kind)

    def iteration(name):
        """``with iteration("step"):`` marks one iteration of an iterated phase."""
        return _Iteration(name, USEFUL)

    def work(operations=0.0, quanta=0.0):
        """Work done in the innermost open phase: operations, and the quanta of data that they worked on."""
        _work(operations, quanta)

    def count(name, value):
        """A value of a counter in the innermost open phase."""
        _count(_bytes(name), value)

    def param(name, value):
        """A parameter of the run, such as the size of the problem."""
        _param(_bytes(name), value)

    def record(on):
        """Recording of this thread stops (False) or goes on (True)."""
        _record(1 if on else 0)


def iterations(items, name):
    """``for step in iterations(range(n), "step"):`` marks each turn of the loop as an iteration.

    A loop that is left by ``break`` or ``return`` ends its iteration there; one left by an exception when the exception is
    forgotten: use ``with iteration(name):`` where that matters.
    """
    if _functions is None:
        return iter(items)
    return _iterations(items, name)


def _iterations(items, name):
    for item in items:
        with iteration(name):
            yield item


def phased(function=None, kind=USEFUL):
    """Decorator: each call of the function is a phase, named after it or as given: ``@phased``, ``@phased("name")``."""
    if function is None or isinstance(function, str):
        return lambda decorated: _phased(decorated, function or decorated.__name__, kind)
    return _phased(function, function.__name__, kind)


def _phased(function, name, kind):
    if _functions is None:
        return function

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with phase(name, kind):
            return function(*args, **kwargs)

    return wrapper
