! ranks: 2
! mpi: mpich
! records: Barrier 3 Bcast 3 Allreduce 50
! end: finalize
! truth: the program has a wrapper of MPI_Barrier of its own, in Fortran: the function of MPICH that it calls calls that of C, which is
! truth: recorded, so that nothing is to be said
include 'harmless/own_wrappers_fortran.h'
