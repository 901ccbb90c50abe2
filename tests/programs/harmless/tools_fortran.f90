! ranks: 2
! tool: programs/harmless/chaining_tool.c programs/harmless/profiling_tool.c
! records: Allreduce 50
! end: finalize
! truth: tools that wrap functions of C see those of a program in Fortran where MPI's own Fortran functions call them
program tools
    use mpi
    implicit none
    integer :: i, ierror, sum, one = 1
    call MPI_Init(ierror)
    do i = 1, 50
        call MPI_Allreduce(one, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    end do
    print *, sum
    call MPI_Finalize(ierror)
end program
