//! Persistent operations that a rank has prepared: what its starts start.
//!
//! A start's record tells the communicator, the peer and the tag, but not whether it sends or receives, and its request is a new
//! one. So it is held against what was prepared with the same.

use lbprof_collector::{Activity, Record};
use rustc_hash::FxHashMap;

use super::roles::Talk;

/// What was prepared, by communicator, peer, tag and activity.
#[derive(Default)]
pub struct Prepared(FxHashMap<(u32, i32, i32, u8), Vec<Talk>>);

impl Prepared {
    /// Adds what a record prepares.
    pub fn add(&mut self, record: &Record, talk: Talk) {
        let all = self.0.entry(key(record)).or_default();
        if !all.contains(&talk) {
            all.push(talk);
        }
    }

    /// What a record starts; `None` where that is not known.
    pub fn find(&self, record: &Record) -> Option<Talk> {
        let all = self.0.get(&key(record))?;
        match all.as_slice() {
            [one] => Some(*one),
            // A send and a receive with the same peer and tag: only the send has bytes.
            [Talk::PrepareSend | Talk::PrepareRecv, Talk::PrepareSend | Talk::PrepareRecv] => {
                Some(if record.sent > 0 { Talk::PrepareSend } else { Talk::PrepareRecv })
            }
            _ => None,
        }
    }
}

fn key(record: &Record) -> (u32, i32, i32, u8) {
    let activity: Activity = record.activity();
    (record.comm, record.peer, record.tag, activity as u8)
}
