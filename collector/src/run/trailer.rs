//! Reads only the trailer of a log: the index of its blocks, and from it the definitions and the summaries of the threads.
//!
//! ```text
//!   | header | definitions | records | records | … | definitions | summary | index |
//!              ↑________________________________________↑______________↑________|  found from the end
//! ```
//!
//! A summary that contradicts anything is not used, because the rank's events can be read instead. Checked is everything that can be without them: the
//! blocks follow one another from the header to the index, the blocks that are read are as the index states, and the summaries have the records and times
//! of the index.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::definition::Definition;
use crate::folder::RunFolder;
use crate::format::{BLOCK_HEAD_BYTES, BlockHead, BlockKind, LogHeader, decode_definitions};
use crate::index::{self, BlockContents, INDEX_MAGIC, INDEX_TAIL_BYTES, IndexEntry};
use crate::log_paths::open_file;
use crate::rank_log::open_log;
use crate::reader::{decode_summary, unpack_block};
use crate::summary::ThreadSummary;

/// Bytes read at a log's end at first. Many logs are shorter.
const WINDOW: u64 = 32 << 10;

/// Bytes at a log's end in which its index ends. Blocks that a process adds after MPI_Finalize come after it.
const AFTER_INDEX: usize = 4 << 10;

/// The trailer of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtEnd {
    /// Definitions of the log, in their order.
    pub definitions: Vec<Definition>,
    /// The summary of each thread that has records, by number; empty where the log has none.
    pub summaries: Vec<ThreadSummary>,
}

fn log_contradiction<T>(what: impl Into<String>) -> io::Result<T> {
    Err(io::Error::other(what.into()))
}

impl RunFolder {
    /// Reads the index of the log of `rank`, or returns `None` if it has none: it is of an older version, or the rank did not reach MPI_Finalize.
    ///
    /// Errors: the log contradicts itself, or cannot be read.
    pub fn index(&self, rank: u32) -> io::Result<Option<Vec<IndexEntry>>> {
        let Some(log) = self.bytes_at_end(rank)? else { return Ok(None) };
        Ok(log.index()?.map(|(entries, _)| entries))
    }

    /// Reads the trailer of the log of `rank`, or returns `None` if it has no index.
    ///
    /// Errors: as in [`RunFolder::index`].
    pub fn at_end(&self, rank: u32) -> io::Result<Option<AtEnd>> {
        let Some(log) = self.bytes_at_end(rank)? else { return Ok(None) };
        let Some((entries, end)) = log.index()? else { return Ok(None) };
        log.at_end(&entries, end).map(Some)
    }

    fn bytes_at_end(&self, rank: u32) -> io::Result<Option<AtEndBytes>> {
        // A rank whose ring is left has not ended as it should.
        if self.has_rings(rank) { Ok(None) } else { AtEndBytes::open(&self.log_path(rank)).map(Some) }
    }
}

struct AtEndBytes {
    header: LogHeader,
    header_end: u64,
    log: File,
    length: u64,
    from: u64,
    window: Vec<u8>,
}

impl AtEndBytes {
    fn open(path: &Path) -> io::Result<Self> {
        let reader = open_log(path).map_err(io::Error::other)?;
        let log = open_file(path)?;
        let length = log.metadata()?.len();
        let from = length.saturating_sub(WINDOW);
        let mut window = vec![0; (length - from) as usize];
        log.read_exact_at(&mut window, from)?;
        Ok(AtEndBytes { header: reader.header().clone(), header_end: reader.position(), log, length, from, window })
    }

    fn bytes(&self, at: u64, n: usize) -> io::Result<std::borrow::Cow<'_, [u8]>> {
        if at.checked_add(n as u64).is_none_or(|end| end > self.length) {
            return log_contradiction(format!("it states {n} bytes at byte {at} of a log of {}", self.length));
        }
        if self.from <= at {
            let start = (at - self.from) as usize;
            return Ok(self.window[start..start + n].into());
        }
        let mut bytes = vec![0; n];
        self.log.read_exact_at(&mut bytes, at)?;
        Ok(bytes.into())
    }

    fn index(&self) -> io::Result<Option<(Vec<IndexEntry>, u64)>> {
        let last = &self.window[self.window.len().saturating_sub(AFTER_INDEX)..];
        let Some(found) = last.windows(INDEX_MAGIC.len()).rposition(|bytes| bytes == INDEX_MAGIC) else {
            return Ok(None);
        };
        let end = self.length - last.len() as u64 + (found + INDEX_MAGIC.len()) as u64;
        let Some(tail) = end.checked_sub(INDEX_TAIL_BYTES as u64) else { return Ok(None) };
        let place = self.bytes(tail, 8)?.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes));
        let bytes = end.checked_sub(place).filter(|_| place < end);
        let Some(bytes) = bytes else {
            return log_contradiction(format!("the index states that it begins at byte {place}, after its end"));
        };
        let plain = self.block(place, bytes, BlockKind::Index)?;
        let Some(entries) = index::decode_index(&plain) else {
            return log_contradiction("the index cannot be understood");
        };
        let mut at = self.header_end;
        for entry in &entries {
            if entry.place != at || entry.bytes < BLOCK_HEAD_BYTES as u64 {
                return log_contradiction(format!(
                    "the index states a block at byte {}, but one should be at byte {at}",
                    entry.place
                ));
            }
            at += entry.bytes;
        }
        if at != place {
            return log_contradiction(format!(
                "the blocks of the index end at byte {at}, the index begins at byte {place}"
            ));
        }
        Ok(Some((entries, end)))
    }

    /// Returns the plain bytes of a block, which must be of this kind and as long as stated.
    fn block(&self, place: u64, bytes: u64, kind: BlockKind) -> io::Result<Vec<u8>> {
        let head = self.bytes(place, BLOCK_HEAD_BYTES)?;
        let head = head.first_chunk().and_then(BlockHead::from_bytes);
        let Some(head) = head.filter(|head| BLOCK_HEAD_BYTES as u64 + u64::from(head.stored) == bytes) else {
            return log_contradiction(format!("no block of {bytes} bytes is at byte {place}"));
        };
        let payload = self.bytes(place + BLOCK_HEAD_BYTES as u64, head.stored as usize)?;
        if head.kind != kind as u8 || head.checksum(&payload) != head.crc {
            return log_contradiction(format!("the block at byte {place} is damaged, or not of kind {}", kind as u8));
        }
        let mut memory = Vec::new();
        match unpack_block(&mut memory, &head, &payload) {
            Some((plain, _)) => Ok(plain.to_vec()),
            None => log_contradiction(format!("the block at byte {place} does not hold what it states")),
        }
    }

    fn at_end(&self, entries: &[IndexEntry], end: u64) -> io::Result<AtEnd> {
        let mut found = AtEnd::default();
        for entry in entries {
            match BlockKind::from_number(entry.kind) {
                Some(BlockKind::Definitions) => self.definitions(entry.place, entry.bytes, &mut found.definitions)?,
                Some(BlockKind::Summary) => {
                    match decode_summary(&self.block(entry.place, entry.bytes, BlockKind::Summary)?) {
                        Some(summary) => found.summaries.push(summary),
                        None => return log_contradiction("a summary cannot be understood"),
                    }
                }
                _ => {}
            }
        }
        // Only definitions follow the index.
        self.definitions(end, self.length - end, &mut found.definitions)?;
        if !found.summaries.is_empty() {
            if let Some(other) = found.summaries.iter().find(|summary| !summary.is_of(&self.header)) {
                return log_contradiction(format!("a summary is of rank {}, or of another run", other.rank));
            }
            check_summaries(entries, &found.summaries)?;
        }
        Ok(found)
    }

    fn definitions(&self, mut place: u64, bytes: u64, all: &mut Vec<Definition>) -> io::Result<()> {
        let end = place + bytes;
        while place < end {
            let bytes = self.block_bytes(place)?.filter(|bytes| *bytes <= end - place);
            let Some(bytes) = bytes else {
                return log_contradiction(format!("no block of definitions is at byte {place}"));
            };
            match decode_definitions(&self.block(place, bytes, BlockKind::Definitions)?) {
                Some((found, 0)) => all.extend(found),
                // The reader of all blocks reports what it does not know.
                Some(_) => return log_contradiction("definitions are of kinds that this version does not know"),
                None => return log_contradiction(format!("the definitions at byte {place} cannot be understood")),
            }
            place += bytes;
        }
        Ok(())
    }

    /// Returns the bytes of the block at `place`, head included, or `None` if there is none.
    fn block_bytes(&self, place: u64) -> io::Result<Option<u64>> {
        let head = self.bytes(place, BLOCK_HEAD_BYTES)?;
        let head = head.first_chunk().and_then(BlockHead::from_bytes);
        Ok(head.map(|head| BLOCK_HEAD_BYTES as u64 + u64::from(head.stored)))
    }
}

/// Checks that the summaries agree with the blocks of records and profiles: the same threads, as many records, in the same time.
fn check_summaries(entries: &[IndexEntry], summaries: &[ThreadSummary]) -> io::Result<()> {
    // By thread: where its records begin, when, where the next one would be, and when.
    let mut threads: BTreeMap<u32, [u64; 4]> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.has_records()) {
        let BlockContents { thread, first, records, begin, end: until } = entry.contents;
        let [.., next, end] = threads.entry(thread).or_insert([first, begin, first, 0]);
        if *next != first {
            return log_contradiction(format!("records of thread {thread} are missing before its record {first}"));
        }
        (*next, *end) = (first + records, until);
    }
    for summary in summaries {
        let (batch, thread) = (&summary.batch, summary.thread());
        let stated = [batch.head.first, batch.head.previous_end, batch.next.first, batch.next.previous_end];
        match threads.remove(&thread) {
            Some(counted) if counted == stated && counted[2] - counted[0] == summary.records() => {}
            Some([first, _, next, _]) => {
                return log_contradiction(format!(
                    "the summary of thread {thread} is of {} records, or of another time than the log's {}",
                    summary.records(),
                    next - first
                ));
            }
            None => {
                return log_contradiction(format!(
                    "there is a summary of thread {thread} and no record of it, or another summary"
                ));
            }
        }
    }
    match threads.first_key_value() {
        Some((thread, _)) => log_contradiction(format!("there is no summary of thread {thread}, which has records")),
        None => Ok(()),
    }
}
