// truth: each rank ends by kill -9 after 2600 calls; all of them are there, those still in its ring too
#include "../harmless/calls.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    reduce(2600);
    kill(getpid(), SIGKILL);
    return 0;
}
