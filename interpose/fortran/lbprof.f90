!> Phase markers for Fortran programs. Compile this file with the program and mark:
!>
!>     use lbprof
!>     call lbprof_iteration_begin('step')
!>     call lbprof_phase_begin('force')
!>     ...
!>     call lbprof_work(20d0 * n_pairs, dble(n_pairs))
!>     call lbprof_phase_end('force')
!>     call lbprof_iteration_end('step')
!>
!> No library has to be linked (before glibc 2.34: -ldl, which MPI mostly brings along). Where the program is not recorded,
!> each marker is a call that returns at once. Trailing blanks of names do not count. Markers may be called from any
!> thread, before MPI_Init and after MPI_Finalize. docs/markers.md tells what they mean in a report.
!>
!> SPDX-License-Identifier: MIT OR Apache-2.0
module lbprof
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_f_procpointer, c_funptr, c_int, c_null_char, &
    c_null_funptr, c_null_ptr, c_ptr, c_size_t, c_associated
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private

  public :: lbprof_phase_begin, lbprof_phase_end, lbprof_iteration_begin, lbprof_iteration_end
  public :: lbprof_work, lbprof_count, lbprof_param, lbprof_record

  !> What a phase's time is: useful work (the default), control of parallelism, work that only one rank can do.
  integer(c_int), parameter, public :: lbprof_useful = 0, lbprof_control = 1, lbprof_serial = 2

  !> A value of a counter in the innermost open phase: lbprof_count(name, value), of any usual kind of number.
  interface lbprof_count
    module procedure count_real64, count_real32, count_int32, count_int64
  end interface

  !> A parameter of the run: lbprof_param(name, value).
  interface lbprof_param
    module procedure param_real64, param_real32, param_int32, param_int64
  end interface

  !> The recorder's functions, as struct lbprof_api of lbprof.h has them.
  type, bind(c) :: functions
    integer(c_size_t) :: size
    type(c_funptr) :: phase_begin, phase_end, iteration_begin, iteration_end, work, count, param, record
  end type

  abstract interface
    subroutine with_name(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine with_kind(name, kind) bind(c)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: kind
    end subroutine
    subroutine with_value(name, value) bind(c)
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
    end subroutine
    subroutine with_amounts(operations, quanta) bind(c)
      import :: c_double
      real(c_double), value :: operations, quanta
    end subroutine
    subroutine with_switch(on) bind(c)
      import :: c_int
      integer(c_int), value :: on
    end subroutine
    function entry_point(version) bind(c) result(found)
      import :: c_int, c_ptr
      integer(c_int), value :: version
      type(c_ptr) :: found
    end function
  end interface

  interface
    function dlsym(scope, name) bind(c, name='dlsym') result(found)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: scope
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

  procedure(with_kind), pointer, save :: phase_begin => null()
  procedure(with_name), pointer, save :: phase_end => null(), iteration_begin => null(), iteration_end => null()
  procedure(with_amounts), pointer, save :: work => null()
  procedure(with_value), pointer, save :: count => null(), param => null()
  procedure(with_switch), pointer, save :: record => null()

  !> 0: not looked for yet; 1: the functions above are there; -1: the recorder is not in the process. Set after them;
  !> threads that look at once all store the same.
  integer, save, volatile :: state = 0

contains

  !> A phase begins, of kind lbprof_useful unless given.
  subroutine lbprof_phase_begin(name, kind)
    character(len=*), intent(in) :: name
    integer(c_int), intent(in), optional :: kind
    integer(c_int) :: its_kind
    if (absent()) return
    its_kind = lbprof_useful
    if (present(kind)) its_kind = kind
    call phase_begin(trim(name)//c_null_char, its_kind)
  end subroutine

  !> The innermost phase of this name ends; phases still open inside it end with it.
  subroutine lbprof_phase_end(name)
    character(len=*), intent(in) :: name
    if (absent()) return
    call phase_end(trim(name)//c_null_char)
  end subroutine

  !> The next invocation of an iterated phase begins.
  subroutine lbprof_iteration_begin(name)
    character(len=*), intent(in) :: name
    if (absent()) return
    call iteration_begin(trim(name)//c_null_char)
  end subroutine

  !> It ends.
  subroutine lbprof_iteration_end(name)
    character(len=*), intent(in) :: name
    if (absent()) return
    call iteration_end(trim(name)//c_null_char)
  end subroutine

  !> Work done in the innermost open phase: operations, and the quanta of data that they worked on.
  subroutine lbprof_work(operations, quanta)
    real(real64), intent(in) :: operations, quanta
    if (absent()) return
    call work(operations, quanta)
  end subroutine

  !> Recording of this thread stops (.false.) or goes on (.true.).
  subroutine lbprof_record(on)
    logical, intent(in) :: on
    if (absent()) return
    call record(merge(1_c_int, 0_c_int, on))
  end subroutine

  subroutine count_real64(name, value)
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    if (absent()) return
    call count(trim(name)//c_null_char, value)
  end subroutine

  subroutine count_real32(name, value)
    character(len=*), intent(in) :: name
    real(real32), intent(in) :: value
    call count_real64(name, real(value, real64))
  end subroutine

  subroutine count_int32(name, value)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: value
    call count_real64(name, real(value, real64))
  end subroutine

  subroutine count_int64(name, value)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: value
    call count_real64(name, real(value, real64))
  end subroutine

  subroutine param_real64(name, value)
    character(len=*), intent(in) :: name
    real(real64), intent(in) :: value
    if (absent()) return
    call param(trim(name)//c_null_char, value)
  end subroutine

  subroutine param_real32(name, value)
    character(len=*), intent(in) :: name
    real(real32), intent(in) :: value
    call param_real64(name, real(value, real64))
  end subroutine

  subroutine param_int32(name, value)
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: value
    call param_real64(name, real(value, real64))
  end subroutine

  subroutine param_int64(name, value)
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: value
    call param_real64(name, real(value, real64))
  end subroutine

  !> Whether the recorder is not in the process.
  logical function absent()
    if (state == 0) call find()
    absent = state < 0
  end function

  subroutine find()
    type(c_funptr) :: address
    type(c_ptr) :: found
    type(functions), pointer :: them
    procedure(entry_point), pointer :: entry

    ! RTLD_DEFAULT is the null pointer in all C libraries of Linux.
    address = dlsym(c_null_ptr, 'lbprof_api'//c_null_char)
    found = c_null_ptr
    if (c_associated(address)) then
      call c_f_procpointer(address, entry)
      found = entry(1_c_int)
    end if
    if (.not. c_associated(found)) then
      state = -1
      return
    end if
    call c_f_pointer(found, them)
    call c_f_procpointer(them%phase_begin, phase_begin)
    call c_f_procpointer(them%phase_end, phase_end)
    call c_f_procpointer(them%iteration_begin, iteration_begin)
    call c_f_procpointer(them%iteration_end, iteration_end)
    call c_f_procpointer(them%work, work)
    call c_f_procpointer(them%count, count)
    call c_f_procpointer(them%param, param)
    call c_f_procpointer(them%record, record)
    state = 1
  end subroutine

end module
