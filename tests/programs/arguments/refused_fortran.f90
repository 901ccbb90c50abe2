! Wrong arguments through mpif.h and `use mpi`: one wrong argument at a time, with MPI_ERRORS_RETURN. Each line of the output says what
! MPI answered.
!
!     refused_fortran TABLE OUTCOMES FIRST SKIPPED
!
! As refused.c, whose words these are; TABLE is not read. A call that ends the process leaves its line unfinished.
module cases
  implicit none
  integer :: unit, number = 0, first = 0
  logical :: skipped(0:9999) = .false., is_open_mpi = .false.
  character(40) :: what, interface
contains
  logical function next(name)
    character(*), intent(in) :: name
    next = number >= first .and. .not. skipped(number) .and. is_looked_at(name)
    if (next) then
      write (unit, '(i0, 7a)', advance='no') number, ' ', trim(interface), ' ', name, ' ', trim(what), ': '
      flush (unit)
    end if
    number = number + 1
  end function

  ! Whether MPI looks at the wrong argument before it uses it. Where it does not, the call ends the process, and the next one takes long
  ! to start.
  logical function is_looked_at(name)
    character(*), intent(in) :: name
    logical :: reduces
    reduces = index(name, 'educe') > 0 .or. name == 'Scan'
    is_looked_at = .not. (what == 'count -1' .and. reduces)
    if (.not. is_open_mpi) return
    if (index(what, 'communicator') > 0 .and. any(name == [character(9) :: 'Probe', 'Iprobe', 'Allgather', 'Alltoallw'])) &
      is_looked_at = .false.
    if (any(name == [character(9) :: 'Mrecv', 'Imrecv']) .and. what /= 'nothing') is_looked_at = .false.
    if (index(what, 'request') == 1 .and. any(name == [character(9) :: 'Wait', 'Test', 'Start'])) is_looked_at = .false.
    if ((index(what, 'datatype ') == 1 .or. index(what, 'operation ') == 1) .and. reduces) is_looked_at = .false.
  end function
end module

module through_use
  use mpi
  use cases
  implicit none
  integer :: own, window, opened
contains
  subroutine calls(comm, datatype, op, count, peer, tag, root, request, n, win, file, message, data)
    include 'arguments/refused_locals.h'
    include 'arguments/refused_calls.h'
  contains
    include 'arguments/refused_answers.h'
  end subroutine
end module

module through_include
  use through_use, only: own, window, opened
  use cases
  implicit none
  include 'mpif.h'
contains
  subroutine calls_of_include(comm, datatype, op, count, peer, tag, root, request, n, win, file, message, data)
    include 'arguments/refused_locals.h'
    include 'arguments/refused_calls.h'
  contains
    include 'arguments/refused_answers.h'
  end subroutine
end module

program refused
  use through_use
  use through_include, only: calls_of_include
  implicit none
  integer, parameter :: garbage(3) = [-12345, 123456, 305419896]
  integer :: code, i, memory(16), skip
  character(1000) :: word
  character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
  call MPI_Init(code)
  call MPI_Get_library_version(version, i, code)
  is_open_mpi = index(version, 'Open MPI') > 0
  call get_command_argument(2, word)
  open (newunit=unit, file=word, access='stream', form='formatted', position='append')
  call get_command_argument(3, word)
  read (word, *) first
  call get_command_argument(4, word)
  open (newunit=skip, file=word, status='old', iostat=code)
  do while (code == 0)
    read (skip, *, iostat=code) i
    if (code == 0) skipped(i) = .true.
  end do
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, code)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, code)
  call MPI_Comm_dup(MPI_COMM_SELF, own, code)
  call MPI_Win_create(memory, 64_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, own, window, code)
  call MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN, code)
  call MPI_File_open(MPI_COMM_SELF, 'refused.data', MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, opened, code)

  call both('nothing')
  call both('null communicator', comm=MPI_COMM_NULL)
  call both('null datatype', datatype=MPI_DATATYPE_NULL)
  call both('null operation', op=MPI_OP_NULL)
  call both('null window', win=MPI_WIN_NULL)
  call both('null file', file=MPI_FILE_NULL)
  call both('null message', message=MPI_MESSAGE_NULL)
  do i = 1, size(garbage)
    write (word, '(i0)') garbage(i)
    call both('communicator '//word, comm=garbage(i))
    call both('datatype '//word, datatype=garbage(i))
    call both('operation '//word, op=garbage(i))
    call both('request '//word, request=garbage(i))
    call both('window '//word, win=garbage(i))
    call both('file '//word, file=garbage(i))
    call both('message '//word, message=garbage(i))
  end do
  call both('count -1', count=-1)
  call both('n -1', n=-1)
  call both('peer 77', peer=77)
  call both('peer -77', peer=-77)
  call both('tag -7', tag=-7)
  call both('root 77', root=77)
  write (unit, '(a)') 'end'
  flush (unit)
  ! What was refused may have left MPI in any state.
  call MPI_Abort(MPI_COMM_WORLD, 0, code)
contains
  subroutine both(wrong, comm, datatype, op, count, peer, tag, root, request, n, win, file, message)
    character(*), intent(in) :: wrong
    integer, intent(in), optional :: comm, datatype, op, count, peer, tag, root, request, n, win, file, message
    integer :: all(12), data(4)
    data = 1
    what = wrong
    all = [chosen(own, comm), chosen(MPI_INTEGER, datatype), chosen(MPI_SUM, op), chosen(1, count), chosen(MPI_PROC_NULL, peer), &
           chosen(0, tag), chosen(0, root), chosen(MPI_REQUEST_NULL, request), chosen(2, n), chosen(window, win), &
           chosen(opened, file), chosen(MPI_MESSAGE_NO_PROC, message)]
    interface = 'mpi'
    call calls(all(1), all(2), all(3), all(4), all(5), all(6), all(7), all(8), all(9), all(10), all(11), all(12), data)
    interface = 'mpif.h'
    call calls_of_include(all(1), all(2), all(3), all(4), all(5), all(6), all(7), all(8), all(9), all(10), all(11), &
                          all(12), data)
  end subroutine

  integer function chosen(right, wrong)
    integer, intent(in) :: right
    integer, intent(in), optional :: wrong
    chosen = right
    if (present(wrong)) chosen = wrong
  end function
end program
