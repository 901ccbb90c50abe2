/* Includes the file that includes this, twice: with int counts and, where this MPI has them, with large ones.
 *
 *     #ifndef TWIN
 *     #define SOURCE "sends.c"
 *     #include "twice.h"
 *     int main() { … sends(); … sends_c(); … }
 *     #else
 *     static void TWIN(sends)(void) { … }
 *     #endif
 *
 * In the body, TWIN(name) is `name` or `name_c`; COUNT and DISPLACEMENT are the types of counts and of displacements. */
#include "expect.h"

#define HAS_MPI_4 (MPI_VERSION >= 4)
#define HAS_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))
#define LARGE_COUNTS HAS_MPI_4
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 6
#undef LARGE_COUNTS
#define LARGE_COUNTS 0
#endif
/* Persistent collectives and partitioned communication: since MPI 4.0, and in Open MPI since 5.0 whatever it says. */
#if HAS_MPI_4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT_COLLECTIVES 1
#endif

#define TWIN(name) name
#define SUFFIX ""
#define COUNT int
#define DISPLACEMENT int
#include SOURCE
#undef TWIN
#undef SUFFIX
#undef COUNT
#undef DISPLACEMENT

#if LARGE_COUNTS
#define TWIN(name) name##_c
#define SUFFIX "_c"
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#include SOURCE
#undef TWIN
#undef SUFFIX
#undef COUNT
#undef DISPLACEMENT
/* Calls both forms. */
#define BOTH(name, ...)                                                                                                        \
    do {                                                                                                                       \
        name(__VA_ARGS__);                                                                                                     \
        name##_c(__VA_ARGS__);                                                                                                 \
    } while (0)
#else
#define BOTH(name, ...) name(__VA_ARGS__)
#endif
