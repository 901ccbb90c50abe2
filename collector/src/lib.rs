//! Records, logs and their reader: what the recording library writes and the analyzer reads.
//!
//! This crate knows no MPI handle, no statistics and no terminal. The modules, in the order in which to read them; a folder uses those above it:
//!
//! | folder | module | what it holds |
//! |---|---|---|
//! | `record/` | [`states`] | the table of the states of a thread's time: group, label, colour, exporters' numbers |
//! | `record/` | [`operation`] | the table of operations: number in the log, name, columns of [`semantics`]: what MPI says of them |
//! | `record/` | [`problem`] | the table of all that a run can lack: number, severity, advice |
//! | `record/` | [`options`] | the table of `LBPROF_*` settings: name, default, meaning |
//! | `record/` | [`record`] | [`Record`]: one call of one thread |
//! | `record/` | [`joined`] | a call and its first part in one record |
//! | `record/` | [`sample`] | [`sample::Sample`]: where a thread executed at an instant |
//! | `record/` | [`off_core`] | the times for which a thread was off its core |
//! | `record/` | [`definition`] | what records refer to by number: call sites, regions, communicators … |
//! | `record/` | [`parallel`] | what the threads of a parallel region do, and its sums |
//! | `record/` | [`parallel_marks`] | the instances of parallel regions among a thread's records |
//! | `record/` | [`starter`] | what started the ranks of a run |
//! | `record/` | [`clock`] | ticks → seconds on the run's common clock |
//! | `record/` | [`poll_gaps`] | long gaps between unsuccessful polls: whether a thread sleeps or computes in them, and where they lie in a profile |
//! | `fold/` | [`walk`] | over a thread's records: what its time is, and in which regions and iterations |
//! | `fold/` | [`profile`] | sums by regions × activities × iterations; [`fold`] makes them of records |
//! | `fold/` | [`thread_positions`] | where a thread was at an instant, by its records |
//! | `fold/` | [`polling`] | whether the time between unsuccessful polls is waiting or computation |
//! | `fold/` | `spinning` | waits by calls on a window that are made again and again |
//! | `format/` | [`format`](mod@format) | the log's bytes: header, blocks, checksums |
//! | `format/` | [`encode`], [`decode`] | a batch of records ↔ columns, by a model that guesses the next record |
//! | `format/` | [`sample_block`] | a thread's samples ↔ columns |
//! | `format/` | [`index`](mod@index) | where the blocks of a log are |
//! | `format/` | [`writer`] | a rank's log, written |
//! | `format/` | [`summary`] | a thread's whole run as one profile |
//! | `ring/` | [`ring`] | a thread's file-backed ring |
//! | `ring/` | [`salvage`] | what a killed rank left in its ring |
//! | `ring/` | [`saved_sums`] | sums that a killed rank's log lacks |
//! | `run/` | [`reader`] | a rank's log, read; [`rank_log`]: of all that a rank left; [`folder`]: of all ranks; [`log_paths`]: opens their files |
//! | `run/` | [`trailer`] | what a log ends with: summaries and index, read without the rest |
//! | `run/` | `merged_threads` | the records of threads that take the place of the first one |
//! | `run/` | [`live_run`] | logs and rings of a run that is being recorded |
//! | `run/` | [`live_process`] | whether a process still records a run |
//! |  | [`words`] | counts and times in messages |

pub mod fold;
pub mod format;
pub mod record;
#[expect(unsafe_code, reason = "the ring is shared memory, written by the hot path through a raw pointer")]
pub mod ring;
pub mod run;
pub mod words;

pub use definition::Definition;
pub use fold::{polling, profile, spinning, thread_positions, walk};
use format::{blocks, codec, compressor, record_predictor};
pub use format::{decode, encode, index, sample_block, summary, writer};
pub use operation::Operation;
pub use problem::{Problem, ProblemKind};
pub use record::openmp::{parallel, parallel_marks};
pub use record::operations::{operation, semantics};
pub use record::sampling::{off_core, sample};
pub use record::{CallFlags, Record};
pub use record::{clock, definition, joined, options, poll_gaps, problem, starter, states};
pub use ring::{salvage, saved_sums};
pub use run::{folder, live_process, live_run, log_paths, rank_log, reader, trailer};
use run::{merged_threads, sparse_file};
pub use states::{Activity, CoreState, StateGroup};
