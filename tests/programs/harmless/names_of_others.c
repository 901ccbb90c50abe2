// ranks: 2
// tool: programs/harmless/names_in_c.c
// plugin: programs/harmless/names_kept_apart.c programs/harmless/names_kept_apart_too.c
// link: -ldl
// records: Allreduce 50 Bcast 0
// end: finalize
// truth: libraries have functions of their own with names that the recorder exports, and so has the program: each call reaches the function that it reaches without the
// truth: recorder, with its arguments
#define _GNU_SOURCE
#include "calls.h"
#include <dlfcn.h>
#include <pthread.h>

/* The program's own functions with the system's names, and one with a name of ours. */
static int threads, actions;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    threads++;
    return next(thread, attributes, function, argument);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    int (*next)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
    actions++;
    return next(signal, action, old);
}

const char *lbprof_api(double version) { return version == 2.5 ? "own" : "ours"; }

static void *add(void *argument)
{
    ++*(int *)argument;
    return 0;
}

static void use(void *module)
{
    int (*use_names)(int) = dlsym(module, "use_names"), (*end_with_call)(int) = dlsym(module, "end_with_call");
    int (**kept)(int, double) = dlsym(module, "kept");
    if (!use_names || !end_with_call || !kept)
        exit(9);
    for (int i = 0; i < 2; i++)
        printf("%d %d %d\n", use_names(rank), end_with_call(i), (*kept)(i, 1));
}

int main(int argc, char **argv)
{
    char *modules = getenv("LBTEST_PLUGIN"), *second = modules ? strchr(modules, ':') : 0;
    void (*use_names_in_c)(void) = dlsym(RTLD_DEFAULT, "use_names_in_c");
    if (!second || !use_names_in_c)
        return 9;
    *second++ = 0;
    use_names_in_c();
    start(&argc, &argv);
    use_names_in_c();
    void *first = dlopen(modules, RTLD_LAZY | RTLD_LOCAL);
    if (!first)
        return 9;
    use(first);
    long sum = reduce(50);
    void *other = dlopen(second, RTLD_LAZY | RTLD_LOCAL);
    if (!other)
        return 9;
    use(other);
    use(first);
    dlclose(first);
    use(other);
    pthread_t thread;
    int value = 0;
    struct sigaction none = {.sa_handler = SIG_DFL};
    pthread_create(&thread, 0, add, &value);
    pthread_join(thread, 0);
    sigaction(SIGUSR1, &none, 0);
    printf("%ld %d %d %d %s\n", sum, value, threads, actions > 0, lbprof_api(2.5));
    MPI_Finalize();
    return 0;
}
