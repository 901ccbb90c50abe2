//! The answer that a call which may poll gave the program.

use crate::operation::Operation;
use crate::record::{CallFlags, NONE, Record};

/// What a call gave the program to know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PollAnswer {
    /// It polled, and what it asks about has not happened.
    Nothing,
    /// No request was active: no wait begins with it, nor ends.
    Neutral,
    /// It found something, or is no poll.
    Something,
}

impl PollAnswer {
    pub(crate) fn of(record: &Record) -> PollAnswer {
        let unfinished = record.end == 0 || record.flags.contains(CallFlags::UNFINISHED);
        match Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING) {
            _ if unfinished => PollAnswer::Something,
            _ if completes_nothing(record) => PollAnswer::Neutral,
            true => PollAnswer::Nothing,
            false => PollAnswer::Something,
        }
    }
}

/// Whether a record is that of completion calls that returned successfully and had no active request: they did nothing.
///
/// Recorders before [`CallFlags::INACTIVE`] left it to their other facts. Of an MPI_Testany or a folded MPI_Waitsome these do not show.
pub fn completes_nothing(record: &Record) -> bool {
    let flags = record.flags;
    let returned = record.end != 0 && !flags.contains(CallFlags::UNFINISHED) && !flags.contains(CallFlags::FAILED);
    if !returned || flags.contains(CallFlags::UNKNOWN_REQUEST) {
        return false;
    }
    let has_nothing = flags.contains(CallFlags::NOTHING);
    match record.operation() {
        _ if flags.contains(CallFlags::INACTIVE) => true,
        Some(Operation::Wait | Operation::Waitany | Operation::Test) => {
            has_nothing && record.request == NONE && record.count == 0
        }
        Some(Operation::Waitall | Operation::Testall | Operation::Testsome) => !has_nothing && record.count == 0,
        _ => false,
    }
}
