# ranks: 2
# truth: Python calls a function of a C library, which rank 0 does for longer, and computes by itself: samples show which files of native code ran
# slow: 0 module libz.so
# interpreter: alone
import ctypes
import os
import time
import zlib

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
spent = {"libz.so": 0.0, "python": 0.0}


def checksum(ms):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        for _ in range(8):
            zlib.crc32(data)
        now = time.thread_time()
    spent["libz.so"] += now - begin


def interpret(ms):
    begin = now = time.thread_time()
    while now < begin + 1e-3 * ms:
        x = 1.0
        for _ in range(20000):
            x = x * 1.0000001 + 1e-9
        now = time.thread_time()
    spent["python"] += now - begin


for step in range(40):
    checksum(16 if rank == 0 else 5)
    interpret(6)
    mpi.MPI_Barrier(world)
if path := os.environ.get("LBTEST_TRUTH"):
    with open(f"{path}.{rank}", "w") as file:
        file.writelines(f"module {name} {seconds:.6f}\n" for name, seconds in spent.items())
mpi.MPI_Finalize()
