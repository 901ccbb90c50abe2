//! Persistent operations that a rank has prepared: what its starts start.
//!
//! A start's record has the communicator, the peer and the tag, but not whether it sends or receives, and its request is a new
//! one. So it is held against what was prepared with the same.

use lbprof_collector::Record;
use lbprof_collector::semantics::{OperationSemantics, SendMode};
use rustc_hash::FxHashMap;

/// The prepared operations, by communicator, peer, tag and activity.
#[derive(Default)]
pub struct PreparedRequests(FxHashMap<(u32, i32, i32, u8), Vec<OperationSemantics>>);

impl PreparedRequests {
    pub fn add(&mut self, record: &Record, semantics: OperationSemantics) {
        let all = self.0.entry(match_key(record)).or_default();
        if !all.contains(&semantics) {
            all.push(semantics);
        }
    }

    /// Returns the operation that a record starts; `None` where that is not known.
    pub fn find(&self, record: &Record) -> Option<OperationSemantics> {
        let all = self.0.get(&match_key(record))?;
        if let [only] = all.as_slice() {
            return Some(*only);
        }
        if all.iter().any(|one| matches!(one, OperationSemantics::PrepareCollective(_))) {
            return None;
        }
        // Sends and a receive with the same peer and tag: only sends have bytes. It is not known which one of several sends it is.
        let mut sends = all.iter().filter(|one| matches!(one, OperationSemantics::PrepareSend(_)));
        Some(match (sends.next(), sends.next()) {
            _ if record.sent == 0 && all.contains(&OperationSemantics::PrepareRecv) => OperationSemantics::PrepareRecv,
            (Some(&send), None) => send,
            _ => OperationSemantics::PrepareSend(SendMode::Standard),
        })
    }
}

fn match_key(record: &Record) -> (u32, i32, i32, u8) {
    (record.comm, record.peer, record.tag, record.activity() as u8)
}
