// truth: a SIGBUS of the program's own ends it as without the recorder, whatever it has installed: HOW is fault, raise, ignored (faults
// truth: are not), once (a handler that is reset when it runs), child (a fork faults) or called (its handler calls what was there before)
#define _GNU_SOURCE
#include "calls.h"
#include <sys/mman.h>
#include <sys/wait.h>

static struct sigaction before;

static void nothing(int signal)
{
    (void)signal;
    if (write(1, "once\n", 5) < 0)
        _exit(99);
}

static void chained(int signal, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else
        sigaction(SIGBUS, &before, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    char *page = mmap((void *)0x500000000000, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memfd_create("empty", 0), 0);
    start(&argc, &argv);
    printf("%ld\n", reduce(1500));
    fflush(stdout);
    struct sigaction once = {.sa_handler = nothing, .sa_flags = SA_RESETHAND};
    struct sigaction own = {.sa_sigaction = chained, .sa_flags = SA_SIGINFO};
    if (!strcmp(how, "ignored"))
        signal(SIGBUS, SIG_IGN);
    if (!strcmp(how, "once"))
        sigaction(SIGBUS, &once, NULL);
    if (!strcmp(how, "called"))
        sigaction(SIGBUS, &own, &before);
    reduce(1500);
    if (!strcmp(how, "raise"))
        raise(SIGBUS);
    if (!strcmp(how, "child")) {
        int status;
        if (fork() == 0)
            page[8] = 1;
        wait(&status);
        printf("the child ended by signal %d\n", WTERMSIG(status));
        MPI_Finalize();
        return 0;
    }
    page[8] = 1;
    page[8] = 2;
    return 0;
}
