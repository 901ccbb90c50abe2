// ranks: 4
// truth: as in heat.c, with unmapped pages between the program's segments, as some linkers leave them.
// link: -Wl,-Tdata=0x800000
// headline: update_interior (heat.c
// share: 0.9
#include "heat.c"
