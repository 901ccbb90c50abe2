! ranks: 2
! mpi: openmpi
! link: -fno-underscoring -fallow-argument-mismatch -w
! truth: as exchange_c, by mpif.h of a compiler that adds nothing to names: mpi_send
! why: MPICH's mpif.h finds its constants only under the names that it was built for
include 'exchange_mpif.f90'
