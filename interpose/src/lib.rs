//! liblbprof.so: preloaded into an MPI program, it records the program's MPI calls.
//!
//! One library serves Open MPI, MPICH and its kin, and the MPI-5 standard ABI: it is built without any MPI, takes every
//! argument as a register-wide word, and finds out at run time whose handles these are. The modules, in the order in which to read them:
//!
//! | module | what it does |
//! |---|---|
//! | `wrappers` | the wrappers of all functions in calls.table, C and Fortran |
//! | `recording` | a thread's state and the hot path: reserve a slot, fill it, store the end; a full ring |
//! | `verbs` | what is recorded of a call, by its row's verb |
//! | `mpi` | how an argument is read; what differs between MPIs |
//! | `forward` | finding the function to forward to; calls that other tools keep from here |
//! | `handles` | handles → what is known of them |
//! | `lifecycle` | Init, Finalize, Abort …; when recording starts and stops |
//! | `run` | settings, job, ranks, the folder that they agree on, clocks |
//! | `markers` | phase markers |
//! | `log` | blocks of the rank's log |
//! | `harmless` | no panic leaves, memory runs out, sections that no handler interrupts |
//! | `system` | time, the process, system call filters, rings whose file was cut short |

mod forward;
mod handles;
mod harmless;
mod lifecycle;
mod log;
mod markers;
mod mpi;
mod recording;
mod run;
mod state;
mod system;
mod verbs;
mod word;
mod wrappers;
