//! The bytes of a node file. docs/log-format.md describes them for other readers.
//!
//! | frame | frame | frame | …
//!
//! A frame: | magic "LBNF" | length u32 | run_id u64 | offset u64 | rank u32 | crc32 u32 | payload, `length` bytes |
//!
//! The payload is what stands from byte `offset` on in the log of `rank`: its header, or whole blocks. The checksum covers what is between the
//! magic and itself, then the payload. All integers little-endian.
//!
//! Each frame is appended by a single system call, so frames of ranks that write at the same time follow one another. One of which only a part
//! could be written (a full disk, a process killed meanwhile) stays as it is, because others may have been appended by then; it is written again as a
//! whole, or something else is, with the same `offset`.

use crate::codec::take_array;
use crate::format::{BLOCK_HEAD_BYTES, MAX_PLAIN, checksum_of};

/// First bytes of a frame.
pub const FRAME_MAGIC: [u8; 4] = *b"LBNF";
/// Bytes of a frame before its payload.
pub const FRAME_HEAD_BYTES: usize = 32;
/// Most bytes that a payload may take: those of the largest block.
pub const MAX_PAYLOAD: usize = BLOCK_HEAD_BYTES + MAX_PLAIN;
/// In place of a rank: the payload is no part of a log, but the ranks that are to write into the file, as `u32` each.
pub const OF_NO_RANK: u32 = u32::MAX;

/// The fields of a frame before its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Bytes of the payload.
    pub length: u32,
    /// The run's id, as in the log's header.
    pub run_id: u64,
    /// Offset of the payload in the rank's log, in bytes.
    pub offset: u64,
    /// Rank in MPI_COMM_WORLD, or [`OF_NO_RANK`].
    pub rank: u32,
    /// CRC-32 of the fields above and the payload.
    pub crc: u32,
}

impl FrameHead {
    /// The head of the frame that holds `payload`; `None`: it is longer than a frame can hold.
    pub fn for_payload(run_id: u64, rank: u32, offset: u64, payload: &[u8]) -> Option<Self> {
        let length = u32::try_from(payload.len()).ok().filter(|&length| length as usize <= MAX_PAYLOAD)?;
        let head = FrameHead { length, run_id, offset, rank, crc: 0 };
        Some(FrameHead { crc: head.checksum(payload), ..head })
    }

    /// The bytes of a frame's head.
    pub fn to_bytes(self) -> [u8; FRAME_HEAD_BYTES] {
        let mut bytes = [0; FRAME_HEAD_BYTES];
        bytes[..4].copy_from_slice(&FRAME_MAGIC);
        bytes[4..28].copy_from_slice(&self.covered());
        bytes[28..].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// The head that `bytes` state, or `None` where they do not begin with the magic or state a length that no frame has.
    pub fn from_bytes(bytes: &[u8; FRAME_HEAD_BYTES]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&FRAME_MAGIC)?;
        let head = FrameHead {
            length: u32::from_le_bytes(take_array(&mut rest)?),
            run_id: u64::from_le_bytes(take_array(&mut rest)?),
            offset: u64::from_le_bytes(take_array(&mut rest)?),
            rank: u32::from_le_bytes(take_array(&mut rest)?),
            crc: u32::from_le_bytes(take_array(&mut rest)?),
        };
        let is_sane = head.length as usize <= MAX_PAYLOAD && head.offset.checked_add(u64::from(head.length)).is_some();
        is_sane.then_some(head)
    }

    /// The checksum that goes with these fields (but `crc`) and `payload`.
    pub fn checksum(self, payload: &[u8]) -> u32 {
        checksum_of([&self.covered(), payload])
    }

    /// Bytes of the frame.
    pub fn frame_bytes(self) -> u64 {
        FRAME_HEAD_BYTES as u64 + u64::from(self.length)
    }

    /// The fields that the checksum covers.
    fn covered(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..4].copy_from_slice(&self.length.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.run_id.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.offset.to_le_bytes());
        bytes[20..].copy_from_slice(&self.rank.to_le_bytes());
        bytes
    }
}

/// Makes the frame that holds `payload` in `memory`, whose content is replaced; false where a frame cannot hold so much.
pub fn frame_into(memory: &mut Vec<u8>, run_id: u64, rank: u32, offset: u64, payload: &[u8]) -> bool {
    let Some(head) = FrameHead::for_payload(run_id, rank, offset, payload) else { return false };
    memory.clear();
    memory.extend_from_slice(&head.to_bytes());
    memory.extend_from_slice(payload);
    true
}

/// Name of the file with the logs of the node whose lowest rank this is.
pub fn node_name(lowest: u32) -> String {
    format!("node-{lowest:06}.lbp")
}

/// Name of the file with the rings of that node.
pub fn node_rings_name(lowest: u32) -> String {
    format!("node-{lowest:06}.rings")
}

/// The lowest rank of the node, from its file's name.
pub fn node_of_name(name: &str) -> Option<u32> {
    name.strip_prefix("node-")?.strip_suffix(".lbp")?.parse().ok()
}

/// Parses the number of the node from the name of the file with its rings.
pub fn node_of_rings(name: &str) -> Option<u32> {
    name.strip_prefix("node-")?.strip_suffix(".rings")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_the_lowest_rank_of_the_node() {
        for rank in [0, 12, 1_000_000, u32::MAX] {
            assert_eq!(node_of_name(&node_name(rank)), Some(rank));
            assert_eq!(node_of_rings(&node_rings_name(rank)), Some(rank));
            assert_eq!((node_of_name(&node_rings_name(rank)), node_of_rings(&node_name(rank))), (None, None));
        }
        assert_eq!((node_of_name("rank-000000.lbp"), node_of_name("node-.lbp")), (None, None));
    }

    #[test]
    fn a_head_that_promises_too_much_is_none() {
        let head = FrameHead { length: 100, run_id: 7, offset: 1 << 40, rank: 3, crc: 5 };
        assert_eq!(FrameHead::from_bytes(&head.to_bytes()), Some(head));
        for wrong in [FrameHead { length: MAX_PAYLOAD as u32 + 1, ..head }, FrameHead { offset: u64::MAX - 99, ..head }]
        {
            assert_eq!(FrameHead::from_bytes(&wrong.to_bytes()), None, "{wrong:?}");
        }
    }

    #[test]
    fn each_field_and_byte_is_in_the_checksum() {
        let head = FrameHead::for_payload(7, 3, 40, b"payload").unwrap();
        let others = [
            FrameHead::for_payload(8, 3, 40, b"payload"),
            FrameHead::for_payload(7, 4, 40, b"payload"),
            FrameHead::for_payload(7, 3, 41, b"payload"),
            FrameHead::for_payload(7, 3, 40, b"paylobd"),
            FrameHead::for_payload(7, 3, 40, b"payloa"),
        ];
        for other in others {
            assert_ne!(other.unwrap().crc, head.crc, "{other:?}");
        }
    }
}
