# ranks: 2
# truth: as exchange_c, by mpi4py
import os
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
other = 1 - rank
ints, reals, more = array("i", [0] * 10), array("d", [0] * 6), array("d", [0] * 6)
sums = array("d", [0] * 3)
if rank == 0:
    world.Send([ints, 10, MPI.INT], dest=other, tag=11)
else:
    world.Recv([ints, 10, MPI.INT], source=other, tag=11)
requests = [
    world.Irecv([more, 6, MPI.DOUBLE], source=other, tag=12),
    world.Isend([reals, 6, MPI.DOUBLE], dest=other, tag=12),
]
MPI.Request.Waitall(requests)
world.Allreduce([reals, 3, MPI.DOUBLE], [sums, 3, MPI.DOUBLE])
world.Bcast([ints, 7, MPI.INT], root=1)
half = world.Split(0, other)
half.Barrier()
half.Allreduce(MPI.IN_PLACE, [sums, 2, MPI.DOUBLE], op=MPI.MAX)
half.Recv([more, 6, MPI.DOUBLE], source=MPI.PROC_NULL, tag=MPI.ANY_TAG)
half.Free()
# In one piece: of two ranks, lines could mix otherwise.
os.write(1, f"{rank}: done\n".encode())
