# ranks: 2
# truth: as paths_helper, by mpi4py: without markers, exchanges through one function that calls it from four places in each of 16 steps: predict
# truth: (10 ms on both ranks) and correct (30 ms on rank 1, 10 on the other) through functions of their own, and twice from the step itself, after
# truth: 5 ms each. By its calls' addresses alone all of them are one.
# expect: computation[p] = 16 * (0.030 + 0.020*(p == 1))
# expect: load_balance = (0.030 + 0.020/P) / 0.050
# expect: iterations = 16
# expect: loops = 1
# expect: loop[iterations] = 16
# expect: loop[confidence] = 2
# expect: t_ideal_phase_profile_s = 16 * 0.050
# expect: longest[main/loop/step (paths_script.py:48 → 50)] = 16 * 0.030
# expect: longest[main/loop/step (paths_script.py:50 → 52)] = 16 * 0.005
# expect: region_load_balance[main/loop/step (paths_script.py:48 → 50)] = (0.010 + 0.020/P) / 0.030
# says: step, from the call of halo (paths_script.py:48) to the call of correct (paths_script.py:50)
from array import array

from mpi4py import MPI

from work import begin_schedule, end_schedule, work

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
ours, theirs = array("d", [0] * 1000), array("d", [0] * 1000)
until_ms = 0


def halo(n):
    requests = [world.Irecv([theirs, n, MPI.DOUBLE], (rank + 1) % size), world.Isend([ours, n, MPI.DOUBLE], (rank - 1) % size)]
    MPI.Request.Waitall(requests)
    world.Barrier()


def compute(ms, most_ms):
    global until_ms
    until_ms += most_ms
    work(ms, until_ms)


def correct():
    compute(30 if rank == 1 else 10, 30)
    halo(1000)


def step():
    predict()
    compute(5, 5)
    halo(100)

    correct()
    compute(5, 5)
    halo(10)


def predict():
    compute(10, 10)
    halo(10)


begin_schedule()
for _ in range(16):
    step()
end_schedule()
