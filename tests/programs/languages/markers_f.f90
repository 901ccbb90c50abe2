! ranks: 2
! problems: Paused
! maybe: UnevenPause
! with: interpose/fortran/lbprof.f90
! truth: as markers_c, by the Fortran module
program marked
  use mpi
  use lbprof
  implicit none
  integer :: rank, i, ierror
  call lbprof_param('before MPI', 0.5)
  call lbprof_phase_begin('all')
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call lbprof_param('n', 42)
  call lbprof_phase_begin('setup   ', lbprof_serial)
  call lbprof_phase_end('setup')
  do i = 0, 2
    call lbprof_iteration_begin('step')
    call lbprof_phase_begin('force')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call lbprof_work(100d0 * i, 10d0)
    call lbprof_count('pairs', 1.5d0 * i + rank)
    call lbprof_phase_end('force')
    call lbprof_phase_begin('balance', lbprof_control)
    call lbprof_record(.false.)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call lbprof_record(.true.)
    call lbprof_phase_end('balance')
    call lbprof_iteration_end('step')
  end do
  call lbprof_count('pairs', -1)
  call lbprof_phase_end('all')
  print '(i0,a)', rank, ': done'
  call MPI_Finalize(ierror)
  call lbprof_phase_begin('after MPI')
  call lbprof_phase_end('after MPI')
end program
