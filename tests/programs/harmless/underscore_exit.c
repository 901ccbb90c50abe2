// ranks: 1
// records: Allreduce 3000
// end: null
// problems: NotClosed
// truth: _exit runs nothing at all; all records are there
#include "calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(3000);
    _exit(4);
}
