//! Definitions that are not in the log yet: the head of a rank's first ring holds them, so that they outlive the process.
//!
//! Where a program makes a communicator in each iteration, writing each definition to the log would take longer than making it. They go there
//! together, in front of the block that is written next, so that the log defines what its records refer to.
//!
//! One store of `waiting_state` makes what was added valid, or says that the log has all of it: at each instant, the definitions are in the
//! head, in the log, or in both. Which one, the log's length shows: their block begins where the head says.

use std::mem::offset_of;
use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::codec::{u32_at, u64_at};
use crate::definition::Definition;
use crate::format::{MAX_WAITING, decode_definitions};
use crate::ring::{HEAD_BYTES, RingHead};

/// Definitions that waited when a ring was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaitingDefinitions {
    /// Bytes of the log in front of their block: a longer log has them.
    pub from: u64,
    /// The definitions.
    pub definitions: Vec<Definition>,
}

impl WaitingDefinitions {
    pub(crate) fn are_next_at(&self, bytes: u64) -> bool {
        !self.definitions.is_empty() && self.from == bytes
    }
}

impl RingHead {
    /// Keeps the plain bytes of definitions that the log will have from its byte `from` on; none: no definition waits. At most [`MAX_WAITING`] bytes are kept.
    pub fn keep_waiting(&self, from: u64, bytes: &[u8]) {
        let (mut held, mut crc) = unpack_state(self.waiting_state.load(Relaxed));
        let goes_on = held != 0 && held <= bytes.len() && self.waiting_from.load(Relaxed) == from;
        if !goes_on {
            // Valid again when all of them are there.
            self.waiting_state.store(0, Release);
            if bytes.is_empty() {
                return;
            }
            self.waiting_from.store(from, Relaxed);
            (held, crc) = (0, crc32fast::hash(&from.to_le_bytes()));
        }
        let new = bytes.get(held..bytes.len().min(MAX_WAITING)).unwrap_or_default();
        for (place, &byte) in self.waiting.iter().skip(held).zip(new) {
            place.store(byte, Relaxed);
        }
        let mut sum = crc32fast::Hasher::new_with_initial_len(crc, (size_of_val(&from) + held) as u64);
        sum.update(new);
        self.waiting_state.store(pack_state(held + new.len(), sum.finalize()), Release);
    }
}

/// The word that says how many bytes are valid, and their checksum with what is in front of them.
fn pack_state(length: usize, crc: u32) -> u64 {
    u64::from(crc) << 32 | length as u64
}

fn unpack_state(state: u64) -> (usize, u32) {
    (state as u32 as usize, (state >> 32) as u32)
}

/// The definitions that wait in the bytes of a head; `None`: it changed while it was read, or is damaged.
pub(super) fn waiting_in(head: &[u8]) -> Option<WaitingDefinitions> {
    let length = u32_at(head, offset_of!(RingHead, waiting_state)) as usize;
    if length == 0 {
        return Some(WaitingDefinitions::default());
    }
    let crc = u32_at(head, offset_of!(RingHead, waiting_state) + 4);
    let from = u64_at(head, offset_of!(RingHead, waiting_from));
    let bytes = head.get(offset_of!(RingHead, waiting)..HEAD_BYTES)?.get(..length)?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&from.to_le_bytes());
    sum.update(bytes);
    let (definitions, _) = decode_definitions(bytes).filter(|_| sum.finalize() == crc)?;
    Some(WaitingDefinitions { from, definitions })
}
