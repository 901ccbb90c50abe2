! In each of 20 steps image 1 computes 100 ms, then posts an event that image 2, which computes 25 ms, waits for: load balance 62.5 %.
! Run: caf -O2 -g events.f90 -o events && mpirun -n 2 lb-run ./events
program steps
  use iso_fortran_env
  implicit none
  type(event_type) :: ready[*]
  integer :: step, me
  real(8) :: x
  me = this_image(); x = 0
  do step = 1, 20
     if (me == 1) then
        call work(0.10d0, x)
        event post (ready[2])
     else
        call work(0.025d0, x)
        event wait (ready)
     end if
     sync all
  end do
  if (x < 0) print *, x
contains
  subroutine work(s, x)
    real(8), intent(in) :: s
    real(8), intent(inout) :: x
    real(8) :: t0, t
    call cpu_time(t0)
    do
       x = x + sin(x)
       call cpu_time(t)
       if (t - t0 >= s) exit
    end do
  end subroutine
end program
