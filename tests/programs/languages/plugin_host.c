// ranks: 2
// compiler: cc
// link: -ldl
// plugin: programs/languages/plugin.c
// records: Allreduce 25
// end: finalize
// truth: the program knows nothing of MPI; a module does that it loads privately
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const char *path = getenv("LBTEST_PLUGIN");
    void *module = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "plugin_run") : 0;
    if (!run) {
        fprintf(stderr, "%s\n", path ? dlerror() : "no LBTEST_PLUGIN");
        return 1;
    }
    printf("%d\n", run());
    return 0;
}
