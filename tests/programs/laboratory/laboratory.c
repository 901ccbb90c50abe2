// ranks: 4
// truth: each rank sleeps for its work by a plan (plan.h), in one of many shapes of communication (shapes.h), as it is or with a change built in that
// truth: a prediction is about. So every statement of a report can be compared with the plan, and with what the change really does.
//
//     laboratory STEPS SHAPE:BYTES:PATTERN:CHANGE...
//
// runs the combinations and prints `SHAPE:BYTES:PATTERN:CHANGE ELAPSED WORK...` for each on rank 0: seconds by the clock, then each rank's work by the
// plan; or `no such shape`, where this MPI has none.
#include "shapes.h"

/* Where the user may have that, a rank that wakes gets a core at once, whatever else the machine is busy with: it sleeps nearly always. Not while MPI
 * starts and ends, where ranks spin. */
static void wake_at_once(int yes)
{
    struct sched_param how = {.sched_priority = yes ? 1 : 0};
    sched_setscheduler(0, yes ? SCHED_RR : SCHED_OTHER, &how);
}

#define FIND(table, word, at)                                                                                                                    \
    for (at = 0; at < (int)(sizeof table / sizeof *table) && (!word || strcmp(table[at].name, word)); at++) {                                     \
    }                                                                                                                                            \
    if (at == (int)(sizeof table / sizeof *table)) {                                                                                             \
        if (rank == 0)                                                                                                                           \
            printf("no such shape: %s\n", word ? word : "");                                                                                     \
        return;                                                                                                                                  \
    }

static void run(const char *combination)
{
    char words[128];
    int shape, pattern, change;
    snprintf(words, sizeof words, "%s", combination);
    const char *name = strtok(words, ":"), *bytes = strtok(NULL, ":"), *of = strtok(NULL, ":"), *with = strtok(NULL, ":");
    FIND(SHAPES, name, shape)
    FIND(PATTERNS, of, pattern)
    FIND(CHANGES, with, change)
    n_bytes = atoi(bytes);
    pattern_ms = PATTERNS[pattern].ms;
    parts = PATTERNS[pattern].parts;
    change_ms = CHANGES[change].ms;
    exchange = SHAPES[shape].exchange;
    ahead_s = 0;
    find_neighbours(SHAPES[shape].dimensions);
    SHAPES[shape].init();
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = now_s();
    for (int k = 0; k < steps; k++)
        SHAPES[shape].step(k);
    MPI_Barrier(MPI_COMM_WORLD);
    double elapsed_s = now_s() - begin_s;
    SHAPES[shape].end();
    if (rank == 0) {
        printf("%s %.6f", combination, elapsed_s);
        for (int r = 0; r < size; r++)
            printf(" %.6f", 1e-3 * in_all_ms(r));
        puts("");
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 1 ? atoi(argv[1]) : 16;
    wake_at_once(1);
    for (int i = 2; i < argc; i++)
        run(argv[i]);
    wake_at_once(0);
    MPI_Finalize();
    return 0;
}
