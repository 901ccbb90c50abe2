! A program with a wrapper of MPI_Barrier of its own.
subroutine MPI_Barrier(comm, ierror)
    implicit none
    integer :: comm, ierror, wrapped = 0
    save :: wrapped
    wrapped = wrapped + 1
    print *, 'wrapped', wrapped
    call PMPI_Barrier(comm, ierror)
end subroutine

program own_wrappers
    implicit none
    include 'mpif.h'
    integer :: i, ierror, sum, one = 1
    call MPI_Init(ierror)
    do i = 1, 50
        call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    end do
    do i = 1, 3
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        call MPI_Bcast(sum, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    end do
    print *, sum
    call MPI_Finalize(ierror)
end program
