//! Sources of time: what the recorder learns of a thread's time, and from which functions.
//!
//! | source | records | from |
//! |---|---|---|
//! | [`mpi`] | MPI calls | wrappers made from `calls.table` |
//! | [`openmp`] | parallel regions, and waits in them | the functions of OpenMP's run-time libraries, or their reports |
//!
//! A source that knows of an interval in a state outside of MPI appends [`Record::in_state`](lbprof_collector::record::Record::in_state) to the thread's ring when it
//! leaves; the rest of the recorder and all of the analysis know the state from `states.table`.

pub mod markers;
pub mod mpi;
pub mod openmp;

use crate::log::OpenLog;
use crate::run::settings::RecorderSettings;
use crate::state::thread::RecorderThread;

/// A source of time. Its functions are found by [`crate::machine::system::loader::foreign`].
pub trait TimeSource {
    /// What is known of a call, or of a region, as a thread enters it.
    type Entry;
    /// What is kept until the thread leaves it. It has no `Drop`, because longjmp and exceptions may pass.
    type Open;

    /// Recording starts: looks up the functions that the source calls, and registers what it is called by.
    fn install(settings: &RecorderSettings);

    /// The thread enters. Returns `None` if nothing is to be recorded of it.
    ///
    /// # Safety
    /// The thread was entered by a stub of the wrappers; `entry` is what the source's wrappers pass.
    unsafe fn enter(thread: &RecorderThread, entry: Self::Entry) -> Option<Self::Open>;

    /// The thread has left what it entered, and all that is known of it is stored.
    ///
    /// # Safety
    /// `open` is what [`TimeSource::enter`] returned on this thread.
    unsafe fn leave(thread: &RecorderThread, open: &Self::Open);

    /// Recording ends: writes what the log lacks. Records in rings are no part of it.
    fn drain(log: &mut OpenLog);
}

/// Lists the sources.
macro_rules! sources {
    ($($source:ty),*) => {
        /// Recording starts.
        pub fn install(settings: &RecorderSettings) {
            $(<$source as TimeSource>::install(settings);)*
        }

        /// Recording ends: the log, where there is one, gets what it lacks.
        pub fn drain(log: Option<&mut Option<OpenLog>>) {
            if let Some(log) = log.and_then(Option::as_mut) {
                $(<$source as TimeSource>::drain(log);)*
            }
        }
    };
}
sources!(mpi::MpiCalls, openmp::OpenmpRegions);
