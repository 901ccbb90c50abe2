// ranks: 4
// truth: as in heat.c, without symbols.
// link: -s
// headline: stripped+0x
// problem: NoSymbols
// share: 0.9
#include "heat.c"
