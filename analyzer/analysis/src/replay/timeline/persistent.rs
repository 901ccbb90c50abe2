//! Persistent operations that a rank has prepared: what its starts start.
//!
//! A start's record has the communicator, the peer and the tag, but not whether it sends or receives, and its request is a new
//! one. So it is held against what was prepared with the same.

use lbprof_collector::semantics::{OperationSemantics, SendMode};
use lbprof_collector::{Activity, Record};
use rustc_hash::FxHashMap;

/// The prepared operations, by communicator, peer, tag and activity.
#[derive(Default)]
pub struct PreparedRequests(FxHashMap<(u32, i32, i32, u8), Vec<OperationSemantics>>);

impl PreparedRequests {
    /// Adds what a record prepares.
    pub fn add(&mut self, record: &Record, semantics: OperationSemantics) {
        let all = self.0.entry(key(record)).or_default();
        if !all.contains(&semantics) {
            all.push(semantics);
        }
    }

    /// Returns the operation that a record starts; `None` where that is not known.
    pub fn find(&self, record: &Record) -> Option<OperationSemantics> {
        let all = self.0.get(&key(record))?;
        match all.as_slice() {
            [one] => Some(*one),
            several
                if several
                    .iter()
                    .all(|one| matches!(one, OperationSemantics::PrepareSend(_) | OperationSemantics::PrepareRecv)) =>
            {
                Some(send_or_receive(several, record.sent))
            }
            _ => None,
        }
    }
}

/// Of sends and a receive with the same peer and tag: only sends have bytes. Which of several sends it is nobody knows.
fn send_or_receive(prepared: &[OperationSemantics], sent: u64) -> OperationSemantics {
    let mut sends = prepared.iter().filter(|one| matches!(one, OperationSemantics::PrepareSend(_)));
    match (sends.next(), sends.next()) {
        _ if sent == 0 && prepared.contains(&OperationSemantics::PrepareRecv) => OperationSemantics::PrepareRecv,
        (Some(&send), None) => send,
        _ => OperationSemantics::PrepareSend(SendMode::Standard),
    }
}

fn key(record: &Record) -> (u32, i32, i32, u8) {
    let activity: Activity = record.activity();
    (record.comm, record.peer, record.tag, activity as u8)
}
