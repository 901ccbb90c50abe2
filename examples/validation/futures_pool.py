"""In each of 20 rounds the worker of a pool computes 100 ms, then the manager 25 ms, of CPU time: on idle cores the load balance is 62.5 %.

Prints the load balance by its own clock. Run: mpirun -n 2 lb-run python3 futures_pool.py
"""

import time

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor


def compute(ms):
    """Computes for this CPU time; returns the elapsed time."""
    begin, end = time.monotonic(), time.process_time() + ms / 1000
    while time.process_time() < end:
        pass
    return time.monotonic() - begin


if __name__ == "__main__":
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as pool:
        if pool is not None:
            worker_s = manager_s = 0
            for _ in range(20):
                worker_s += sum(pool.map(compute, [100]))
                manager_s += compute(25)
            print(f"load balance {50 * (worker_s + manager_s) / max(worker_s, manager_s):.1f} %")
