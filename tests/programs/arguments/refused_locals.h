! What the calls of refused_calls.h are given, and what they leave.
    integer, intent(in) :: comm, datatype, op, count, peer, tag, root, request, n, win, file, message
    integer, intent(inout) :: data(*)
    integer :: code, i, made, new, wrong, got, other(16), status(MPI_STATUS_SIZE)
    integer :: counts(2), zeros(2), datatypes(2), requests(2), at(2)
    logical :: flag
    other = 0
    zeros = 0
