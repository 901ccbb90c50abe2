//! The index at a log's end: where each block is, and what it holds, so that a reader finds what it needs without the rest.
//!
//! | entry | entry | …, each: kind u8, then varints: gap, bytes, thread, first, records, begin, length
//!
//! Blocks of definitions that follow one another have one entry: a rank's first calls define one after another.
//!
//! `gap`: bytes between the block before and this one; none, but for the first one, whose gap is the log's header. `begin` is, as a signed difference,
//! from the end of the entry before. The block's tail is | its own place u64 | "LBPINDEX" |, by which it is found from the log's end.

use crate::codec::{decode_zigzag, encode_zigzag, put_varint, take_array, take_varint};
use crate::format::{BatchHead, BlockKind};
use crate::profile::ProfileBatch;
use crate::record::Record;
use crate::record_predictor::end_of;
use crate::sample::{Sample, SampleHead};

/// Last bytes of an index.
pub const INDEX_MAGIC: [u8; 8] = *b"LBPINDEX";
/// Bytes of its tail.
pub const INDEX_TAIL_BYTES: usize = 16;

/// Maximum number of bytes of an index, enough for about 90,000 blocks. A longer log has no index.
const MOST_BYTES: usize = 1 << 20;

const FEWEST_BYTES: usize = 8;

/// A block of the log, or blocks of definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// Number of its kind.
    pub kind: u8,
    /// Offset in the log.
    pub place: u64,
    /// Its bytes, head included.
    pub bytes: u64,
    /// Its contents; for definitions both times are the end of the entry before.
    pub contents: BlockContents,
}

impl IndexEntry {
    /// Returns whether the block holds records, or sums of records.
    pub fn has_records(&self) -> bool {
        self.kind == BlockKind::Records as u8 || self.kind == BlockKind::Profile as u8
    }
}

/// The contents of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BlockContents {
    /// Thread whose records or samples it holds; 0 if it holds definitions.
    pub thread: u32,
    /// Sequence number of the first of them.
    pub first: u64,
    /// Number of records or samples. For a profile, the number that it sums up; for definitions 0.
    pub records: u64,
    /// Ticks from which the first one's time counts.
    pub begin: u64,
    /// Ticks at the end of the last one.
    pub end: u64,
}

impl BlockContents {
    /// Returns the contents of a batch of records that follows `head`; `n` is their number, with joined ones counted twice.
    pub fn of_records(head: &BatchHead, records: &[Record], n: usize) -> BlockContents {
        let BatchHead { thread, first, previous_end, .. } = *head;
        let end = records.last().map_or(0, |last| end_of(last.begin, last.end));
        BlockContents { thread, first, records: n as u64, begin: previous_end, end }
    }

    /// Returns the contents of a profile: the records that it sums up.
    pub fn of_profile(batch: &ProfileBatch) -> BlockContents {
        let BatchHead { thread, first, previous_end, .. } = batch.head;
        let records = batch.next.first.wrapping_sub(first);
        BlockContents { thread, first, records, begin: previous_end, end: batch.next.previous_end }
    }

    /// Returns the contents of a block of samples that follow `head`.
    pub fn of_samples(head: &SampleHead, samples: &[Sample]) -> BlockContents {
        let SampleHead { thread, first, previous, .. } = *head;
        let end = samples.last().map_or(previous, |last| last.ticks);
        BlockContents { thread, first, records: samples.len() as u64, begin: previous, end }
    }
}

/// An index while its log is written, or read.
#[derive(Debug, Default)]
pub struct LogIndex {
    encoded: Vec<u8>,
    /// The last block, where it is of definitions: its entry is made when something else follows.
    definitions: Option<(u64, u64)>,
    end: u64,
    ticks: u64,
    is_full: bool,
}

impl LogIndex {
    /// Adds the block of `bytes` bytes at `place`, which follows those before.
    pub fn add(&mut self, kind: u8, place: u64, bytes: u64, held: &BlockContents) {
        if kind == BlockKind::Definitions as u8 {
            match &mut self.definitions {
                Some((first, so_far)) if first.wrapping_add(*so_far) == place => *so_far = so_far.saturating_add(bytes),
                _ => {
                    self.settle();
                    self.definitions = Some((place, bytes));
                }
            }
            return;
        }
        self.settle();
        self.push(kind, place, bytes, held);
    }

    /// Makes the entry of the last definitions.
    fn settle(&mut self) {
        if let Some((place, bytes)) = self.definitions.take() {
            let held = BlockContents { begin: self.ticks, end: self.ticks, ..BlockContents::default() };
            self.push(BlockKind::Definitions as u8, place, bytes, &held);
        }
    }

    fn push(&mut self, kind: u8, place: u64, bytes: u64, held: &BlockContents) {
        if self.encoded.len() >= MOST_BYTES {
            self.is_full = true;
            return;
        }
        self.encoded.push(kind);
        let length = held.end.wrapping_sub(held.begin);
        let begin = encode_zigzag(held.begin.wrapping_sub(self.ticks) as i64);
        for value in [place.wrapping_sub(self.end), bytes, held.thread.into(), held.first, held.records, begin, length]
        {
            put_varint(value, &mut self.encoded);
        }
        (self.end, self.ticks) = (place.wrapping_add(bytes), held.end);
    }

    /// Returns the plain bytes of the index block, or `None` if there are too many entries.
    pub fn encoded(&mut self) -> Option<&[u8]> {
        self.settle();
        (!self.is_full).then_some(&self.encoded)
    }

    /// Returns the offset at which the last block ends.
    pub fn end(&self) -> u64 {
        self.definitions.map_or(self.end, |(place, bytes)| place.wrapping_add(bytes))
    }
}

/// Returns the tail of an index at this offset.
pub fn index_tail(place: u64) -> [u8; INDEX_TAIL_BYTES] {
    let mut tail = [0; INDEX_TAIL_BYTES];
    tail[..8].copy_from_slice(&place.to_le_bytes());
    tail[8..].copy_from_slice(&INDEX_MAGIC);
    tail
}

/// Decodes the entries of an index, or returns `None` if its bytes are none, or state offsets or numbers that no log has.
pub fn decode_index(mut plain: &[u8]) -> Option<Vec<IndexEntry>> {
    let mut entries = Vec::with_capacity(plain.len() / FEWEST_BYTES);
    let mut last = IndexEntry::default();
    while !plain.is_empty() {
        let [kind] = take_array::<1>(&mut plain)?;
        let gap = take_varint(&mut plain)?;
        let bytes = take_varint(&mut plain)?;
        let thread = u32::try_from(take_varint(&mut plain)?).ok()?;
        let first = take_varint(&mut plain)?;
        let records = take_varint(&mut plain)?;
        let begin = last.contents.end.wrapping_add(decode_zigzag(take_varint(&mut plain)?) as u64);
        let end = begin.wrapping_add(take_varint(&mut plain)?);
        let place = last.place.checked_add(last.bytes)?.checked_add(gap)?;
        place.checked_add(bytes)?;
        first.checked_add(records)?;
        last = IndexEntry { kind, place, bytes, contents: BlockContents { thread, first, records, begin, end } };
        entries.push(last);
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_place_or_number_is_no_index() {
        let entry = |gap: u64, bytes: u64, first: u64, records: u64| {
            let mut plain = vec![2];
            [gap, bytes, 0, first, records, 0, 0].into_iter().for_each(|value| put_varint(value, &mut plain));
            plain
        };
        assert!(decode_index(&entry(1, 2, 3, 4)).is_some());
        for wrong in [entry(u64::MAX, 1, 0, 0), entry(0, u64::MAX, 0, 0), entry(0, 1, u64::MAX, 1)] {
            let twice = [wrong.clone(), entry(1, 1, 0, 0)].concat();
            assert!(decode_index(&wrong).is_none() || decode_index(&twice).is_none());
        }
    }

    #[test]
    fn a_log_of_too_many_blocks_has_no_index() {
        let mut index = LogIndex::default();
        (0..200_000).for_each(|n| {
            index.add(2, n * 10, 10, &BlockContents { first: n, records: 1, begin: n, end: n + 1, thread: 0 })
        });
        assert_eq!(index.encoded(), None);
        assert!(index.encoded.len() < MOST_BYTES + 100);
    }
}
