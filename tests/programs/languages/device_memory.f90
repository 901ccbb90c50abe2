! ranks: 1
! records: Allgather 1
! records: Alltoall 1
! truth: buffers that the processor cannot read, as those of a device are: their addresses are passed on, never looked behind.
! truth: Nothing is sent, lest an MPI that knows no device read them
program device_memory
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  interface
    type(c_ptr) function mmap(address, length, protection, flags, file, offset) bind(C)
      import
      type(c_ptr), value :: address
      integer(c_size_t), value :: length
      integer(c_int), value :: protection, flags, file
      integer(c_long), value :: offset
    end function
  end interface
  external :: MPI_Allgather, MPI_Alltoall
  integer, pointer :: buffer(:)
  integer :: ierror
  ! PROT_NONE; MAP_PRIVATE and MAP_ANONYMOUS.
  call c_f_pointer(mmap(c_null_ptr, 4096_c_size_t, 0, 34, -1, 0_c_long), buffer, [16])
  call MPI_Init(ierror)
  call MPI_Allgather(buffer, 0, MPI_INTEGER, buffer, 0, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call MPI_Alltoall(buffer, 0, MPI_INTEGER, buffer, 0, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  print '(a)', 'done'
  call MPI_Finalize(ierror)
end program
