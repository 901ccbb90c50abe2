//! A call and its first part in one record.
//!
//! A part costs as much to write as a call. Most calls that have parts leave fields free that the first one needs, so that it goes into the call's
//! record: what an MPI_Sendrecv received, or the first request that an MPI_Waitall completed. Whoever reads a log or a ring takes such records
//! apart at once, and each counts as the two that it stands for: besides the fold, nothing else knows of them.
//!
//! | of the part | a message received | a request completed |
//! |---|---|---|
//! | `peer`, `tag` | in `request`, `count` | in `peer`, `tag` |
//! | `sent`, `received` | 0, in `received` | in `sent`, `received` |
//! | `request` | none | in `request` |
//! | `comm`, activity | as in the call | as in the call |
//! | other flags | any-source, any-tag of the record; nothing, where the peer is negative without being any source | all of the record |
//!
//! The call has the other fields of the record, and of its flags those that no part has.

use crate::operation::Operation;
use crate::record::{CallFlags, NO_PEER, NONE, Record};

/// In [`Record::operation`]: the record is a call and its part.
pub const JOINED: u16 = 1 << 15;
/// Mark of a joined part that is a completed request; else the part is a received message.
pub const JOINED_COMPLETED: u16 = JOINED | 1 << 14;

/// Flags of a received message that are in the record of its call.
const OF_RECEIVED: u16 = CallFlags::ANY_SOURCE.0 | CallFlags::ANY_TAG.0;
/// Flags of a completed request that are in the record of its call.
const OF_COMPLETED: u16 = OF_RECEIVED
    | CallFlags::CANCELLED.0
    | CallFlags::PERSISTENT.0
    | CallFlags::NOTHING.0
    | CallFlags::UNKNOWN_REQUEST.0;

/// Returns whether the flags of a call that completed requests leave room for the flags of a request.
#[inline(always)]
pub fn can_join_completed(call: CallFlags) -> bool {
    call.0 & OF_COMPLETED == 0
}

impl Record {
    /// Returns the number of records that it stands for.
    #[inline(always)]
    pub fn joined_operations(&self) -> usize {
        1 + usize::from(self.operation >> 15)
    }

    /// Returns the call and its part, if the record is both.
    pub fn apart(&self) -> Option<(Record, Record)> {
        let joined = self.operation & JOINED_COMPLETED;
        let (mut call, mut part) = (*self, Record { begin: self.end, count: 0, ..*self });
        call.operation &= !JOINED_COMPLETED;
        call.request = NONE;
        call.received = 0;
        match joined {
            JOINED_COMPLETED => {
                call.flags = CallFlags(self.flags.0 & !OF_COMPLETED);
                (call.peer, call.tag, call.sent) = (NO_PEER, NO_PEER, 0);
                part.operation = Operation::Completed as u16;
            }
            JOINED => {
                call.flags = CallFlags(self.flags.0 & !OF_RECEIVED);
                call.count = 0;
                part.operation = Operation::Received as u16;
                part.flags = CallFlags(self.flags.0 & OF_RECEIVED).with_activity(Operation::Received.activity());
                (part.peer, part.tag) = (self.request as i32, self.count as i32);
                (part.sent, part.request) = (0, NONE);
                if part.peer < 0 && !part.flags.contains(CallFlags::ANY_SOURCE) {
                    part.flags |= CallFlags::NOTHING;
                }
            }
            _ => return None,
        }
        Some((call, part))
    }
}

/// Returns the number of records that `records` stand for.
pub fn count_joined_records(records: &[Record]) -> usize {
    records.iter().map(Record::joined_operations).sum()
}

/// Takes apart all joined records, in place.
pub fn take_apart(records: &mut Vec<Record>) {
    let (mut from, mut to) = (records.len(), count_joined_records(records));
    let Some(last) = records.last() else { return };
    records.resize(to, *last);
    // From the end on, so that each record is moved once, over records that were moved already.
    while from < to {
        from -= 1;
        match records[from].apart() {
            Some((call, part)) => {
                to -= 2;
                (records[to], records[to + 1]) = (call, part);
            }
            None => {
                to -= 1;
                records[to] = records[from];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::Activity;

    fn call(operation: Operation) -> Record {
        Record { end: 20, call_site: 7, comm: 3, ..Record::new(operation, 10) }
    }

    #[test]
    fn a_receive_comes_out_of_its_exchange() {
        let of_call = Record { sent: 8, peer: 1, tag: 2, flags: CallFlags::FORTRAN, ..call(Operation::Sendrecv) };
        let joined = Record {
            operation: of_call.operation | JOINED,
            received: 16,
            request: 5,
            count: 6,
            flags: of_call.flags | CallFlags::ANY_TAG,
            ..of_call
        };
        let part = Record {
            begin: 20,
            received: 16,
            peer: 5,
            tag: 6,
            flags: CallFlags::from_activity(Activity::PointToPoint) | CallFlags::ANY_TAG,
            ..call(Operation::Received)
        };
        assert_eq!(joined.apart(), Some((of_call, part)));
        let from_nobody = Record { request: -2i32 as u32, received: 0, flags: of_call.flags, ..joined };
        let (_, part) = from_nobody.apart().unwrap();
        assert_eq!(
            (part.peer, part.flags),
            (-2, CallFlags::from_activity(Activity::PointToPoint) | CallFlags::NOTHING)
        );
        let failed = Record { request: -2i32 as u32, flags: of_call.flags | CallFlags::ANY_SOURCE, ..joined };
        assert!(!failed.apart().unwrap().1.flags.contains(CallFlags::NOTHING), "anybody is somebody");
    }

    #[test]
    fn a_completion_comes_out_of_its_call() {
        let of_call = Record {
            count: 3,
            flags: CallFlags::from_activity(Activity::Collective) | CallFlags::FORTRAN,
            ..call(Operation::Waitall)
        };
        let part = Record {
            begin: 20,
            sent: 1,
            received: 2,
            peer: 4,
            tag: 5,
            request: 6,
            flags: of_call.flags | CallFlags::PERSISTENT | CallFlags::CANCELLED,
            ..call(Operation::Completed)
        };
        let joined = Record { begin: 10, count: 3, operation: of_call.operation | JOINED_COMPLETED, ..part };
        assert!(can_join_completed(of_call.flags));
        assert_eq!(joined.apart(), Some((of_call, part)));
    }

    #[test]
    fn all_are_taken_apart_in_place() {
        let plain = call(Operation::Barrier);
        let joined = Record { operation: Operation::Sendrecv as u16 | JOINED, ..plain };
        let (first, second) = joined.apart().unwrap();
        for (mut records, apart) in [
            (vec![], vec![]),
            (vec![plain; 2], vec![plain; 2]),
            (vec![joined], vec![first, second]),
            (vec![plain, joined, joined, plain], vec![plain, first, second, first, second, plain]),
        ] {
            assert_eq!(count_joined_records(&records), apart.len());
            take_apart(&mut records);
            assert_eq!(records, apart);
        }
    }
}
