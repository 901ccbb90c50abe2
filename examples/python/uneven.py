"""Rank 0 has four times as much to do as the others: load balance is 62.5 % on 2 ranks, 43.75 % on 4.

    mpirun -n 2 lb-run python uneven.py && lb-report
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD


def compute(units):
    total = 0
    for i in range(units * 50000):
        total += i * i
    return total


for step in range(40):
    compute(4 if comm.rank == 0 else 1)
    comm.Barrier()
