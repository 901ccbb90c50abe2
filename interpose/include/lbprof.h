/* lbprof.h: phase markers for C and C++ programs.
 *
 * Include it and mark; nothing has to be linked, and the program runs unchanged where it is not recorded:
 *
 *     LBPROF_ITERATION_BEGIN("step");
 *     LBPROF_PHASE_BEGIN("force");
 *     ...
 *     LBPROF_WORK(20.0 * n_pairs, n_pairs);
 *     LBPROF_PHASE_END("force");
 *     LBPROF_ITERATION_END("step");
 *
 * A marker finds the recorder when the first one in a source file is reached. Without it each marker costs a load and a
 * branch that is always taken the same way. Markers may be called from any thread, before MPI_Init and after MPI_Finalize.
 * Names are the program's own strings, copied where need be: they need not outlive the marker.
 *
 * With LBPROF_DISABLE defined before the header, and on systems other than Linux, the markers compile to nothing and do
 * not evaluate their arguments.
 *
 * docs/markers.md says what the markers mean in a report.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef LBPROF_H
#define LBPROF_H

/* What a phase's time is: */
#define LBPROF_USEFUL 0  /* useful work, the default */
#define LBPROF_CONTROL 1 /* control of parallelism: partitioning, load balancing and the like */
#define LBPROF_SERIAL 2  /* work that only one rank can do */

#if defined(LBPROF_DISABLE) || !defined(__linux__)

#define LBPROF_PHASE_BEGIN(name) ((void)sizeof(name))
#define LBPROF_PHASE_BEGIN_KIND(name, kind) ((void)sizeof(name), (void)sizeof(kind))
#define LBPROF_PHASE_END(name) ((void)sizeof(name))
#define LBPROF_ITERATION_BEGIN(name) ((void)sizeof(name))
#define LBPROF_ITERATION_END(name) ((void)sizeof(name))
#define LBPROF_WORK(operations, quanta) ((void)sizeof(operations), (void)sizeof(quanta))
#define LBPROF_COUNT(name, value) ((void)sizeof(name), (void)sizeof(value))
#define LBPROF_PARAM(name, value) ((void)sizeof(name), (void)sizeof(value))
#define LBPROF_RECORD(on) ((void)sizeof(on))

#else

/* A phase begins; phases nest, and a phase inside another is a region of its own: "step/force". */
#define LBPROF_PHASE_BEGIN(name) LBPROF_PHASE_BEGIN_KIND(name, LBPROF_USEFUL)
/* The same, of another kind: LBPROF_CONTROL or LBPROF_SERIAL. */
#define LBPROF_PHASE_BEGIN_KIND(name, kind) LBPROF_CALL_(phase_begin, (name, kind))
/* The innermost phase of this name ends; phases still open inside it end with it. */
#define LBPROF_PHASE_END(name) LBPROF_CALL_(phase_end, (name))
/* The next invocation of an iterated phase begins: an iteration, numbered from 0. */
#define LBPROF_ITERATION_BEGIN(name) LBPROF_CALL_(iteration_begin, (name))
/* It ends. */
#define LBPROF_ITERATION_END(name) LBPROF_CALL_(iteration_end, (name))
/* Work done in the innermost open phase: operations (of whatever kind the program counts), and the quanta of data that
 * they worked on (particles, rows, cells). Summed. */
#define LBPROF_WORK(operations, quanta) LBPROF_CALL_(work, (LBPROF_DOUBLE_(operations), LBPROF_DOUBLE_(quanta)))
/* A value of a counter, in the innermost open phase; the report has number, sum, least and greatest. */
#define LBPROF_COUNT(name, value) LBPROF_CALL_(count, (name, LBPROF_DOUBLE_(value)))
/* A parameter of the run, such as the size of the problem. */
#define LBPROF_PARAM(name, value) LBPROF_CALL_(param, (name, LBPROF_DOUBLE_(value)))
/* Recording of this thread stops (0) or goes on (1); time between counts nowhere. */
#define LBPROF_RECORD(on) LBPROF_CALL_(record, (on))

/* What follows is how the markers reach the recorder. */

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's functions, version 1. `size` is that of the recorder's structure, in bytes: it may have more members. */
struct lbprof_api {
    __SIZE_TYPE__ size;
    void (*phase_begin)(const char *name, int kind);
    void (*phase_end)(const char *name);
    void (*iteration_begin)(const char *name);
    void (*iteration_end)(const char *name);
    void (*work)(double operations, double quanta);
    void (*count)(const char *name, double value);
    void (*param)(const char *name, double value);
    void (*record)(int on);
};

/* dlsym, under a name of our own, for <dlfcn.h> declares it otherwise in C++; weak, for before glibc 2.34 it is in a library
 * that the program need not be linked with. There the recorder brings it along. */
extern void *lbprof_dlsym_(void *scope, const char *name) __asm__("dlsym") __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* Casts and null pointers that no warning of either language minds. */
#ifdef __cplusplus
#define LBPROF_DOUBLE_(value) (static_cast<double>(value))
#else
#define LBPROF_DOUBLE_(value) ((double)(value))
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define LBPROF_NULL_ nullptr
#else
#define LBPROF_NULL_ 0
#endif

/* One of each for each source file. The functions are stored before the state that says so. */
static const struct lbprof_api *lbprof_functions_;
static int lbprof_state_; /* 0: not looked for yet; 1: found; -1: the recorder is not in the process */

static __attribute__((unused, noinline, cold)) const struct lbprof_api *lbprof_find_(void)
{
    union {
        void *object;
        const struct lbprof_api *(*function)(int version);
    } entry;
    const struct lbprof_api *found = LBPROF_NULL_;
    /* RTLD_DEFAULT is the null pointer in all C libraries of Linux. */
    entry.object = lbprof_dlsym_ ? lbprof_dlsym_(LBPROF_NULL_, "lbprof_api") : LBPROF_NULL_;
    if (entry.object)
        found = entry.function(1);
    /* Threads that come here at once all store the same. */
    __atomic_store_n(&lbprof_functions_, found, __ATOMIC_RELAXED);
    __atomic_store_n(&lbprof_state_, found ? 1 : -1, __ATOMIC_RELEASE);
    return found;
}

static __inline__ __attribute__((unused)) const struct lbprof_api *lbprof_get_(void)
{
    int state = __atomic_load_n(&lbprof_state_, __ATOMIC_ACQUIRE);
    if (__builtin_expect(state < 0, 1))
        return LBPROF_NULL_;
    return state ? __atomic_load_n(&lbprof_functions_, __ATOMIC_RELAXED) : lbprof_find_();
}

#define LBPROF_CALL_(function, arguments)                      \
    do {                                                       \
        const struct lbprof_api *lbprof_to_ = lbprof_get_();   \
        if (lbprof_to_)                                        \
            lbprof_to_->function arguments;                    \
    } while (0)

#endif /* LBPROF_DISABLE */

#ifdef __cplusplus
namespace lbprof {

/* A phase that ends with its scope, by return and exception too: lbprof::phase in_force("force"); */
class phase {
public:
    explicit phase(const char *name, int kind = LBPROF_USEFUL) : name_(name)
    {
        (void)kind;
        LBPROF_PHASE_BEGIN_KIND(name, kind);
    }
    ~phase() { LBPROF_PHASE_END(name_); }

private:
    phase(const phase &);
    phase &operator=(const phase &);
    const char *name_;
};

/* An iteration that ends with its scope: for (...) { lbprof::iteration in_step("step"); ... } */
class iteration {
public:
    explicit iteration(const char *name) : name_(name) { LBPROF_ITERATION_BEGIN(name); }
    ~iteration() { LBPROF_ITERATION_END(name_); }

private:
    iteration(const iteration &);
    iteration &operator=(const iteration &);
    const char *name_;
};

} /* namespace lbprof */
#endif

#endif /* LBPROF_H */
