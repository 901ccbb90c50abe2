# find_package(lbprof): phase markers for MPI programs.
#
#   lbprof::lbprof              the header lbprof.h for C and C++; nothing is linked but, before glibc 2.34, libdl
#   lbprof_FORTRAN_SOURCES      the module lbprof, to be compiled with the program: target_sources(app PRIVATE ${lbprof_FORTRAN_SOURCES})
#   lbprof_PYTHON_DIR           folder of the Python module, for PYTHONPATH
#   lbprof_LB_RUN, lbprof_LB_REPORT, lbprof_LIBRARY   the launcher, the analyzer, the library that lb-run preloads
#
# Paths are relative to this file, so that the folder can be moved as a whole. No find_* command is used: cross-compiling
# does not turn the paths away.
get_filename_component(lbprof_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(lbprof_INCLUDE_DIR "${lbprof_PREFIX}/include")
set(lbprof_LIBRARY "${lbprof_PREFIX}/lib/liblbprof.so")
set(lbprof_LB_RUN "${lbprof_PREFIX}/bin/lb-run")
set(lbprof_LB_REPORT "${lbprof_PREFIX}/bin/lb-report")
set(lbprof_FORTRAN_SOURCES "${lbprof_PREFIX}/share/lbprof/fortran/lbprof.f90")
set(lbprof_PYTHON_DIR "${lbprof_PREFIX}/share/lbprof/python")

foreach(lbprof_file lbprof_LIBRARY lbprof_LB_RUN lbprof_LB_REPORT lbprof_FORTRAN_SOURCES)
  if(NOT EXISTS "${${lbprof_file}}")
    set(lbprof_FOUND FALSE)
    set(lbprof_NOT_FOUND_MESSAGE "${${lbprof_file}} is not there: install lbprof as a whole")
  endif()
endforeach()
unset(lbprof_file)

if(NOT TARGET lbprof::lbprof)
  add_library(lbprof::lbprof INTERFACE IMPORTED)
  set_target_properties(lbprof::lbprof PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${lbprof_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")
endif()
