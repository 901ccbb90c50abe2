! ranks: 1
! link: -fallow-argument-mismatch -w
! records: Allreduce 4 Comm_dup 2 Comm_free 2 Wait 1 Cancel 1 Send 1
! end: finalize
! truth: MPI calls Fortran back: a reduction operation, attribute functions, an error handler, a generalised request; by use mpi
module functions
  use mpi
  implicit none
  integer :: called(8) = 0
contains
  subroutine add(in, inout, length, datatype)
    integer :: length, datatype, in(length), inout(length)
    inout = inout + 2 * in
    called(1) = called(1) + 1
  end subroutine
  subroutine copy(comm, key, extra, in, out, flag, code)
    integer :: comm, key, code
    integer(MPI_ADDRESS_KIND) :: extra, in, out
    logical :: flag
    called(2) = called(2) + 1
    out = in + 1
    flag = .true.
    code = MPI_SUCCESS
  end subroutine
  subroutine forget(comm, key, value, extra, code)
    integer :: comm, key, code
    integer(MPI_ADDRESS_KIND) :: value, extra
    called(3) = called(3) + int(value)
    code = MPI_SUCCESS
  end subroutine
  subroutine handle(comm, code)
    integer :: comm, code
    called(4) = called(4) + 1
  end subroutine
  subroutine query(extra, status, code)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), code
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, code)
    call MPI_Status_set_cancelled(status, .false., code)
    status(MPI_SOURCE) = 1
    status(MPI_TAG) = 2
    called(5) = called(5) + 1
    code = MPI_SUCCESS
  end subroutine
  subroutine release(extra, code)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: code
    called(6) = called(6) + int(extra)
    code = MPI_SUCCESS
  end subroutine
  subroutine cancel(extra, complete, code)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: code
    called(7) = called(7) + 1
    code = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use functions
  implicit none
  integer :: code, rank, i, op, key, handler, comm, other, request, status(MPI_STATUS_SIZE), number, sum
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Op_create(add, .false., op, code)
  do i = 1, 4
    call MPI_Allreduce(rank + i, sum, 1, MPI_INTEGER, op, MPI_COMM_WORLD, code)
  end do
  print *, 'sum', sum
  call MPI_Comm_create_keyval(copy, forget, key, 0_MPI_ADDRESS_KIND, code)
  call MPI_Comm_dup(MPI_COMM_SELF, comm, code)
  call MPI_Comm_set_attr(comm, key, 41_MPI_ADDRESS_KIND, code)
  call MPI_Comm_dup(comm, other, code)
  call MPI_Comm_get_attr(other, key, value, flag, code)
  print *, 'attribute', value, flag
  call MPI_Comm_free(other, code)
  call MPI_Comm_create_errhandler(handle, handler, code)
  call MPI_Comm_set_errhandler(comm, handler, code)
  call MPI_Send(i, 1, MPI_INTEGER, 99, 0, comm, code)
  call MPI_Error_class(code, i, code)
  call MPI_Grequest_start(query, release, cancel, 5_MPI_ADDRESS_KIND, request, code)
  call MPI_Cancel(request, code)
  call MPI_Grequest_complete(request, code)
  call MPI_Wait(request, status, code)
  call MPI_Get_count(status, MPI_INTEGER, number, code)
  print *, 'request', number, status(MPI_SOURCE), status(MPI_TAG), request == MPI_REQUEST_NULL
  call MPI_Comm_free(comm, code)
  print *, 'called', called(2:7), called(1) > 0
  call MPI_Finalize(code)
end program
