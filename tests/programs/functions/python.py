# ranks: 2
# truth: functions of Python on the first thread, one of which calls a C library, and on a thread of a pool: samples show which of them ran, and who called them
# slow: 0 checksum
# calls: checksum crc32 step
# interpreter: alone
import ctypes
import os
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

from lbprof import phase

is_open_mpi = "OMPI_COMM_WORLD_RANK" in os.environ
ctypes.CDLL("libmpi.so.40" if is_open_mpi else "libmpich.so.12", ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)
if is_open_mpi:
    world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
else:
    world = ctypes.c_int(0x44000000)
mpi.MPI_Init(None, None)
rank = ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
rank = rank.value
data = bytes(1 << 20)
spent = {"checksum": 0.0, "interpret": 0.0, "worker pair relax": 0.0, "worker pair smooth": 0.0}


def checksum(ms):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        for _ in range(8):
            zlib.crc32(data)
        now = time.thread_time()
    spent["checksum"] += now - begin


def interpret(ms):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        x = 1.0
        for _ in range(20000):
            x = x * 1.0000001 + 1e-9
        now = time.thread_time()
    spent["interpret"] += now - begin


def relax(ms, grid):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        for i in range(1, len(grid) - 1):
            grid[i] = 0.25 * (grid[i - 1] + 2 * grid[i] + grid[i + 1])
        now = time.thread_time()
    spent["worker pair relax"] += now - begin


def smooth(ms, grid):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        for i in range(len(grid) - 1):
            grid[i] = 0.5 * (grid[i] + grid[i + 1])
        now = time.thread_time()
    spent["worker pair smooth"] += now - begin


def heat(grid):
    relax(12, grid)
    smooth(4, grid)


def step(pool, grid):
    checksum(16 if rank == 0 else 5)
    interpret(6)
    with phase("pair"):
        pool.submit(heat, grid).result()


def main():
    grid = [float(i % 7) for i in range(1000)]
    with ThreadPoolExecutor(1) as pool:
        for _ in range(40):
            step(pool, grid)
            mpi.MPI_Barrier(world)


main()
if path := os.environ.get("LBTEST_TRUTH"):
    with open(f"{path}.{rank}", "w") as file:
        file.writelines(f"{name} {seconds:.6f}\n" for name, seconds in spent.items())
mpi.MPI_Finalize()
