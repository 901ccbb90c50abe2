// ranks: 2
// records: Allreduce 30 Barrier 5 Finalize 1
// end: finalize
// truth: MPI is initialised by a static object's constructor, used and finalised by its destructor, after main
#include <mpi.h>
#include <cstdio>

struct Library {
    Library() { MPI_Init(nullptr, nullptr); }
    ~Library()
    {
        for (int i = 0; i < 5; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        std::puts("finalised");
    }
};

static Library library;

int main()
{
    int sum = 0;
    for (int i = 0; i < 30; i++) {
        int all;
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        sum += all;
    }
    std::printf("%d\n", sum);
    return 0;
}
