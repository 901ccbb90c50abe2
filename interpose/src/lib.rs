//! liblbprof.so: preloaded into an MPI program, it records the program's MPI calls.
//!
//! One library serves Open MPI, MPICH and its kin, and the MPI-5 standard ABI: it is built without any MPI, takes every
//! argument as a register-wide word, and finds out at run time whose handles these are. The modules, in the order in which to read them:
//!
//! | module | what it does |
//! |---|---|
//! | `wrappers` | the wrappers of all functions in calls.table, C and Fortran |
//! | `thread` | a thread's state; the hot path: reserve a slot, fill it, store the end |
//! | `verbs` | what is recorded of a call, by its row's verb |
//! | `lang`, `abi` | how an argument is read; what differs between MPIs |
//! | `forward`, `bypass` | finding the function to forward to; calls that other tools keep from here |
//! | `requests`, `comms`, `topology`, `groups`, `datatypes`, `objects` | handles → what is known of them |
//! | `special`, `lifecycle` | Init, Finalize, Abort …; when recording starts and stops |
//! | `agreement`, `place` | the ranks agree on the folder of the run; finding and making it |
//! | `job`, `peers`, `hosts` | what names the job; which of its ranks run the library, on this host and on all |
//! | `offsets` | this rank's clock against rank 0's |
//! | `phases` | phase markers |
//! | `flush`, `log`, `file`, `callsite` | a full ring → blocks of the rank's log |
//! | `sandbox` | whether the program has put itself under a system call filter |
//! | `signals`, `faults` | sections and locks that no handler interrupts; rings whose file was cut short |
//! | `settings`, `launcher`, `process`, `clock`, `guard`, `memory` | the environment; what it tells of the job; the process; time; no panic leaves, problems told once; memory runs out |

mod abi;
mod agreement;
mod bypass;
mod callsite;
mod clock;
mod comms;
mod datatypes;
mod exit_status;
mod faults;
mod file;
mod finalize;
mod flush;
mod forward;
mod groups;
mod guard;
mod hosts;
mod job;
mod lang;
mod launcher;
mod lifecycle;
mod log;
mod memory;
mod nesting;
mod objects;
mod offsets;
mod peers;
mod phases;
mod place;
mod process;
mod requests;
mod sandbox;
mod settings;
mod signals;
mod special;
mod thread;
mod topology;
mod verbs;
mod wrappers;
