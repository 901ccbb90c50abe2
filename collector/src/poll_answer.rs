//! The answer that a call which may poll gave the program.

use crate::operation::Operation;
use crate::record::{Flags, NONE, Record};

/// What a call gave the program to know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It polled, and what it asks about has not happened.
    Nothing,
    /// No request was active: no wait begins with it, nor ends.
    Neutral,
    /// It found something, or is no poll.
    Something,
}

impl Answer {
    pub(crate) fn of(record: &Record) -> Answer {
        let unfinished = record.end == 0 || record.flags.contains(Flags::UNFINISHED);
        match Operation::polls(record.operation) && record.flags.contains(Flags::NOTHING) {
            _ if unfinished => Answer::Something,
            _ if completes_nothing(record) => Answer::Neutral,
            true => Answer::Nothing,
            false => Answer::Something,
        }
    }
}

/// Whether a record is that of completion calls that returned successfully and had no active request: they did nothing.
///
/// Recorders before [`Flags::INACTIVE`] left it to their other facts. Of an MPI_Testany or a folded MPI_Waitsome these do not show.
pub fn completes_nothing(record: &Record) -> bool {
    let flags = record.flags;
    let returned = record.end != 0 && !flags.contains(Flags::UNFINISHED) && !flags.contains(Flags::FAILED);
    if !returned || flags.contains(Flags::UNKNOWN_REQUEST) {
        return false;
    }
    let has_nothing = flags.contains(Flags::NOTHING);
    match record.operation() {
        _ if flags.contains(Flags::INACTIVE) => true,
        Some(Operation::Wait | Operation::Waitany | Operation::Test) => {
            has_nothing && record.request == NONE && record.count == 0
        }
        Some(Operation::Waitall | Operation::Testall | Operation::Testsome) => !has_nothing && record.count == 0,
        _ => false,
    }
}
