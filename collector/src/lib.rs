//! Records, logs and their reader: what the recording library writes and the analyzer reads.
//!
//! This crate knows no MPI handle, no statistics and no terminal. The modules, in the order in which to read them:
//!
//! | folder | module | what it holds |
//! |---|---|---|
//! | `record/` | [`operation`] | the table of operations and activities: number in the log, name, columns of [`semantics`]: what MPI says of them |
//! | `record/` | [`problem`] | the table of all that a run can lack: number, severity, advice |
//! | `record/` | [`options`] | the table of `LBPROF_*` settings: name, default, meaning |
//! | `record/` | [`record`] | [`Record`]: one call of one thread |
//! | `record/` | [`joined`] | a call and its first part in one record |
//! | `record/` | [`sample`] | [`sample::Sample`]: where a thread executed at an instant |
//! | `record/` | [`definition`] | what records refer to by number: call sites, regions, communicators … |
//! | `record/` | [`parallel`] | what the threads of a parallel region do, and its sums |
//! | `record/` | [`parallel_marks`] | the instances of parallel regions among a thread's records |
//! | `record/` | [`starter`] | what started the ranks of a run |
//! | `record/` | [`clock`] | ticks → seconds on the run's common clock |
//! | `format/` | [`format`](mod@format) | the log's bytes: header, blocks, checksums |
//! | `format/` | [`encode`], [`decode`] | a batch of records ↔ columns, by a model that guesses the next record |
//! | `format/` | [`sample_block`] | a thread's samples ↔ columns |
//! | `format/` | [`index`](mod@index) | where the blocks of a log are |
//! | `format/` | [`writer`], [`reader`] | a rank's log, written and read; [`rank_log`]: of all that a rank left; [`folder`]: of all ranks; [`log_paths`]: in which files |
//! | `format/` | [`trailer`] | what a log ends with: summaries and index, read without the rest |
//! | `format/` | [`summary`] | a thread's whole run as one profile |
//! | `format/` | `merged_threads` | the records of threads that take the place of the first one |
//! | `node/` | [`node`] | the logs of a node's ranks in one file, their rings in another |
//! | `ring/` | [`ring`] | a thread's file-backed ring |
//! | `ring/` | [`live_run`] | logs and rings of a run that is being recorded |
//! | `ring/` | [`live_process`] | whether a process still records a run |
//! | `ring/` | [`salvage`] | what a killed rank left in its ring |
//! | `fold/` | [`walk`] | over a thread's records: what its time is, and in which regions and iterations |
//! | `fold/` | [`profile`] | sums by regions × activities × iterations; [`fold`] makes them of records |
//! | `fold/` | [`thread_positions`] | where a thread was at an instant, by its records |
//! | `fold/` | [`gap_survey`] | the long gaps between unsuccessful polls, and the CPU time in them |
//! | `fold/` | [`gap_use`] | whether a thread sleeps or computes in long gaps between unsuccessful polls, by its samples |
//! | `fold/` | [`poll_answer`] | what a call that may poll answered |
//! | `fold/` | [`poll_gaps`] | the long gaps between polls that a profile is of |
//! | `fold/` | [`polling`] | whether the time between unsuccessful polls is waiting or computation |
//! | `fold/` | `spinning` | waits by calls on a window that are made again and again |
//! |  | [`words`] | counts and times in messages |

pub mod fold;
pub mod format;
pub mod node;
pub mod record;
#[expect(unsafe_code, reason = "the ring is shared memory, written by the hot path through a raw pointer")]
pub mod ring;
pub mod words;

pub use definition::Definition;
pub use fold::{gap_survey, gap_use, poll_answer, poll_gaps, polling, profile, spinning, thread_positions, walk};
#[cfg(test)]
use format::example_header;
use format::{blocks, codec, compressor, log_source, merged_threads, record_predictor, sparse_file, undefined_ids};
pub use format::{decode, encode, folder, index, log_paths, rank_log, reader, sample_block, summary, trailer, writer};
pub use operation::{Activity, Operation};
pub use problem::{Problem, ProblemKind};
pub use record::{CallFlags, Record};
pub use record::{
    clock, definition, joined, operation, options, parallel, parallel_marks, problem, sample, semantics, starter,
};
pub use ring::{live_process, live_run, salvage};
