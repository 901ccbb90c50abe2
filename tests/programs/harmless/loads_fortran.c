/* A module that also loads MPI's library of Fortran functions, privately. */
#include <dlfcn.h>
#include "../languages/plugin.c"

static void __attribute__((constructor)) load(void)
{
#ifdef OPEN_MPI
    dlopen("libmpi_mpifh.so.40", RTLD_NOW | RTLD_LOCAL);
#else
    dlopen("libmpichfort.so.12", RTLD_NOW | RTLD_LOCAL);
#endif
}
