// ranks: 1
// compiler: cc
// link: -ldl
// tool: programs/harmless/counts_questions.c
// plugin: programs/harmless/loads_fortran.c
// records: Allreduce 25
// end: finalize
// truth: MPI's libraries in C and Fortran are loaded privately, as GPAW does: the recorder reads their tables rather than ask the loader about each of their thousand names
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    void *module = dlopen(getenv("LBTEST_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "plugin_run") : 0;
    int (*is_many)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "is_many");
    if (!run || !is_many)
        return 9;
    printf("%d", run());
    printf(", %s questions\n", is_many() ? "many" : "few");
    return 0;
}
