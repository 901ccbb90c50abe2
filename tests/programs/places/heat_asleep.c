// ranks: 4
// truth: as in heat.c, with a sleep in place of each row.
// headline: main (heat.c
// share: 0.9
#define ASLEEP
#include "heat.c"
