# ranks: 2
# Each call has a tag; a line `path:` names Python's functions, with the lines of their calls, from the outermost one to that which calls MPI
# for it; `?`: none.
# path: 1 <module>:57 > solve:32 > exchange:28
# path: 2 <module>:58 > output:35 > exchange:28
# path: 3 <module>:59 > deep:39 > deep:39 > deep:39 > deep:39 > exchange:28
# path: 4 <module>:60 > values:44 > exchange:28
# path: 5 <module>:61 > Halo.swap:49 > exchange:28
# path: 6 <module>:63 > <module>:3 > made:2 > exchange:28
# path: 7 <module>:63 > <module>:4 > made:3 > exchange:28
# path: 8 <module>:63 > <module>:3 > other:2 > exchange:28
# path: 9 <module>:64 > asynchronous:53 > exchange:28
# path: 10 <module>:65 > <lambda>:65 > exchange:28
# path: 11 ?
# Threads other than the first one have no functions of Python's: the interpreter may end while they call.
import threading
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
ours, theirs = array("d", [0.0]), array("d", [0.0])


def exchange(tag):
    other = 1 - rank
    world.Sendrecv([ours, 1, MPI.DOUBLE], other, tag, [theirs, 1, MPI.DOUBLE], other, tag)


def solve():
    exchange(1)

def output():
    exchange(2)


def deep(n):
    deep(n - 1) if n else exchange(3)


def values(n):
    for value in range(n):
        exchange(4)
        yield value

class Halo:
    def swap(self):
        list(map(exchange, [5]))


async def asynchronous():
    exchange(9)


for step in range(40):
    solve()
    output()
    deep(3)
    sum(values(3))
    Halo().swap()
    for name, tag, line in ("made", 6, 2), ("made", 7, 3), ("other", 8, 2):
        exec(compile("def %s():%s  exchange(%d)\n%s()" % (name, "\n" * (line - 1), tag, name), "made-up", "exec"), globals())
    list(asynchronous().__await__())
    (lambda: exchange(10))()
thread = threading.Thread(target=exchange, args=(11,))
thread.start()
thread.join()
