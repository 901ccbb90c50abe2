// ranks: 2
// compiler: env OMPI_CXX=clang++ MPICH_CXX=clang++ mpicxx
// link: -fopenmp
// env: OMP_CANCELLATION=true
// env: KMP_BLOCKTIME=0
// env: OMP_MAX_ACTIVE_LEVELS=2
// end: finalize
// truth: the same constructs on LLVM's run-time library, which reports to the recorder
#include "openmp_constructs.cpp"
