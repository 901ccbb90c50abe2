"""Marks phases of Python programs, and reads recorded runs.

In a program that is recorded (docs/markers.md):

    import lbprof

    for step in lbprof.iterations(range(n), "step"):
        with lbprof.phase("force"):
            ...
            lbprof.work(operations=20 * pairs, quanta=pairs)

    @lbprof.phased                      # the function's name, or @lbprof.phased("name")
    def partition(): ...

In a notebook or script that reads a run (docs/python.md):

    run = lbprof.open("lbprof-out")     # in a notebook, `run` alone shows the first screen of the report
    run.efficiencies()                  # a frame of pandas or polars; so are ranks, regions, iterations, calls …

The markers need the standard library alone. Importing lbprof imports neither pandas nor polars.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

from typing import TYPE_CHECKING, Any

from .markers import (
    CONTROL, SERIAL, USEFUL, count, iteration, iteration_begin, iteration_end, iterations, param, phase, phase_begin,
    phase_end, phased, record, recorded, work,
)

if TYPE_CHECKING:
    from .run import ReportError, Run, open_run as open

__all__ = [
    "USEFUL", "CONTROL", "SERIAL", "recorded",
    "phase", "iteration", "iterations", "phased", "phase_begin", "phase_end", "iteration_begin", "iteration_end",
    "work", "count", "param", "record",
    "Run", "ReportError",
]


def __getattr__(name: str) -> Any:
    # Programs that are recorded do not pay for what reads runs.
    names = {"open": "open_run", "Run": "Run", "ReportError": "ReportError"}
    if name not in names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import run

    return getattr(run, names[name])


def __dir__() -> "list[str]":
    return sorted([*globals(), "open", "Run", "ReportError"])
