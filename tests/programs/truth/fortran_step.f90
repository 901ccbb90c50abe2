! A library of paths_fortran.c: a module's procedures, which call MPI through one of their own.
module stepping
    use, intrinsic :: iso_c_binding
    implicit none
    include 'mpif.h'
    abstract interface
        subroutine computing(ms, most_ms) bind(c)
            import :: c_double
            real(c_double), value :: ms, most_ms
        end subroutine
    end interface
contains
    subroutine exchange(rank, ranks)
        integer, intent(in) :: rank, ranks
        integer :: theirs, code, status(MPI_STATUS_SIZE)
        call MPI_Sendrecv(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 1, theirs, 1, MPI_INTEGER, &
                          mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, status, code)
        call MPI_Barrier(MPI_COMM_WORLD, code)
    end subroutine

    subroutine step(compute, rank) bind(c)
        type(c_funptr), value :: compute
        integer(c_int), value :: rank
        procedure(computing), pointer :: run
        integer :: ranks, code
        call c_f_procpointer(compute, run)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
        call run(10.0_c_double, 10.0_c_double)
        call exchange(rank, ranks)
        call run(merge(30.0_c_double, 10.0_c_double, rank == 1), 30.0_c_double)
        call exchange(rank, ranks)
        call run(0.0_c_double, 0.0_c_double)
    end subroutine
end module
