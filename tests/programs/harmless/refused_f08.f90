! ranks: 2
! records: Send 5 Recv 1 Allreduce 503 Comm_free 2
! end: finalize
! truth: wrong arguments, the standard's special addresses, and absent ierror by use mpi_f08: MPI's answers as without the recorder
program refused
  use mpi_f08
  implicit none
  type(MPI_Comm) :: own
  type(MPI_Request) :: request, requests(2)
  type(MPI_Datatype) :: absolute
  integer :: code, rank, i, data(4), other(4), counts(2), displacements(2)
  integer(MPI_ADDRESS_KIND) :: address
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  call MPI_Comm_dup(MPI_COMM_SELF, own)
  call MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN)
  data = rank
  ! Refused, with and without ierror.
  call MPI_Send(data, 1, MPI_INTEGER, 99, 0, own, code)
  call say('rank', code)
  call MPI_Send(data, -1, MPI_INTEGER, 0, 0, own, code)
  call say('count', code)
  call MPI_Send(data, 1, MPI_INTEGER, 0, -7, own)
  call MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, own, code)
  call say('datatype', code)
  call MPI_Bcast(data, 1, MPI_INTEGER, 5, own, code)
  call say('root', code)
  call MPI_Barrier(MPI_COMM_NULL, code)
  call say('communicator', code)
  call MPI_Reduce(data, other, 1, MPI_INTEGER, MPI_OP_NULL, 0, own, code)
  call say('operation', code)
  call MPI_Irecv(data, 1, MPI_INTEGER, 77, 0, own, request, code)
  call say('source', code)
  ! Handles that are null.
  request = MPI_REQUEST_NULL
  requests = MPI_REQUEST_NULL
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call MPI_Test(request, flag, MPI_STATUS_IGNORE)
  call MPI_Waitany(2, requests, i, MPI_STATUS_IGNORE)
  call MPI_Request_free(request, code)
  call say('free of no request', code)
  call MPI_Start(request, code)
  call say('start of no request', code)
  ! Special addresses: all is where the standard says.
  call MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  print *, 'in place', data(1)
  counts = 1
  displacements = [0, 1]
  data(1:2) = rank
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, displacements, MPI_INTEGER, MPI_COMM_WORLD)
  print *, 'gathered', data(1:2)
  call MPI_Get_address(data, address)
  call MPI_Type_create_hindexed_block(1, 1, [address], MPI_INTEGER, absolute)
  call MPI_Type_commit(absolute)
  data(1) = 17 + rank
  call MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
  call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD)
  print *, 'bottom', data(1)
  call MPI_Isend(MPI_BOTTOM, 1, absolute, 0, 3, own, request)
  call MPI_Recv(other, 1, MPI_INTEGER, 0, 3, own, MPI_STATUS_IGNORE)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  print *, 'received', other(1)
  call MPI_Type_free(absolute)
  call MPI_Send(data, 1, MPI_INTEGER, MPI_PROC_NULL, 0, own)
  do i = 1, 501
    call MPI_Allreduce(rank, other, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end do
  print *, 'sum', other(1)
  call MPI_Comm_free(own)
  call MPI_Comm_free(own, code)
  call say('free of no communicator', code)
  call MPI_Finalize()
contains
  subroutine say(what, code)
    character(*), intent(in) :: what
    integer, intent(in) :: code
    integer :: class
    call MPI_Error_class(code, class)
    print *, what, class
  end subroutine
end program
