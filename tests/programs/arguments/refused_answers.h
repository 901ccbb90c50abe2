! What refused_calls.h does with MPI's answers.
    subroutine outcome(code)
      integer, intent(in) :: code
      integer :: class, ignored
      class = -1
      call MPI_Error_class(code, class, ignored)
      write (unit, '(a, i0)') 'class ', class
      flush (unit)
    end subroutine

    ! Of a call that makes a request.
    subroutine finish(code)
      integer, intent(in) :: code
      integer :: ignored
      call outcome(code)
      if (code == MPI_SUCCESS .and. made /= MPI_REQUEST_NULL) call MPI_Wait(made, MPI_STATUS_IGNORE, ignored)
      if (code == MPI_SUCCESS .and. made /= MPI_REQUEST_NULL) call MPI_Request_free(made, ignored)
      made = MPI_REQUEST_NULL
    end subroutine

    ! Of a call that makes a communicator.
    subroutine leave(code)
      integer, intent(in) :: code
      integer :: ignored
      call outcome(code)
      if (code == MPI_SUCCESS .and. new /= MPI_COMM_NULL) call MPI_Comm_free(new, ignored)
      new = MPI_COMM_NULL
    end subroutine
