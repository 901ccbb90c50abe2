/* Another module with the same names. */
#define WHO 2
#include "names_kept_apart.c"
