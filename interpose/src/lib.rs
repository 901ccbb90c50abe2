//! liblbprof.so: preloaded into an MPI program, it records the program's MPI calls.
//!
//! One library serves Open MPI, MPICH and its kin, and the MPI-5 standard ABI: it is built without any MPI, takes every
//! argument as a register-wide word, and finds out at run time whose handles these are. The modules; each uses only those above it:
//!
//! | module | what it holds |
//! |---|---|
//! | `machine` | a register-wide argument; the processor: entries of wrappers, registers, its counter of time; the operating system: time, descriptors, facts of the process, system call filters, faults of a ring's pages; call paths, from the words on the stack |
//! | `mpi` | the MPI library of the process: its functions, its binary interface, how arguments are read |
//! | `state` | plain data: each thread's state, whether the process records |
//! | `harmless` | no panic leaves, memory may run out, a handler may come at any instant |
//! | `run` | settings, job, ranks, the folder that they agree on, clocks |
//! | `log` | the rank's log |
//! | `sampling` | where threads execute, a few hundred times a second |
//! | `recording` | a thread's records, from the slot of a call to the log |
//! | `handles` | what is known of the objects that MPI's handles stand for |
//! | `forward` | the function that each wrapper calls; calls that other tools keep from here |
//! | `sources` | what is recorded of a thread's time, each source by itself: MPI, the threads of OpenMP's parallel regions, marked phases and pauses |
//! | `lifecycle` | when recording starts and stops |
//! | `calls` | the functions that the program calls, made from calls.table, and what is recorded of each, by its row's verb |

#![cfg_attr(test, allow(dead_code, unused_imports, unused_macros, reason = "without the wrappers"))]

mod calls;
mod forward;
mod handles;
mod harmless;
mod lifecycle;
mod log;
mod machine;
mod mpi;
mod recording;
mod run;
mod sampling;
mod sources;
mod state;
