//! Finds the frames of a call path that belong to the program.
//!
//! Start-up code, the C, C++, Fortran, OpenMP and Rust run-times, MPI libraries and their bindings call the program, or are called by it on
//! the way to MPI. Their frames do not describe the program.

use super::code_place::{CodePlace, SourcePosition, base_name};

/// Names of run-time libraries, and of libraries with which MPI moves messages and starts ranks, up to `.so` or a `-` with a version.
const LIBRARIES: &str = "ld-linux-x86-64 ld-musl-x86_64 libasan libc libc++ libc++abi libevent_core libevent_pthreads libfabric \
    libgcc_s libgfortran libgomp libifcore libifcoremt libintlc libiomp5 libm libmpi libmpi_cxx libmpi_mpifh \
    libmpi_usempi_ignore_tkr libmpi_usempif08 libmpich libmpichcxx libmpichfort libmpicxx libmpifort libomp \
    libopen-pal libopen-rte libpmix libpsm2 libpthread libstdc++ libucm libucp libucs libuct";

/// Names of interpreters' programs and libraries, up to a version.
const INTERPRETERS: [&str; 7] = ["libpython", "libR.so", "liblua", "lua5", "libperl", "liboctinterp", "python"];

/// Functions that are linked into programs and start them.
const STARTING: [&str; 4] = ["_start", "__libc_start_main", "__libc_start_call_main", "__libc_csu_init"];

/// Prefixes of functions in the run-time libraries of C++ and Rust.
const OF_LANGUAGES: [&str; 4] = ["std::", "core::ops::function::", "<F as core::ops::", "__rust_"];

/// Returns whether a frame belongs to a run-time, by its library or function.
pub(super) fn is_runtime(place: &CodePlace) -> bool {
    let is_library = place.module.as_deref().is_some_and(is_runtime_library);
    let function = place.function_label();
    is_library
        || is_interpreter(place)
        || STARTING.contains(&function)
        || OF_LANGUAGES.iter().any(|part| function.starts_with(part))
}

/// Returns whether a file is the library of a run-time, by its name.
pub(super) fn is_runtime_library(module: &str) -> bool {
    let name = base_name(module);
    let name = name.split_once(".so").map_or(name, |(name, _)| name);
    // libc-2.31, libpthread-2.31
    let name = name.split_once("-2.").map_or(name, |(name, _)| name);
    LIBRARIES.split(' ').any(|library| library == name)
}

/// Returns whether a file is a run-time library that runs a program's threads: OpenMP of GNU, LLVM and Intel, or TBB. Packages of Python append
/// a checksum to its name. Threads in its code wait, or look for work.
pub fn is_thread_runtime(module: &str) -> bool {
    const NAMES: [&str; 4] = ["libgomp", "libomp", "libiomp5", "libtbb"];
    let name = base_name(module);
    NAMES.iter().any(|runtime| name.strip_prefix(runtime).is_some_and(|rest| rest.starts_with(['.', '-'])))
}

/// Returns whether a frame belongs to an interpreter: then the calling function of a script is not known.
pub(super) fn is_interpreter(place: &CodePlace) -> bool {
    place.module.as_deref().is_some_and(is_interpreter_file)
}

pub(super) fn is_interpreter_file(module: &str) -> bool {
    INTERPRETERS.iter().any(|name| base_name(module).starts_with(name))
}

pub(super) fn is_mpi_library(module: &str) -> bool {
    base_name(module).starts_with("libmpi")
}

/// Returns whether a frame hands a script's call on to MPI: the modules of mpi4py and Rmpi, and functions made by Cython.
pub(super) fn is_binding(place: &CodePlace) -> bool {
    const MODULES: [&str; 4] = ["mpi4py", "MPI.cpython-", "MPI.abi3.", "Rmpi."];
    const OF_CYTHON: [&str; 2] = ["__pyx_", "__Pyx_"];
    let module = place.module.as_deref();
    module.is_some_and(|module| {
        module.contains("/mpi4py/") || MODULES.iter().any(|name| base_name(module).starts_with(name))
    }) || OF_CYTHON.iter().any(|part| place.function_label().starts_with(part))
}

/// Returns whether a file of a script belongs to Python's own library or to mpi4py.
pub(super) fn is_python_library(file: &str) -> bool {
    let is_of_python = file.contains("/lib/python3") && !file.contains("-packages/");
    is_of_python || file.starts_with("<frozen ") || file.contains("/mpi4py/")
}

/// Returns whether a source file belongs to a library or a compiler: MPI's inline C++ bindings, Rust crates, system headers.
pub(super) fn is_system_file(file: &str) -> bool {
    const PARTS: [&str; 6] =
        ["/usr/include/", "/usr/lib/", "/include/openmpi/", "/rustc/", "/.cargo/registry/", "/.rustup/toolchains/"];
    PARTS.iter().any(|part| file.contains(part))
}

/// Returns the program's own source frames at a return address, the innermost first, with their columns.
pub(super) fn own_frames(place: &CodePlace, position: &SourcePosition) -> Vec<(CodePlace, Option<u32>)> {
    if position.is_empty() {
        return if is_own(place) { vec![(place.clone(), None)] } else { Vec::new() };
    }
    let own = position.iter().filter(|(frame, _)| is_own(frame));
    own.map(|(frame, column)| {
        let frame = CodePlace { module: place.module.clone(), offset: place.offset, ..frame.clone() };
        (frame, *column)
    })
    .collect()
}

fn is_own(frame: &CodePlace) -> bool {
    !frame.file.as_deref().is_some_and(is_system_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(module: &str, function: &str) -> CodePlace {
        CodePlace { module: Some(module.into()), function: Some(function.into()), ..CodePlace::default() }
    }

    #[test]
    fn frames_of_run_times_are_not_the_programs() {
        for (module, function) in [
            ("/lib/x86_64-linux-gnu/libc.so.6", "__libc_start_call_main"),
            ("/lib/libpthread-2.31.so", "start_thread"),
            ("/usr/lib/libmpi_mpifh.so.40", "mpi_init_"),
            ("/usr/lib/libgomp.so.1.0.0", ""),
            ("/usr/lib/libevent_core-2.1.so.7", ""),
            ("/usr/lib/libucs.so.0", "ucs_async_thread_func"),
            ("/usr/lib/libstdc++.so.6", "std::for_each"),
            ("/usr/bin/python3.11", "_PyEval_EvalFrameDefault"),
            ("/usr/lib/libpython3.12.so.1.0", ""),
            ("/home/u/app", "_start"),
            ("/home/u/app", "std::rt::lang_start::{{closure}}"),
        ] {
            assert!(is_runtime(&at(module, function)), "{module} {function}");
        }
        for (module, function) in [
            ("/home/u/app", "main"),
            ("/usr/lib/libcomm.so", "f"),
            ("/usr/lib/libmpiwrap.so", "f"),
            ("/usr/lib/liblammps.so.0", ""),
        ] {
            assert!(!is_runtime(&at(module, function)), "{module} {function}");
        }
    }

    #[test]
    fn threads_wait_in_the_libraries_that_run_them() {
        for module in
            ["/usr/lib/libgomp.so.1.0.0", "libgomp-a34b3233.so.1", "/opt/libomp.so.5", "libiomp5.so", "libtbb.so.12"]
        {
            assert!(is_thread_runtime(module), "{module}");
        }
        for module in ["/home/u/libgompy.so", "/home/libgomp/app", "libtbbmalloc.so.2", "libc.so.6"] {
            assert!(!is_thread_runtime(module), "{module}");
        }
    }

    #[test]
    fn inline_code_of_libraries_is_not_the_users() {
        assert!(is_system_file("/usr/lib/x86_64-linux-gnu/openmpi/include/openmpi/ompi/mpi/cxx/comm_inln.h"));
        assert!(is_system_file("/rustc/0123/library/core/src/ops/function.rs"));
        assert!(is_system_file("/home/u/.cargo/registry/src/index/mpi-0.8.0/src/point_to_point.rs"));
        assert!(!is_system_file("/home/u/app/src/main.rs"));
        assert!(!is_system_file("lj.c"));
    }
}
