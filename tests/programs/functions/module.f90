! ranks: 2
! truth: rank 0 computes longer in a procedure of a module
! slow: 0 grid::advance
module grid
    implicit none
    double precision :: advance_s = 0, boundary_s = 0
contains
    subroutine advance(ms)
        double precision, intent(in) :: ms
        double precision, volatile :: x
        double precision :: from, now
        integer :: i
        x = 1
        call cpu_time(from)
        now = from
        do while (now < from + 1d-3 * ms)
            do i = 1, 20000
                x = x * 1.0000001d0 + 1d-9
            end do
            call cpu_time(now)
        end do
        advance_s = advance_s + now - from
    end subroutine

    subroutine boundary(ms)
        double precision, intent(in) :: ms
        double precision, volatile :: x
        double precision :: from, now
        integer :: i
        x = 1
        call cpu_time(from)
        now = from
        do while (now < from + 1d-3 * ms)
            do i = 1, 20000
                x = x * 1.0000001d0 + 1d-9
            end do
            call cpu_time(now)
        end do
        boundary_s = boundary_s + now - from
    end subroutine
end module

program main
    use mpi
    use grid
    implicit none
    integer :: rank, step, error
    character(len=4096) :: path, file
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    do step = 1, 40
        call advance(merge(12d0, 4d0, rank == 0))
        call boundary(3d0)
        call MPI_Barrier(MPI_COMM_WORLD, error)
    end do
    call get_environment_variable("LBTEST_TRUTH", path)
    write (file, '(a, ".", i0)') trim(path), rank
    open (unit=7, file=trim(file))
    write (7, '(a, f10.6)') "grid::advance ", advance_s, "grid::boundary ", boundary_s
    close (7)
    call MPI_Finalize(error)
end program
