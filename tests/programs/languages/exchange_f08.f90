! ranks: 2
! truth: as exchange_c, by use mpi_f08
! without-lines: Barrier Comm_free Finalize
! why: gfortran gives calls with few arguments the line of the program statement, whatever the optimisation
program exchange
  use mpi_f08
  implicit none
  integer :: rank, other, ierror, ints(10)
  double precision :: reals(6), more(6), sums(3)
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: half
  ints = 0
  reals = 0
  sums = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  if (rank == 0) then
    call MPI_Send(ints, 10, MPI_INTEGER, other, 11, MPI_COMM_WORLD, ierror)
  else
    call MPI_Recv(ints, 10, MPI_INTEGER, other, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  call MPI_Irecv(more, 6, MPI_DOUBLE_PRECISION, other, 12, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Isend(reals, 6, MPI_DOUBLE_PRECISION, other, 12, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call MPI_Allreduce(reals, sums, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_Bcast(ints, 7, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, other, half, ierror)
  call MPI_Barrier(half, ierror)
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_MAX, half, ierror)
  call MPI_Recv(more, 6, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, MPI_ANY_TAG, half, MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_free(half, ierror)
  print '(i0,a)', rank, ': done'
  call MPI_Finalize(ierror)
end program
