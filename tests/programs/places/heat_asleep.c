// ranks: 4
// truth: as in heat.c, with a sleep in place of each row.
// headline: in main, from the call of exchange_halo (heat.c
// share: 0.9
#define ASLEEP
#include "heat.c"
