"""work.h for scripts: computation of a known length, and what the program's own clock says of it."""

import os
import time

from mpi4py import MPI

_planned = _worked = _begin = 0.0
_works = []


def begin_schedule():
    global _begin
    _begin = MPI.COMM_WORLD.allreduce(time.monotonic(), MPI.MAX)


def work(ms, until_ms):
    """Computes for `ms` milliseconds, but not beyond `until_ms` after the begin, when others wait for this rank."""
    global _planned, _worked
    _planned += 1e-3 * ms
    begin = time.monotonic()
    latest = _begin + 1e-3 * until_ms
    end = min(begin + _planned - _worked, latest)
    time.sleep(max(0.0, end - time.monotonic()))
    took = time.monotonic() - begin
    _worked += took
    _works.append((took, abs(took - 1e-3 * ms) + max(0.0, begin + 1e-3 * ms - latest)))


def end_schedule():
    path = os.environ.get("LBTEST_TRUTH")
    if path:
        with open(f"{path}.{MPI.COMM_WORLD.Get_rank()}", "w") as file:
            file.writelines(f"{took:.6f} {astray:.6f}\n" for took, astray in _works)
