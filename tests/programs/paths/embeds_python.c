// ranks: 2
// link: -ldl -g -O2 -fno-inline -fno-optimize-sibling-calls
// A library of Python's is loaded from the start, and its interpreter used for a while only: functions of Python's are on paths of that time alone.
// `*`: functions of the interpreter. The last `called` is Python's, and stands for the C function that runs it.
// path: 1 main > before > helper
// path: 2 main > during > * > called > * > helper
// path: 3 main > during > helper
// path: 4 main > before > helper
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int other;

void helper(int tag) {
    int ours = tag, theirs = 0;
    MPI_Sendrecv(&ours, 1, MPI_INT, other, tag, &theirs, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void before(int tag) { helper(tag); }

static void during(void *python) {
    void (*initialize)(int) = (void (*)(int))dlsym(python, "Py_InitializeEx");
    int (*run)(const char *, void *) = (int (*)(const char *, void *))dlsym(python, "PyRun_SimpleStringFlags");
    int (*end)(void) = (int (*)(void))dlsym(python, "Py_FinalizeEx");
    char script[512];
    snprintf(script, sizeof script,
             "import ctypes\nhelper = ctypes.PYFUNCTYPE(None, ctypes.c_int)(%llu)\ndef called():\n    helper(2)\ncalled()\n",
             (unsigned long long)(size_t)helper);
    initialize(0);
    if (run(script, NULL) != 0) fprintf(stderr, "the script failed\n");
    helper(3);
    end();
}

int main(int argc, char **argv) {
    const char *names[] = {"libpython3.11.so.1.0", "libpython3.12.so.1.0", "libpython3.13.so.1.0"};
    void *python = NULL;
    for (int i = 0; i < 3 && python == NULL; i++) python = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int i = 0; i < 3; i++) before(1);
    if (python == NULL) {
        if (rank == 0) printf("cannot be tested: no library of Python's\n");
        MPI_Finalize();
        return 0;
    }
    during(python);
    for (int i = 0; i < 3; i++) before(4);
    MPI_Finalize();
    return 0;
}
