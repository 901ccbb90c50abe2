//! Reads only the trailer of a log: the index of its blocks, and from it the definitions and the summaries of the threads.
//!
//! ```text
//!   | header | definitions | records | records | … | definitions | summary | index |
//!              ↑________________________________________↑______________↑________|  found from the end
//! ```
//!
//! Whatever contradicts itself is no summary: the rank's events are there. So all is checked that can be without them: that the blocks follow one another
//! from the header to the index, that those read are what the index states, and that the summaries are of as many records, in the same time, as the
//! index counts.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::codec::get;
use crate::definition::Definition;
use crate::folder::RunFolder;
use crate::format::{
    BLOCK_HEAD_BYTES, BlockHead, BlockKind, LOG_MAGIC, LogHeader, MAX_HEADER, PREAMBLE_BYTES, definitions,
};
use crate::index::{self, INDEX_MAGIC, INDEX_TAIL_BYTES, IndexEntry};
use crate::log_paths::open_file;
use crate::reader::{contents, summary};
use crate::summary::ThreadSummary;
use crate::words::SystemError;

/// Bytes read at a log's end at first: of a short log that is all of it.
const WINDOW: u64 = 32 << 10;

/// Bytes at a log's end in which its index ends: what a process adds after MPI_Finalize comes after it.
const AFTER_INDEX: usize = 4 << 10;

/// The trailer of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AtEnd {
    /// Definitions of the log, in their order.
    pub definitions: Vec<Definition>,
    /// The summary of each thread that has records, by number; empty where the log has none.
    pub summaries: Vec<ThreadSummary>,
}

/// Why what a log ends with cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AtEndError {
    /// The log could not be read.
    #[error("{}", SystemError(.0))]
    Io(#[from] io::Error),
    /// The log contradicts itself.
    #[error("{0}")]
    Wrong(String),
}

fn wrong<T>(what: impl Into<String>) -> Result<T, AtEndError> {
    Err(AtEndError::Wrong(what.into()))
}

impl RunFolder {
    /// The entries of the index of the log of `rank`; `None` where it has none: it is of an older version, or the rank did not reach
    /// MPI_Finalize.
    ///
    /// Errors: what is wrong with it.
    pub fn index(&self, rank: u32) -> Result<Option<Vec<IndexEntry>>, AtEndError> {
        let Some(log) = self.bytes_at_end(rank)? else { return Ok(None) };
        Ok(log.index()?.map(|(entries, _)| entries))
    }

    /// Reads the trailer of the log of `rank`, or returns `None` if it has no index.
    ///
    /// Errors: what is wrong with it.
    pub fn at_end(&self, rank: u32) -> Result<Option<AtEnd>, AtEndError> {
        let Some(log) = self.bytes_at_end(rank)? else { return Ok(None) };
        let Some((entries, end)) = log.index()? else { return Ok(None) };
        log.at_end(&entries, end).map(Some)
    }

    fn bytes_at_end(&self, rank: u32) -> io::Result<Option<AtEndBytes>> {
        // A rank whose ring is left has not ended as it should.
        if self.has_rings(rank) { Ok(None) } else { AtEndBytes::open(&self.log_path(rank)).map(Some) }
    }
}

/// A log's bytes, of which the last are in memory.
struct AtEndBytes {
    log: File,
    length: u64,
    /// Offset of the bytes in memory.
    from: u64,
    window: Vec<u8>,
}

impl AtEndBytes {
    fn open(path: &Path) -> io::Result<Self> {
        let log = open_file(path)?;
        let length = log.metadata()?.len();
        let from = length.saturating_sub(WINDOW);
        let mut window = vec![0; (length - from) as usize];
        log.read_exact_at(&mut window, from)?;
        Ok(AtEndBytes { log, length, from, window })
    }

    /// Bytes of the log.
    fn bytes(&self, at: u64, n: usize) -> Result<std::borrow::Cow<'_, [u8]>, AtEndError> {
        if at.checked_add(n as u64).is_none_or(|end| end > self.length) {
            return wrong(format!("it states {n} bytes at byte {at} of a log of {}", self.length));
        }
        if self.from <= at {
            let start = (at - self.from) as usize;
            return Ok(self.window[start..start + n].into());
        }
        let mut bytes = vec![0; n];
        self.log.read_exact_at(&mut bytes, at)?;
        Ok(bytes.into())
    }

    /// The index's entries, and where it ends.
    fn index(&self) -> Result<Option<(Vec<IndexEntry>, u64)>, AtEndError> {
        let last = &self.window[self.window.len().saturating_sub(AFTER_INDEX)..];
        let Some(found) = last.windows(INDEX_MAGIC.len()).rposition(|bytes| bytes == INDEX_MAGIC) else {
            return Ok(None);
        };
        let end = self.length - last.len() as u64 + (found + INDEX_MAGIC.len()) as u64;
        let Some(tail) = end.checked_sub(INDEX_TAIL_BYTES as u64) else { return Ok(None) };
        let place = self.bytes(tail, 8)?.first_chunk().map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes));
        let bytes = end.checked_sub(place).filter(|_| place < end);
        let Some(bytes) = bytes else {
            return wrong(format!("the index states that it begins at byte {place}, after its end"));
        };
        let plain = self.block(place, bytes, BlockKind::Index)?;
        let Some(entries) = index::decode(&plain) else { return wrong("the index cannot be understood") };
        let mut at = self.header_end()?;
        for entry in &entries {
            if entry.place != at || entry.bytes < BLOCK_HEAD_BYTES as u64 {
                return wrong(format!(
                    "the index states a block at byte {}, but one should be at byte {at}",
                    entry.place
                ));
            }
            at += entry.bytes;
        }
        if at != place {
            return wrong(format!("the blocks of the index end at byte {at}, the index begins at byte {place}"));
        }
        Ok(Some((entries, end)))
    }

    fn header(&self) -> Result<LogHeader, AtEndError> {
        let length = self.header_end()? - PREAMBLE_BYTES as u64;
        let bytes = self.bytes(PREAMBLE_BYTES as u64, usize::try_from(length).unwrap_or(usize::MAX).min(MAX_HEADER))?;
        // Its checksum holds: the run was opened by it.
        get::<LogHeader>(&bytes)
            .map(|(header, _)| header)
            .ok_or_else(|| AtEndError::Wrong("the header cannot be understood".to_owned()))
    }

    fn header_end(&self) -> Result<u64, AtEndError> {
        let preamble = self.bytes(0, PREAMBLE_BYTES)?;
        let length =
            preamble.get(10..14).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes));
        match preamble.starts_with(&LOG_MAGIC) {
            true => Ok(PREAMBLE_BYTES as u64 + u64::from(length)),
            false => wrong("the log does not begin with its header"),
        }
    }

    /// The plain bytes of a block that is to be of this kind and as long as stated.
    fn block(&self, place: u64, bytes: u64, kind: BlockKind) -> Result<Vec<u8>, AtEndError> {
        let head = self.bytes(place, BLOCK_HEAD_BYTES)?;
        let head = head.first_chunk().and_then(BlockHead::from_bytes);
        let Some(head) = head.filter(|head| BLOCK_HEAD_BYTES as u64 + u64::from(head.stored) == bytes) else {
            return wrong(format!("no block of {bytes} bytes is at byte {place}"));
        };
        let payload = self.bytes(place + BLOCK_HEAD_BYTES as u64, head.stored as usize)?;
        if head.kind != kind as u8 || head.checksum(&payload) != head.crc {
            return wrong(format!("the block at byte {place} is damaged, or not of kind {}", kind as u8));
        }
        let mut memory = Vec::new();
        match contents(&mut memory, &head, &payload) {
            Some((plain, _)) => Ok(plain.to_vec()),
            None => wrong(format!("the block at byte {place} does not hold what it states")),
        }
    }

    fn at_end(&self, entries: &[IndexEntry], end: u64) -> Result<AtEnd, AtEndError> {
        let mut found = AtEnd::default();
        for entry in entries {
            match BlockKind::from_number(entry.kind) {
                Some(BlockKind::Definitions) => self.definitions(entry.place, entry.bytes, &mut found.definitions)?,
                Some(BlockKind::Summary) => {
                    match summary(&self.block(entry.place, entry.bytes, BlockKind::Summary)?) {
                        Some(summary) => found.summaries.push(summary),
                        None => return wrong("a summary cannot be understood"),
                    }
                }
                _ => {}
            }
        }
        self.after(end, &mut found.definitions)?;
        if !found.summaries.is_empty() {
            let header = self.header()?;
            if let Some(other) = found.summaries.iter().find(|summary| !summary.is_of(&header)) {
                return wrong(format!("a summary is of rank {}, or of another run", other.rank));
            }
            agree(entries, &found.summaries)?;
        }
        Ok(found)
    }

    /// The definitions in the blocks from `place` on that take so many bytes.
    fn definitions(&self, mut place: u64, bytes: u64, all: &mut Vec<Definition>) -> Result<(), AtEndError> {
        let end = place + bytes;
        while place < end {
            let bytes = self.block_bytes(place)?.filter(|bytes| *bytes <= end - place);
            let Some(bytes) = bytes else { return wrong(format!("no block of definitions is at byte {place}")) };
            self.definitions_of(place, bytes, all)?;
            place += bytes;
        }
        Ok(())
    }

    /// The bytes of the block at `place`, with its head; `None` where there is none.
    fn block_bytes(&self, place: u64) -> Result<Option<u64>, AtEndError> {
        let head = self.bytes(place, BLOCK_HEAD_BYTES)?;
        let head = head.first_chunk().and_then(BlockHead::from_bytes);
        Ok(head.map(|head| BLOCK_HEAD_BYTES as u64 + u64::from(head.stored)))
    }

    fn definitions_of(&self, place: u64, bytes: u64, all: &mut Vec<Definition>) -> Result<(), AtEndError> {
        match definitions(&self.block(place, bytes, BlockKind::Definitions)?) {
            Some((found, 0)) => all.extend(found),
            // The reader of all blocks reports what it does not know.
            Some(_) => return wrong("definitions are of kinds that this version does not know"),
            None => return wrong(format!("the definitions at byte {place} cannot be understood")),
        }
        Ok(())
    }

    /// Reads the blocks after the index, which are definitions alone.
    fn after(&self, mut at: u64, all: &mut Vec<Definition>) -> Result<(), AtEndError> {
        while at < self.length {
            let Some(bytes) = self.block_bytes(at)? else {
                return wrong(format!("no block follows the index at byte {at}"));
            };
            self.definitions_of(at, bytes, all)?;
            at += bytes;
        }
        Ok(())
    }
}

/// Checks that the summaries agree with the blocks of records and profiles: the same threads, as many records, in the same time.
fn agree(entries: &[IndexEntry], summaries: &[ThreadSummary]) -> Result<(), AtEndError> {
    // By thread: where its records begin, when, where the next one would be, and when.
    let mut threads: BTreeMap<u32, [u64; 4]> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.has_records()) {
        let [.., next, end] = threads.entry(entry.thread).or_insert([entry.first, entry.begin, entry.first, 0]);
        if *next != entry.first {
            return wrong(format!("records of thread {} are missing before its record {}", entry.thread, entry.first));
        }
        (*next, *end) = (entry.first + entry.records, entry.end);
    }
    for summary in summaries {
        let (batch, thread) = (&summary.batch, summary.thread());
        let stated = [batch.head.first, batch.head.previous_end, batch.next.first, batch.next.previous_end];
        match threads.remove(&thread) {
            Some(counted) if counted == stated && counted[2] - counted[0] == summary.records() => {}
            Some([first, _, next, _]) => {
                return wrong(format!(
                    "the summary of thread {thread} is of {} records, or of another time than the log's {}",
                    summary.records(),
                    next - first
                ));
            }
            None => {
                return wrong(format!("there is a summary of thread {thread} and no record of it, or another summary"));
            }
        }
    }
    match threads.first_key_value() {
        Some((thread, _)) => wrong(format!("there is no summary of thread {thread}, which has records")),
        None => Ok(()),
    }
}
