# ranks: 2
# problems: Paused
# maybe: UnevenPause
# truth: as markers_c, by the Python module: scopes, a decorator, pairs
import os

import lbprof

lbprof.param("before MPI", 0.5)
lbprof.phase_begin("all")

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
lbprof.param("n", 42)


@lbprof.phased(kind=lbprof.SERIAL)
def setup():
    pass


@lbprof.phased("balance", kind=lbprof.CONTROL)
def to_balance():
    lbprof.record(False)
    world.Barrier()
    lbprof.record(True)
    raise ValueError("balanced")


setup()
for i in range(3):
    with lbprof.iteration("step"):
        with lbprof.phase("force"):
            world.Barrier()
            lbprof.work(operations=100 * i, quanta=10)
            lbprof.count("pairs", 1.5 * i + rank)
        try:
            to_balance()
        except ValueError:
            pass
lbprof.count("pairs", -1)
lbprof.phase_end("all")
# In one piece: of two ranks, lines could mix otherwise.
os.write(1, f"{rank}: done\n".encode())
MPI.Finalize()
lbprof.phase_begin("after MPI")
lbprof.phase_end("after MPI")
