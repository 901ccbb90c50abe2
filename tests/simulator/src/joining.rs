//! Records as a recorder writes them: a call and its first part in one, where that is possible.

use lbprof_collector::joined::{JOINED, JOINED_COMPLETED};
use lbprof_collector::record::{CallFlags, Record};

/// The records with each part that fits in the call before it.
pub fn joined(records: &[Record]) -> Vec<Record> {
    let mut joined: Vec<Record> = Vec::with_capacity(records.len());
    for part in records {
        match joined.last_mut().and_then(|call| Some((join(call, part)?, call))) {
            Some((both, call)) => *call = both,
            None => joined.push(*part),
        }
    }
    joined
}

/// One record for both; `None` where they would not come out of it as they are.
fn join(call: &Record, part: &Record) -> Option<Record> {
    let wildcards = CallFlags(part.flags.0 & (CallFlags::ANY_SOURCE | CallFlags::ANY_TAG).0);
    let with_receive = Record {
        operation: call.operation | JOINED,
        received: part.received,
        request: part.peer as u32,
        count: part.tag as u32,
        flags: call.flags | wildcards,
        ..*call
    };
    let with_completion =
        Record { operation: call.operation | JOINED_COMPLETED, begin: call.begin, count: call.count, ..*part };
    [with_receive, with_completion].into_iter().find(|both| both.apart() == Some((*call, *part)))
}
