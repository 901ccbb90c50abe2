//! Reads a rank's log from any [`Read`], whatever state it is in.
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`LogItem::Problem`] among what is there. Sizes
//! are checked before memory is taken, so that a hostile log costs no more than a block may hold.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::PathBuf;

use zstd::bulk::Decompressor;

use crate::blocks::{BlockScanner, CutKind, LogBlockEvent};
use crate::codec::{decode_value, u16_at, u32_at};
use crate::decode::RecordDecoder;
use crate::definition::Definition;
use crate::format::{
    BLOCK_HEAD_BYTES, BatchHead, BlockHead, BlockKind, LOG_MAGIC, LogHeader, MAX_HEADER, MAX_OPEN_REGIONS,
    PREAMBLE_BYTES, VERSION, decode_definitions, header_checksum,
};
use crate::index::{self, BlockContents, LogIndex};
use crate::joined;
use crate::polling::PollSums;
use crate::problem::{Problem, ProblemKind};
use crate::profile::ProfileBatch;
use crate::record::Record;
use crate::sample::{Sample, SampleHead};
use crate::sample_block;
use crate::summary::ThreadSummary;
use crate::words::{CountedNoun, GroupedNumber, SystemError};

/// An item of a log, in the order in which it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum LogItem {
    /// Definitions; each comes before the records that refer to it.
    Definitions(Vec<Definition>),
    /// Records of one thread, following one another.
    Records {
        /// Position in their thread.
        head: BatchHead,
        /// The records; `call_site` is the id of a [`crate::definition::CallSite`], or `u64::MAX`.
        records: Vec<Record>,
    },
    /// Records of one thread that were folded when they were recorded.
    Profile(Box<ProfileBatch>),
    /// Samples of one thread, following one another.
    Samples {
        /// Position in their thread.
        head: SampleHead,
        /// The samples.
        samples: Vec<Sample>,
    },
    /// A thread's whole run, as the recorder summed it up at its end: after all of its records.
    Summary(Box<ThreadSummary>),
    /// Something is missing or wrong.
    Problem(Problem),
    /// Sums of the polls of the rank's first thread, at the end of a log whose reader was asked to decide on the time between polls.
    Polls(PollSums),
}

impl LogItem {
    pub(crate) fn problem(rank: u32, kind: ProblemKind, count: u64, detail: String) -> LogItem {
        LogItem::Problem(Problem { kind, rank: Some(rank), count, detail })
    }
}

/// A log that could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: UnreadableLog,
}

/// The reason why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableLog {
    /// The system does not let it be read.
    #[error("{}", SystemError(.0))]
    Io(io::Error),
    /// The file is something else. It begins with these bytes, at most eight.
    #[error(
        "not a log of lbprof: it begins with {0:02x?}, a log with \"LBPROFLG\": leave other files out of the folder"
    )]
    NotALog(Vec<u8>),
    /// The log has this version of the format.
    #[error("log format {0}, this lb-report reads {VERSION}: use the lb-report of the run's lbprof")]
    Version(u16),
    /// The log has this number of bytes, and ends before its first block.
    #[error("the log ends after {}, within its header: the rank ended in MPI_Init, the disk was full, or the copy is incomplete", CountedNoun(*.0, "byte"))]
    Short(u64),
    /// The header's checksum does not hold, or its content cannot be understood.
    #[error("the log's header is damaged ({0}): copy the log again from where it was recorded")]
    Header(String),
}

impl OpenError {
    /// Returns the problem that the log stands for.
    pub fn kind(&self) -> ProblemKind {
        match &self.reason {
            UnreadableLog::Io(error) => ProblemKind::of_unreadable(error),
            UnreadableLog::Short(0) => ProblemKind::EndedInInit,
            _ => ProblemKind::Damaged,
        }
    }
}

/// A log being read.
pub struct LogReader<R: Read> {
    blocks: BlockScanner<R>,
    header: LogHeader,
    reached: LogPosition,
    samples_only: bool,
    /// The blocks so far, until one was skipped.
    index: Option<LogIndex>,
    then: Option<LogItem>,
    /// Blocks, definitions and records of kinds that this version does not know.
    unknown: u64,
    /// Bytes that all blocks so far held when unpacked.
    unpacked: u64,
    /// The kind of the block within which the log ends, and how many of its bytes there are.
    cut: (CutKind, u64),
    done: bool,
}

#[derive(Default)]
struct UnpackBuffers {
    decoder: RecordDecoder,
    plain: Vec<u8>,
}

/// Maximum sizes of the memory for a block and its records that a thread keeps. Recorded blocks are smaller.
const MOST_KEPT: usize = 1 << 20;
const MOST_RECORDS_KEPT: usize = 1 << 13;

// One serves all logs that a thread reads, because thousands of them may be open.
thread_local!(static UNPACKING: Cell<Option<Box<UnpackBuffers>>> = const { Cell::new(None) });

impl UnpackBuffers {
    fn keep(self: Box<Self>) {
        if self.plain.len() <= MOST_KEPT {
            UNPACKING.set(Some(self));
        }
    }
}

/// Takes back the memory of records that are no longer needed, for the next ones that this thread reads. Freeing such large pieces would fragment the heap.
pub fn recycle_records(records: Vec<Record>) {
    if records.capacity() <= MOST_RECORDS_KEPT {
        let mut unpacking = UNPACKING.take().unwrap_or_default();
        unpacking.decoder.recycle(records);
        unpacking.keep();
    }
}

/// Maximum number of unpacked bytes of a log: a fixed number, and a factor for each byte of the log. Recorded logs grow by less than 10 when unpacked. A
/// log that grows by hundreds was made to keep its reader busy.
const UNPACKED: (u64, u64) = (256 << 20, 32);

impl<R: Read> LogReader<R> {
    /// Opens a log: reads its header from `source`.
    pub fn new(source: R) -> Result<Self, UnreadableLog> {
        let mut blocks = BlockScanner::new(source);
        let preamble = blocks.take(PREAMBLE_BYTES).to_vec();
        if preamble.iter().zip(LOG_MAGIC).any(|(&byte, magic)| byte != magic) {
            return Err(UnreadableLog::NotALog(preamble[..preamble.len().min(8)].to_vec()));
        }
        let Some(&preamble) = preamble.first_chunk::<PREAMBLE_BYTES>() else {
            return Err(ended_early(&mut blocks));
        };
        let version = u16_at(&preamble, 8);
        if version != VERSION {
            return Err(UnreadableLog::Version(version));
        }
        let (length, crc) = (u32_at(&preamble, 10) as usize, u32_at(&preamble, 14));
        if length > MAX_HEADER {
            let (claimed, most) = (CountedNoun(length as u64, "byte"), GroupedNumber(MAX_HEADER as u64));
            return Err(UnreadableLog::Header(format!("it claims {claimed}, at most {most} are possible")));
        }
        if blocks.take(length).len() < length {
            return Err(ended_early(&mut blocks));
        }
        let bytes = blocks.taken(length);
        let actual = header_checksum(version, bytes);
        if actual != crc {
            return Err(UnreadableLog::Header(format!("its checksum is {actual:08x}, it states {crc:08x}")));
        }
        let Some((header, _)) = decode_value::<LogHeader>(bytes) else {
            return Err(UnreadableLog::Header("its content cannot be understood".to_owned()));
        };
        let log = LogReader::resumed(header, blocks, LogPosition::default());
        Ok(LogReader { index: Some(LogIndex::default()), ..log })
    }

    pub(crate) fn resumed(header: LogHeader, blocks: BlockScanner<R>, reached: LogPosition) -> Self {
        LogReader {
            blocks,
            header,
            reached,
            samples_only: false,
            index: None,
            then: None,
            unknown: 0,
            unpacked: 0,
            cut: (CutKind::NotCut, 0),
            done: false,
        }
    }

    /// The log's header.
    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// Returns the next item, or `None` at the end.
    pub fn next_item(&mut self) -> Option<LogItem> {
        loop {
            if let Some(item) = self.then.take() {
                return Some(item);
            }
            if self.done {
                return None;
            }
            let item = match self.blocks.next() {
                Some(LogBlockEvent::Block(head)) => self.item(head),
                Some(LogBlockEvent::Skipped { at, bytes }) => {
                    self.index = None;
                    let detail = format!("{} from byte {at} of the log", CountedNoun(bytes, "byte"));
                    Some(self.problem(ProblemKind::Damaged, bytes, detail))
                }
                Some(LogBlockEvent::Cut { at, bytes, kind }) => {
                    self.cut = (kind, bytes);
                    let detail =
                        format!("{} of an unfinished block from byte {at} of the log", CountedNoun(bytes, "byte"));
                    Some(self.problem(ProblemKind::Truncated, bytes, detail))
                }
                Some(LogBlockEvent::Failed(error)) => {
                    Some(self.problem(ProblemKind::Damaged, 1, SystemError(&error).to_string()))
                }
                None => {
                    self.done = true;
                    let detail = "parts of a kind that this version does not know";
                    (self.unknown > 0)
                        .then(|| self.problem(ProblemKind::NewerOperation, self.unknown, detail.to_owned()))
                }
            };
            if item.is_some() {
                return item;
            }
        }
    }

    pub(crate) fn give_back_memory(&mut self) {
        self.blocks.give_back_memory();
    }

    pub(crate) fn samples_only(self) -> Self {
        LogReader { samples_only: true, index: None, ..self }
    }

    /// Returns whether the log, if it ends within a block, ends within one of records, so that it loses nothing that a ring does not hold.
    pub(crate) fn is_cut_in_records(&self) -> bool {
        match self.cut.0 {
            CutKind::NotCut => true,
            CutKind::Known(kind) => kind == BlockKind::Records as u8,
            CutKind::Unknown => false,
        }
    }

    pub(crate) fn whole_bytes(&self) -> u64 {
        self.blocks.position - self.cut.1
    }

    pub(crate) fn position(&self) -> u64 {
        self.blocks.position
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.0 != CutKind::NotCut
    }

    pub(crate) fn into_position(self) -> LogPosition {
        self.reached
    }

    pub(crate) fn source(&self) -> &R {
        &self.blocks.source
    }

    pub(crate) fn sequences(&mut self) -> &mut SequenceNumbers {
        &mut self.reached.records
    }

    fn item(&mut self, block: BlockHead) -> Option<LogItem> {
        let Some(kind) = BlockKind::from_number(block.kind) else {
            (self.unknown, self.index) = (self.unknown + 1, None);
            return None;
        };
        if self.samples_only && !matches!(kind, BlockKind::Definitions | BlockKind::Samples) {
            return None;
        }
        self.unpacked += u64::from(block.plain);
        let bytes = self.blocks.position;
        if self.unpacked > UNPACKED.0 + UNPACKED.1 * bytes {
            self.done = true;
            let detail = format!(
                "its first {} hold {}, more than a log can; the rest is left out",
                CountedNoun(bytes, "byte"),
                CountedNoun(self.unpacked, "byte")
            );
            return Some(self.problem(ProblemKind::Damaged, 1, detail));
        }
        let mut unpacking = UNPACKING.take().unwrap_or_default();
        let decoded = self.decode(kind, &block, &mut unpacking);
        unpacking.keep();
        let Some((contents, item)) = decoded else {
            let detail = format!("a block of {kind:?} whose checksum holds cannot be understood");
            return Some(self.problem(ProblemKind::Damaged, 1, detail));
        };
        if kind != BlockKind::Index
            && let Some(index) = &mut self.index
        {
            let bytes = BLOCK_HEAD_BYTES as u64 + u64::from(block.stored);
            index.add(kind as u8, self.blocks.position - bytes, bytes, &contents);
        }
        item
    }

    /// Decodes a block, unless it cannot be understood. The item is `None` if there is nothing new in it.
    fn decode(
        &mut self,
        kind: BlockKind,
        block: &BlockHead,
        unpacking: &mut UnpackBuffers,
    ) -> Option<(BlockContents, Option<LogItem>)> {
        let UnpackBuffers { plain, decoder } = unpacking;
        let (plain, tail) = unpack_block(plain, block, self.blocks.taken(block.stored as usize))?;
        Some(match kind {
            BlockKind::Definitions => {
                let (definitions, unknown) = decode_definitions(plain)?;
                self.unknown += unknown;
                (BlockContents::default(), Some(LogItem::Definitions(definitions)))
            }
            BlockKind::Records => {
                let (head, mut records) = decoder.decode(plain, tail).filter(|(head, _)| is_sane(head))?;
                self.unknown += decoder.unknown_operations(&records);
                joined::take_apart(&mut records);
                (BlockContents::of_records(&head, &records, records.len()), self.in_sequence(head, records))
            }
            BlockKind::Profile => {
                let (batch, _) = decode_value::<ProfileBatch>(plain)
                    .filter(|(batch, _)| is_sane(&batch.head) && is_sane(&batch.next))?;
                (BlockContents::of_profile(&batch), self.profile_in_sequence(batch))
            }
            BlockKind::Samples => {
                let (head, samples) = sample_block::decode_samples(plain, tail)?;
                (BlockContents::of_samples(&head, &samples), self.samples_in_sequence(head, samples))
            }
            BlockKind::Summary => {
                let summary = decode_summary(plain)?;
                let contents = BlockContents::of_profile(&summary.batch);
                let item = if summary.is_of(&self.header) {
                    LogItem::Summary(Box::new(summary))
                } else {
                    let detail = format!("a summary is of rank {}, or of another run", summary.rank);
                    self.problem(ProblemKind::SummaryWrong, 1, detail)
                };
                (contents, Some(item))
            }
            BlockKind::Index => {
                let place = self.blocks.position - BLOCK_HEAD_BYTES as u64 - u64::from(block.stored);
                let found = self.index.as_mut().and_then(LogIndex::encoded);
                let is_true = found.is_none_or(|found| found == plain) && tail == index::index_tail(place);
                let detail = "the index of its blocks states other blocks than there are".to_owned();
                let item = (!is_true).then(|| self.problem(ProblemKind::SummaryWrong, 1, detail));
                (BlockContents::default(), item)
            }
        })
    }

    /// Returns the records that were not read before. A gap before them is reported first.
    fn in_sequence(&mut self, mut head: BatchHead, mut records: Vec<Record>) -> Option<LogItem> {
        let lost = self.reached.records.trim(&mut head, &mut records);
        if records.is_empty() {
            return None;
        }
        let gap = lost.map(|lost| record_gap_problem(self.header.rank, &head, lost));
        self.after(gap, LogItem::Records { head, records })
    }

    fn profile_in_sequence(&mut self, batch: ProfileBatch) -> Option<LogItem> {
        let expected = self.reached.records.next(batch.head.thread);
        if batch.head.first < expected {
            if batch.next.first <= expected {
                return None;
            }
            let detail = format!("a profile of thread {} overlaps what comes before it", batch.head.thread);
            return Some(self.problem(ProblemKind::Damaged, 1, detail));
        }
        let lost = Some(batch.head.first - expected).filter(|&lost| lost > 0);
        let gap = lost.map(|lost| record_gap_problem(self.header.rank, &batch.head, lost));
        self.reached.records.expect(batch.head.thread, batch.next.first);
        self.after(gap, LogItem::Profile(Box::new(batch)))
    }

    /// Returns the samples, unless they were read before. Samples lost before them are reported first.
    fn samples_in_sequence(&mut self, head: SampleHead, samples: Vec<Sample>) -> Option<LogItem> {
        let thread = head.thread;
        let expected = self.reached.samples.next(thread);
        let next = head.first.saturating_add(samples.len() as u64);
        if head.first < expected {
            let detail = format!("samples of thread {thread} overlap those before them");
            return (next > expected).then(|| self.problem(ProblemKind::Damaged, 1, detail));
        }
        let missing = head.first - expected;
        let mut detail = format!("of thread {thread} before its sample {}", head.first);
        if missing > head.lost {
            detail += &format!(", {} in blocks that are missing", GroupedNumber(missing - head.lost));
        }
        let lost = (missing > 0).then(|| self.problem(ProblemKind::SamplesLost, missing, detail));
        self.reached.samples.expect(thread, next);
        if samples.is_empty() {
            return lost;
        }
        self.after(lost, LogItem::Samples { head, samples })
    }

    /// Returns `first`, if there is one, and then `item`.
    fn after(&mut self, first: Option<LogItem>, item: LogItem) -> Option<LogItem> {
        if first.is_none() {
            return Some(item);
        }
        self.then = Some(item);
        first
    }

    fn problem(&self, kind: ProblemKind, count: u64, detail: String) -> LogItem {
        LogItem::problem(self.header.rank, kind, count, detail)
    }
}

#[derive(Default)]
pub(crate) struct LogPosition {
    pub(crate) records: SequenceNumbers,
    samples: SequenceNumbers,
}

/// The error of a log that ends within its header, or cannot be read further.
fn ended_early<R: Read>(blocks: &mut BlockScanner<R>) -> UnreadableLog {
    match blocks.error.take() {
        Some(error) => UnreadableLog::Io(error),
        None => UnreadableLog::Short(blocks.position),
    }
}

/// Maximum number of threads whose sequence numbers are tracked. A run has fewer, and a hostile log takes no more memory.
const MOST_THREADS: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct SequenceNumbers(HashMap<u32, u64>);

impl SequenceNumbers {
    /// Returns the sequence number that follows the last record of `thread`, or 0 if there was none.
    pub(crate) fn next(&self, thread: u32) -> u64 {
        self.0.get(&thread).copied().unwrap_or(0)
    }

    pub(crate) fn expect(&mut self, thread: u32, next: u64) {
        if self.0.len() < MOST_THREADS || self.0.contains_key(&thread) {
            self.0.insert(thread, next);
        }
    }

    /// Removes from the front of `records` the ones that were read before, and moves `head` accordingly. Returns the number of records that are missing
    /// before the rest.
    pub(crate) fn trim(&mut self, head: &mut BatchHead, records: &mut Vec<Record>) -> Option<u64> {
        let expected = self.next(head.thread);
        let seen = usize::try_from(expected.saturating_sub(head.first)).unwrap_or(usize::MAX).min(records.len());
        head.advance(&records[..seen]);
        records.drain(..seen);
        let lost = head.first.saturating_sub(expected);
        if !records.is_empty() {
            self.expect(head.thread, head.first.saturating_add(records.len() as u64));
        }
        (lost > 0).then_some(lost)
    }
}

/// Returns whether the number of open regions is possible. Otherwise each batch could cost as much as all batches before it.
pub(crate) fn is_sane(head: &BatchHead) -> bool {
    head.open.len() <= MAX_OPEN_REGIONS
}

/// Reports that `lost` records of a thread are missing before `head`.
pub(crate) fn record_gap_problem(rank: u32, head: &BatchHead, lost: u64) -> LogItem {
    let detail = format!("{} of thread {} before its record {}", CountedNoun(lost, "record"), head.thread, head.first);
    LogItem::problem(rank, ProblemKind::Gap, lost, detail)
}

/// Returns the plain bytes and the tail of a block, or `None` if its frame does not hold what its head states.
pub(crate) fn unpack_block<'a>(
    memory: &'a mut Vec<u8>,
    block: &BlockHead,
    payload: &'a [u8],
) -> Option<(&'a [u8], &'a [u8])> {
    if block.frame == 0 {
        return payload.split_at_checked(block.plain as usize);
    }
    let (frame, tail) = payload.split_at_checked(block.frame as usize)?;
    // At most 64 MiB, taken once.
    let plain = block.plain as usize;
    if memory.len() < plain {
        *memory = vec![0; plain.next_power_of_two()];
    }
    let length = decompress_frame(frame, &mut memory[..plain])?;
    (length == plain).then_some((&memory[..plain], tail))
}

/// Unpacks a frame and returns its number of bytes, or `None` if it is damaged or holds more than `plain`.
///
/// zstd's context takes 160 kB and keeps nothing between frames, so that one serves all logs that a thread reads.
fn decompress_frame(frame: &[u8], plain: &mut [u8]) -> Option<usize> {
    thread_local!(static CONTEXT: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) });
    CONTEXT.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(Decompressor::new().ok()?),
        };
        context.decompress_to_buffer(frame, plain).ok()
    })
}

pub(crate) fn decode_summary(plain: &[u8]) -> Option<ThreadSummary> {
    let (summary, length) = decode_value::<ThreadSummary>(plain)?;
    let is_whole = length == plain.len() && is_sane(&summary.batch.head) && is_sane(&summary.batch.next);
    is_whole.then_some(summary)
}
