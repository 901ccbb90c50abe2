//! Calls that distribute or collect data: a rank sends to one rank after another, or receives from them.
//!
//! ```text
//!   phase distribute | Send to 1 | Send to 2 | Send to 3 | …     no rank twice while the phase is open
//! ```
//!
//! Such calls repeat like the calls of a loop, but are one step of a phase that the user has marked.

use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, Operation, Record};
use rustc_hash::FxHashSet;

/// Finds the kinds of calls of a rank that only ever distribute or collect, by the survey's index.
#[derive(Default)]
pub(super) struct DistributionFinder {
    depth: usize,
    /// Kinds of calls and their peers, since a region was last entered or left.
    seen: FxHashSet<(u32, i32)>,
    distributing: FxHashSet<u32>,
    others: FxHashSet<u32>,
}

impl DistributionFinder {
    /// Continues after unknown records, with `depth` open regions.
    pub(super) fn begin(&mut self, depth: usize) {
        self.depth = depth;
        self.seen.clear();
    }

    pub(in crate::structure) fn add(&mut self, record: &Record, token: Option<u32>) {
        match record.operation() {
            Some(Operation::RegionEnter) => self.begin(self.depth + 1),
            Some(Operation::RegionLeave) => self.begin(self.depth.saturating_sub(1)),
            _ => {}
        }
        let Some(token) = token.filter(|_| record.is_call()) else { return };
        let is_message = record.activity() == Activity::PointToPoint && record.comm != NONE;
        match is_message && self.depth > 0 && self.seen.insert((token, record.peer)) {
            true => self.distributing.insert(token),
            false => self.others.insert(token),
        };
    }

    pub(in crate::structure) fn finish(self) -> FxHashSet<u32> {
        &self.distributing - &self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds found in calls given as kind and peer; `(` and `)` are the ends of a region.
    fn found(calls: &str) -> Vec<u32> {
        let mut distributing = DistributionFinder::default();
        for call in calls.split_whitespace() {
            let operation = match call {
                "(" => Operation::RegionEnter,
                ")" => Operation::RegionLeave,
                _ if call.starts_with('B') => Operation::Barrier,
                _ => Operation::Send,
            };
            let peer = call[1..].parse().unwrap_or(-1);
            let token = call.bytes().next().filter(u8::is_ascii_uppercase).map(u32::from);
            distributing.add(&Record { comm: 0, peer, ..Record::new(operation, 0) }, token);
        }
        let mut found: Vec<u32> = distributing.finish().into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn sends_to_each_of_several_ranks_in_a_region_are_found() {
        let send = u32::from(b'S');
        assert_eq!(found("( S1 S2 S3 )"), [send]);
        assert_eq!(found("( S1 S2 S3 ) B ( S1 S2 S3 )"), [send], "each time that the region is open");
        assert_eq!(found("( S1 T1 S2 T2 S3 T3 )"), [send, send + 1]);
        assert_eq!(found("( S1 S2 S1 )"), [0; 0], "a rank twice");
        assert_eq!(found("( S1 S2 S3 ) S4"), [0; 0], "outside of regions, too");
        assert_eq!(found("S1 S2 S3"), [0; 0]);
        assert_eq!(found("( B B B )"), [0; 0], "no messages");
    }
}
