//! The operations that a rank started under requests and has not completed.
//!
//! Requests are numbered as they are started, and mostly a few are open at a time, so each has a slot by the last bits of its number. One
//! that is still open when its slot is wanted again moves to a table.

use rustc_hash::FxHashMap;

use super::started::{NOTHING, StartedOperation, StartedOperations};

/// Slots of a rank.
const SLOTS: usize = 64;

/// The open requests of a rank.
#[derive(Debug, Default)]
pub struct OpenRequests {
    /// Operations by slot, with the request; empty before the first request.
    slots: Vec<(u32, Option<StartedOperations>)>,
    others: FxHashMap<u32, StartedOperations>,
}

impl OpenRequests {
    /// Something is started under a request, alone or after another.
    pub fn start(&mut self, request: u32, started: StartedOperation) {
        let [first, second] = self.open(request);
        *(if matches!(first, StartedOperation::Nothing) { first } else { second }) = started;
    }

    /// Removes the operations of a request that is completed.
    pub fn complete(&mut self, request: u32) -> StartedOperations {
        match self.slots.get_mut(request as usize % SLOTS) {
            Some((number, pending)) if *number == request && pending.is_some() => pending.take(),
            _ if self.others.is_empty() => None,
            _ => self.others.remove(&request),
        }
        .unwrap_or(NOTHING)
    }

    /// Returns the operations of a request that stays open.
    pub fn look(&self, request: u32) -> StartedOperations {
        let slot = self.slots.get(request as usize % SLOTS).filter(|(number, _)| *number == request);
        slot.and_then(|(_, pending)| *pending).or_else(|| self.others.get(&request).copied()).unwrap_or(NOTHING)
    }

    /// Returns whether none is open.
    pub fn is_empty(&self) -> bool {
        self.others.is_empty() && self.slots.iter().all(|(_, pending)| pending.is_none())
    }

    fn open(&mut self, request: u32) -> &mut StartedOperations {
        if self.slots.is_empty() {
            self.slots = vec![(0, None); SLOTS];
        }
        let (number, pending) = &mut self.slots[request as usize % SLOTS];
        if *number != request {
            let before = pending.take().map(|pending| (*number, pending));
            self.others.extend(before);
            *number = request;
            if !self.others.is_empty() {
                *pending = self.others.remove(&request);
            }
        }
        pending.get_or_insert(NOTHING)
    }
}

#[cfg(test)]
mod tests {
    use lbprof_collector::semantics::SendMode;

    use super::*;
    use crate::model::region_state::RegionState;
    use crate::replay::matching::channels::{OpenTransfers, TransferSide};
    use crate::replay::what_if::ScenarioClocks;

    #[test]
    fn each_request_stands_for_what_was_started_under_it_however_many_are_open() {
        let mut channels = OpenTransfers::default();
        let noted = ScenarioClocks::new(Vec::new(), 0).note(0);
        let mut any = |at| {
            let mode = SendMode::Standard;
            let side = TransferSide { thread: 0, at, kind: RegionState(0), noted, bytes: 0, mode, request: 0 };
            StartedOperation::Any(channels.post_any(side))
        };
        let mut requests = OpenRequests::default();
        let started: Vec<StartedOperation> = (0..300).map(&mut any).collect();
        // Number 7 stays open while its slot is wanted again and again, and is started anew then: a persistent one.
        for number in 0..300 {
            requests.start(number, started[number as usize]);
        }
        requests.start(7, started[0]);
        let is = |pending: StartedOperations, expected: [Option<usize>; 2]| {
            pending.iter().zip(expected).all(|(one, expected)| match (one, expected.map(|at| started[at])) {
                (StartedOperation::Any(id), Some(StartedOperation::Any(known))) => *id == known,
                (StartedOperation::Nothing, None) => true,
                _ => false,
            })
        };
        assert!(is(requests.complete(7), [Some(7), Some(0)]));
        for number in (0..300).filter(|&number| number != 7) {
            assert!(is(requests.complete(number), [Some(number as usize), None]), "{number}");
            assert!(is(requests.complete(number), [None, None]), "{number} again");
        }
        assert!(requests.others.is_empty());
    }
}
