//! Records, logs and their reader: what the recording library writes and the analyzer reads.
//!
//! This crate knows no MPI handle, no statistics and no terminal. The modules, in the order in which to read them:
//!
//! | module | what it holds |
//! |---|---|
//! | [`operation`] | the table of operations and activities: number in the log, name, columns of [`semantics`]: what MPI says of them |
//! | [`problem`] | the table of all that a run can lack: number, severity, advice |
//! | [`options`] | the table of `LBPROF_*` settings: name, default, meaning |
//! | [`record`] | [`Record`]: one call of one thread |
//! | [`joined`] | a call and its first part in one record |
//! | [`sample`] | [`sample::Sample`]: where a thread executed at an instant |
//! | [`definition`] | what records refer to by number: call sites, regions, communicators … |
//! | [`parallel`] | what the threads of a parallel region do, and its sums |
//! | [`parallel_marks`] | the instances of parallel regions among a thread's records |
//! | [`walk`] | over a thread's records: what its time is, and in which regions and iterations |
//! | [`placing`] | where a thread was at an instant, by its records |
//! | [`gap_survey`] | the long gaps between unsuccessful polls, and the CPU time in them |
//! | [`gap_use`] | whether a thread sleeps or computes in long gaps between unsuccessful polls, by its samples |
//! | [`poll_answer`] | what a call that may poll answered |
//! | [`poll_gaps`] | the long gaps between polls that a profile is of |
//! | [`polling`] | whether the time between unsuccessful polls is waiting or computation |
//! | `spinning` | waits by calls on a window that are made again and again |
//! | [`profile`] | sums by regions × activities × iterations; [`fold`] makes them of records |
//! | [`summary`] | a thread's whole run as one profile |
//! | [`format`](mod@format) | the log's bytes: header, blocks, checksums |
//! | [`encode`], [`decode`] | a batch of records ↔ columns, by a model that guesses the next record |
//! | [`sample_block`] | a thread's samples ↔ columns |
//! | [`index`](mod@index) | where the blocks of a log are |
//! | [`writer`], [`reader`] | a rank's log, written and read; [`rank_log`]: of all that a rank left; [`folder`]: of all ranks; [`place`]: in which files |
//! | [`at_end`] | what a log ends with: summaries and index, read without the rest |
//! | `merged_threads` | the records of threads that take the place of the first one |
//! | [`node`] | the logs of a node's ranks in one file, their rings in another |
//! | [`ring`] | a thread's file-backed ring |
//! | [`live_run`] | logs and rings of a run that is being recorded; [`live_process`]: the processes that record it |
//! | [`salvage`] | what a killed rank left in its ring |
//! | [`starter`] | what started the ranks of a run |
//! | [`clock`] | ticks → seconds on the run's common clock |
//! | [`words`] | counts and times in messages |

mod blocks;
pub mod clock;
mod codec;
#[expect(unsafe_code, reason = "zstd in memory of our own is a matter of its C functions")]
mod compressor;
pub mod decode;
pub mod definition;
pub mod encode;
#[cfg(test)]
mod example_header;
pub mod fold;
pub mod folder;
pub mod format;
pub mod gap_survey;
pub mod gap_use;
pub mod index;
pub mod joined;
pub mod live_process;
pub mod live_run;
pub mod log_paths;
mod log_source;
mod merged_threads;
pub mod node;
pub mod operation;
pub mod options;
pub mod parallel;
pub mod parallel_marks;
pub mod poll_answer;
pub mod poll_gaps;
pub mod polling;
pub mod problem;
pub mod profile;
pub mod rank_log;
pub mod reader;
pub mod record;
mod record_predictor;
#[expect(unsafe_code, reason = "the ring is shared memory, written by the hot path through a raw pointer")]
pub mod ring;
pub mod salvage;
pub mod sample;
pub mod sample_block;
pub mod semantics;
mod settled_gaps;
mod sparse_file;
pub mod spinning;
pub mod starter;
pub mod summary;
pub mod thread_positions;
pub mod trailer;
mod undefined_ids;
pub mod walk;
pub mod words;
pub mod writer;

pub use definition::Definition;
pub use operation::{Activity, Operation};
pub use problem::{Problem, ProblemKind};
pub use record::{CallFlags, Record};
