// ranks: 4
// truth: without markers, 16 steps that sum fields of two types through one template of a class of the program, which calls MPI through
// truth: a wrapper; rank 2 works 30 ms before the sum of floats, the others 10; all work 10 ms before that of doubles.
// expect: computation[p] = 16 * (0.020 + 0.020*(p == 2))
// expect: iterations = 16
// expect: loops = 1
// expect: loop[iterations] = 16
// expect: loop[confidence] = 2
// expect: longest[main/loop/Solver::step/Solver::step (paths_templates.cpp:54 → 56)] = 16 * 0.030
// says: Solver::step, from the call of Field<double>::sum (paths_templates.cpp:54) to the call of Field<float>::sum (paths_templates.cpp:56)
#include <vector>

#include "work.h"

template <typename T> MPI_Datatype datatype();
template <> MPI_Datatype datatype<float>() { return MPI_FLOAT; }
template <> MPI_Datatype datatype<double>() { return MPI_DOUBLE; }

namespace comm {
__attribute__((noinline)) void sum(const void *from, void *to, int n, MPI_Datatype type)
{
    MPI_Allreduce(from, to, n, type, MPI_SUM, MPI_COMM_WORLD);
}
} // namespace comm

template <typename T> class Field {
    std::vector<T> own, all;

  public:
    explicit Field(int n) : own(n), all(n) {}
    __attribute__((noinline)) void sum() { comm::sum(own.data(), all.data(), int(own.size()), datatype<T>()); }
};

class Solver {
    Field<double> pressure{20};
    Field<float> velocity{40};
    double until_ms = 0;
    int rank;

    void compute(double ms, double most_ms)
    {
        until_ms += most_ms;
        work(ms, until_ms);
    }

  public:
    explicit Solver(int rank) : rank(rank) {}
    void step();
};

__attribute__((noinline)) void Solver::step()
{
    compute(10, 10);
    pressure.sum();
    compute(rank == 2 ? 30 : 10, 30);
    velocity.sum();
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    begin_schedule();
    Solver solver(rank);
    for (int k = 0; k < 16; k++)
        solver.step();
    end_schedule();
    MPI_Finalize();
    return 0;
}
