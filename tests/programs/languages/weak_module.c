// ranks: 3
// compiler: cc
// link: -ldl
// plugin: programs/languages/weak_plugin.c
// records: Sendrecv 1
// records: Isend 1
// records: Send_init 1
// records: Allgatherv 1
// records: Iallgatherv 1
// end: finalize
// truth: the same where only a module knows of MPI, which is loaded privately, as Python does, and has its tables read-only
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *path = getenv("LBTEST_PLUGIN");
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "weak_run") : 0;
    if (!run) {
        fprintf(stderr, "%s\n", path ? dlerror() : "no LBTEST_PLUGIN");
        return 1;
    }
    return run();
}
