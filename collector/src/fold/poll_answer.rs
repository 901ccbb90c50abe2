//! The answer that a call which may poll gave the program.

use crate::operation::Operation;
use crate::record::{CallFlags, NONE, Record};

/// The answer that a call gave to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PollAnswer {
    /// The call polled in vain.
    Nothing,
    /// No request was active: no wait begins with it, nor ends.
    Neutral,
    /// The call found something, or is no poll.
    Something,
}

impl PollAnswer {
    pub(crate) fn from_record(record: &Record) -> PollAnswer {
        let unfinished = record.end == 0 || record.flags.contains(CallFlags::UNFINISHED);
        match Operation::polls(record.operation) && record.flags.contains(CallFlags::NOTHING) {
            _ if unfinished => PollAnswer::Something,
            _ if is_unsuccessful(record) => PollAnswer::Neutral,
            true => PollAnswer::Nothing,
            false => PollAnswer::Something,
        }
    }
}

/// Returns whether a record is that of completion calls that returned successfully and had no active request: they did nothing.
///
/// Recorders before [`CallFlags::INACTIVE`] left it to their other facts. Of an MPI_Testany or a folded MPI_Waitsome these do not show.
pub fn is_unsuccessful(record: &Record) -> bool {
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
