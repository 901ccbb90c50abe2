//! The log's bytes: header, blocks, checksums. docs/log-format.md describes them for other readers.
//!
//! | magic "LBPROFLG" | version u16 | header length u32 | crc32 u32 | header | block | block | …
//!
//! A block: | magic "LBBK" | kind u8 | stored u32 | frame u32 | plain u32 | crc32 u32 | payload, `stored` bytes |
//!
//! The payload is a zstd frame of `frame` bytes that holds `plain` bytes, or, where `frame` is 0, these `plain` bytes
//! themselves; then a tail of bytes that do not compress. A checksum covers the fields between its magic and itself, then
//! what follows it. All integers little-endian. Every prefix that ends with a block is a log: a killed rank's ends so, and
//! its ring holds the rest.
//!
//! Names of files in a run's folder: `rank-000012.lbp` and, while the rank records or after it was killed,
//! `rank-000012.rings`; in long runs also `rank-000012.sums` ([`crate::saved_sums`]).

pub(crate) mod blocks;
pub(crate) mod codec;
#[expect(unsafe_code, reason = "zstd in memory of our own is a matter of its C functions")]
pub(crate) mod compressor;
pub mod decode;
pub mod encode;
pub mod index;
pub(crate) mod record_predictor;
pub mod sample_block;
pub mod summary;
pub mod writer;

use bincode::{Decode, Encode};

use crate::codec::{decode_value, take_slice, take_varint};
use crate::definition::Definition;
use crate::record::FIXED;
pub use crate::record::heads::batch_head::{BatchHead, MAX_OPEN_REGIONS, OpenRegion};
pub use crate::record::heads::log_header::{ClockSource, LogHeader, RecordingMode};

/// The version of the format that this crate writes, and the only one that it reads: earlier ones were never released.
pub const VERSION: u16 = 6;
/// First bytes of a log.
pub const LOG_MAGIC: [u8; 8] = *b"LBPROFLG";
/// First bytes of a block.
pub const BLOCK_MAGIC: [u8; 4] = *b"LBBK";
/// Bytes of a log before its header.
pub const PREAMBLE_BYTES: usize = 18;
/// Bytes of a block before its payload.
pub const BLOCK_HEAD_BYTES: usize = 21;
/// Most bytes that a header may take.
pub const MAX_HEADER: usize = 16 << 20;
/// Most bytes that a block may hold, and that its payload may take.
pub const MAX_PLAIN: usize = 64 << 20;
/// Most records that a block may hold.
pub const MAX_RECORDS: usize = 1 << 19;
/// Most definitions that a block may hold.
pub const MAX_DEFINITIONS: usize = 1 << 16;
/// Bytes of definitions that may wait in the first ring's head for the next block: about a hundred of communicators.
pub const MAX_WAITING: usize = 2840;

/// The contents of a block. Readers skip kinds that they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockKind {
    /// Definitions, each after its length.
    Definitions = 1,
    /// A batch of one thread's records, by columns.
    Records = 2,
    /// A [`crate::profile::ProfileBatch`].
    Profile = 3,
    /// Samples of one thread, by columns.
    Samples = 4,
    /// A thread's whole run as a profile: a [`crate::summary::ThreadSummary`].
    Summary = 5,
    /// Positions of the blocks before it: an [`crate::index::LogIndex`].
    Index = 6,
}

impl BlockKind {
    /// Returns the kind of a number in a log, or `None` for one that this version does not know.
    pub fn from_number(number: u8) -> Option<Self> {
        use BlockKind::{Definitions, Index, Profile, Records, Samples, Summary};
        [Definitions, Records, Profile, Samples, Summary, Index].into_iter().find(|&kind| kind as u8 == number)
    }
}

/// The fields of a block before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct BlockHead {
    /// Number of its [`BlockKind`].
    pub kind: u8,
    /// Bytes of the payload.
    pub stored: u32,
    /// Bytes of the zstd frame at the payload's begin; 0: it is not compressed.
    pub frame: u32,
    /// Bytes that the frame holds; without a frame, bytes of the payload before its tail.
    pub plain: u32,
    /// CRC-32 of the fields above and the payload.
    pub crc: u32,
}

impl BlockHead {
    /// Returns the bytes of a block's head.
    pub fn to_bytes(self) -> [u8; BLOCK_HEAD_BYTES] {
        let mut bytes = [0; BLOCK_HEAD_BYTES];
        // They fill it.
        let _ = bincode::encode_into_slice((BLOCK_MAGIC, self), &mut bytes, FIXED);
        bytes
    }

    /// Returns the head that `bytes` state, or `None` if they do not begin with the magic or state sizes that no block has.
    pub fn from_bytes(bytes: &[u8; BLOCK_HEAD_BYTES]) -> Option<Self> {
        let ((magic, head), _): (([u8; 4], Self), usize) = bincode::decode_from_slice(bytes, FIXED).ok()?;
        let first = if head.frame == 0 { head.plain } else { head.frame };
        let sane = head.stored as usize <= MAX_PLAIN && head.plain as usize <= MAX_PLAIN && first <= head.stored;
        (magic == BLOCK_MAGIC && sane).then_some(head)
    }

    /// Returns the checksum that goes with these fields (but `crc`) and `payload`.
    pub fn checksum(self, payload: &[u8]) -> u32 {
        let covered = BLOCK_MAGIC.len()..BLOCK_HEAD_BYTES - size_of_val(&self.crc);
        checksum_of([&self.to_bytes()[covered], payload])
    }
}

/// Returns the checksum of a log's header.
pub fn header_checksum(version: u16, header: &[u8]) -> u32 {
    checksum_of([&version.to_le_bytes()[..], &(header.len() as u32).to_le_bytes(), header])
}

/// Returns the checksum of bytes that follow one another.
pub fn checksum_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    for part in parts {
        crc.update(part);
    }
    crc.finalize()
}

/// Returns the name of the log of a rank.
pub fn log_name(rank: u32) -> String {
    format!("rank-{rank:06}.lbp")
}

/// Returns the name of the file with the rings of a rank's threads.
pub fn rings_name(rank: u32) -> String {
    format!("rank-{rank:06}.rings")
}

/// Returns the name of the file with the sums that the log of a rank lacks.
pub fn saved_sums_name(rank: u32) -> String {
    format!("rank-{rank:06}.sums")
}

/// Returns the rank of a log's name.
pub fn rank_of_log(name: &str) -> Option<u32> {
    name.strip_prefix("rank-")?.strip_suffix(".lbp")?.parse().ok()
}

/// Returns the rank whose rings are in the file of this name.
pub fn rank_of_rings(name: &str) -> Option<u32> {
    name.strip_prefix("rank-")?.strip_suffix(".rings")?.parse().ok()
}

/// Decodes the definitions of a block. Also returns the number of definitions that this version does not know.
pub(crate) fn decode_definitions(mut plain: &[u8]) -> Option<(Vec<Definition>, u64)> {
    let mut known = Vec::new();
    let mut unknown = 0;
    while !plain.is_empty() {
        let length = usize::try_from(take_varint(&mut plain)?).ok()?;
        let bytes = take_slice(&mut plain, length)?;
        // A definition may have grown at its end in a newer version; what is new there is left out.
        match decode_value::<Definition>(bytes) {
            Some((definition, _)) => known.push(definition),
            None => unknown += 1,
        }
        if known.len() as u64 + unknown > MAX_DEFINITIONS as u64 {
            return None;
        }
    }
    Some((known, unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_give_the_rank() {
        assert_eq!(rank_of_log(&log_name(12)), Some(12));
        assert_eq!(rank_of_log(&log_name(u32::MAX)), Some(u32::MAX));
        assert_eq!(rank_of_rings(&rings_name(1_000_000)), Some(1_000_000));
        for other in ["rank-.lbp", "rank-1.lbp.old", "rank-x.lbp", "rank-.rings", "notes.txt", "rank-1.rings.lbp"] {
            assert_eq!(rank_of_log(other), None, "{other}");
            assert_eq!(rank_of_rings(other), None, "{other}");
        }
    }

    #[test]
    fn a_block_head_that_promises_too_much_is_none() {
        let head = BlockHead { kind: 2, stored: 100, frame: 60, plain: 1000, crc: 7 };
        assert_eq!(BlockHead::from_bytes(&head.to_bytes()), Some(head));
        for wrong in [
            BlockHead { stored: MAX_PLAIN as u32 + 1, ..head },
            BlockHead { plain: MAX_PLAIN as u32 + 1, ..head },
            BlockHead { frame: 101, ..head },
            BlockHead { frame: 0, plain: 101, ..head },
        ] {
            assert_eq!(BlockHead::from_bytes(&wrong.to_bytes()), None, "{wrong:?}");
        }
    }
}
