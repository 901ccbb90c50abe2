! ranks: 2
! mpi: openmpi
! with: tests/programs/harmless/profiling_tool.c
! records: Barrier 0 Bcast 3 Allreduce 50
! end: finalize
! stderr: 1
! problems: WrappedBefore
! times: WrappedBefore 4
! truth: the program has wrappers of its own, of MPI_Barrier in Fortran and of MPI_Allreduce in C: they are called as without the recorder,
! truth: which names both (on 2 ranks); calls of MPI_Allreduce in Fortran are recorded, because a wrapper in C does not come before MPI's own
! truth: functions of Fortran
include 'harmless/own_wrappers_fortran.h'
