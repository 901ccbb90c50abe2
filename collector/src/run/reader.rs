//! Reads a rank's log from any [`Read`], whatever state it is in.
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`LogItem::Problem`] among what is there. Sizes
//! are checked before memory is taken, so that a hostile log costs no more than a block may hold.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zstd::bulk::Decompressor;

use crate::blocks::{BlockScanner, CutKind, LogBlockEvent};
use crate::codec::get;
use crate::decode::RecordDecoder;
use crate::definition::Definition;
use crate::format::{
    BLOCK_HEAD_BYTES, BatchHead, BlockHead, BlockKind, LOG_MAGIC, LogHeader, MAX_HEADER, MAX_OPEN_REGIONS,
    PREAMBLE_BYTES, VERSION, definitions, header_checksum,
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

/// Why a log could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file could not be read at all.
    #[error("{}: {}", path.display(), SystemError(source))]
    Io {
        /// The log.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file is something else.
    #[error("{}: not a log of lbprof: it begins with {found:02x?}, a log with \"LBPROFLG\": leave other files out of the folder", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
        /// Its first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The log is of another version of the format.
    #[error("{}: log format {found}, this lb-report reads {VERSION}: use the lb-report of the run's lbprof", path.display())]
    Version {
        /// The log.
        path: PathBuf,
        /// Its version.
        found: u16,
    },
    /// The log ends before its first block.
    #[error("{}: the log ends after {}, within its header: the rank ended in MPI_Init, the disk was full, or the copy is incomplete", path.display(), CountedNoun(*found, "byte"))]
    Short {
        /// The log.
        path: PathBuf,
        /// Number of existing bytes.
        found: u64,
    },
    /// The header's checksum does not hold, or its content cannot be understood.
    #[error("{}: the log's header is damaged ({what}): copy the log again from where it was recorded", path.display())]
    Header {
        /// The log.
        path: PathBuf,
        /// Found and expected values.
        what: String,
    },
}

impl OpenError {
    /// Returns the kind of problem that the log is.
    pub fn kind(&self) -> ProblemKind {
        match self {
            OpenError::Io { source, .. } => ProblemKind::of_unreadable(source),
            OpenError::Short { found: 0, .. } => ProblemKind::EndedInInit,
            _ => ProblemKind::Damaged,
        }
    }

    /// The log ends within its header after `found` bytes, or cannot be read further because of `error`.
    fn ended_early(path: &Path, error: Option<io::Error>, found: u64) -> OpenError {
        let path = path.to_path_buf();
        match error {
            Some(source) => OpenError::Io { path, source },
            None => OpenError::Short { path, found },
        }
    }

    fn damaged(path: &Path, what: String) -> OpenError {
        OpenError::Header { path: path.to_path_buf(), what }
    }
}

/// A log being read.
pub struct LogReader<R: Read> {
    blocks: BlockScanner<R>,
    header: LogHeader,
    sequences: SequenceNumbers,
    sample_sequences: SequenceNumbers,
    /// True if blocks of records and profiles are skipped.
    samples_only: bool,
    /// The blocks so far, until one was skipped.
    index: Option<LogIndex>,
    /// An item that comes after the one just given.
    then: Option<LogItem>,
    /// Blocks, definitions and records of kinds that this version does not know.
    unknown: u64,
    /// Bytes that all blocks so far held when unpacked.
    unpacked: u64,
    /// The kind of the block within which the log ends, and how many of its bytes there are.
    cut: (CutKind, u64),
    done: bool,
}

/// Memory in which a thread unpacks blocks.
#[derive(Default)]
struct UnpackBuffers {
    decoder: RecordDecoder,
    /// Contents of a block's frame.
    plain: Vec<u8>,
}

/// Bytes of a block, and records, for which a thread keeps memory: recorded blocks have fewer.
const MOST_KEPT: usize = 1 << 20;
const MOST_RECORDS_KEPT: usize = 1 << 13;

// As zstd's context: one serves all logs that a thread reads, of which thousands may be open.
thread_local!(static UNPACKING: Cell<Option<Box<UnpackBuffers>>> = const { Cell::new(None) });

impl UnpackBuffers {
    /// Leaves it to the next block that the thread unpacks.
    fn keep(self: Box<Self>) {
        if self.plain.len() <= MOST_KEPT {
            UNPACKING.set(Some(self));
        }
    }
}

/// Takes back records that nobody needs any more: the next ones that this thread reads come in their memory, so that no large piece of memory is
/// freed where small ones that stay then take its place.
pub fn recycle(records: Vec<Record>) {
    if records.capacity() <= MOST_RECORDS_KEPT {
        let mut unpacking = UNPACKING.take().unwrap_or_default();
        unpacking.decoder.recycle(records);
        unpacking.keep();
    }
}

/// Bytes that the blocks of any log may hold when unpacked, and so many more for each byte of the log. Recorded logs grow by less than 10
/// when unpacked; what grows by hundreds was made to keep its reader busy.
const UNPACKED: (u64, u64) = (256 << 20, 32);

impl<R: Read> LogReader<R> {
    /// Opens a log: reads its header from `source`. Errors name the log "the log"; see [`LogReader::named`].
    pub fn new(source: R) -> Result<Self, OpenError> {
        Self::named(source, Path::new("the log"))
    }

    /// Opens the log that `source` reads and that errors shall call `path`.
    pub fn named(source: R, path: &Path) -> Result<Self, OpenError> {
        let mut blocks = BlockScanner::new(source);
        let preamble = blocks.take(PREAMBLE_BYTES).to_vec();
        let found = preamble.len() as u64;
        if preamble.iter().zip(LOG_MAGIC).any(|(&byte, magic)| byte != magic) {
            return Err(OpenError::NotALog {
                path: path.to_path_buf(),
                found: preamble[..preamble.len().min(8)].to_vec(),
            });
        }
        let Some(preamble) = preamble.first_chunk::<PREAMBLE_BYTES>() else {
            return Err(OpenError::ended_early(path, blocks.take_error(), found));
        };
        let version = u16::from_le_bytes([preamble[8], preamble[9]]);
        let length = u32::from_le_bytes([preamble[10], preamble[11], preamble[12], preamble[13]]) as usize;
        let crc = u32::from_le_bytes([preamble[14], preamble[15], preamble[16], preamble[17]]);
        if version != VERSION {
            return Err(OpenError::Version { path: path.to_path_buf(), found: version });
        }
        if length > MAX_HEADER {
            let (claimed, most) = (CountedNoun(length as u64, "byte"), GroupedNumber(MAX_HEADER as u64));
            return Err(OpenError::damaged(path, format!("it claims {claimed}, at most {most} are possible")));
        }
        let n = blocks.take(length).len();
        if n < length {
            return Err(OpenError::ended_early(path, blocks.take_error(), found + n as u64));
        }
        let bytes = blocks.taken(n);
        let actual = header_checksum(version, bytes);
        if actual != crc {
            return Err(OpenError::damaged(path, format!("its checksum is {actual:08x}, it states {crc:08x}")));
        }
        let Some((header, _)) = get::<LogHeader>(bytes) else {
            return Err(OpenError::damaged(path, "its content cannot be understood".to_owned()));
        };
        let (sequences, sample_sequences) = Default::default();
        let log = LogReader::resumed(header, blocks, sequences, sample_sequences);
        Ok(LogReader { index: Some(LogIndex::default()), ..log })
    }

    /// Goes on in the log with this header: `blocks` follow those in which records and samples got as far as the sequence numbers say.
    pub(crate) fn resumed(
        header: LogHeader,
        blocks: BlockScanner<R>,
        sequences: SequenceNumbers,
        sample_sequences: SequenceNumbers,
    ) -> Self {
        LogReader {
            blocks,
            header,
            sequences,
            sample_sequences,
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

    /// The next item; `None` at the end, for good.
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

    /// Gives back memory that the next item does not need.
    pub(crate) fn give_back_memory(&mut self) {
        self.blocks.give_back_memory();
    }

    /// Skips the blocks of records and profiles.
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

    /// Returns the bytes of the log so far, without an unfinished block.
    pub(crate) fn whole_bytes(&self) -> u64 {
        self.blocks.position() - self.cut.1
    }

    /// Bytes of the source that are done with.
    pub(crate) fn position(&self) -> u64 {
        self.blocks.position()
    }

    /// Returns whether the source has ended within a block.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.0 != CutKind::NotCut
    }

    /// The sequence numbers that records and samples have reached, by thread.
    pub(crate) fn into_sequences(self) -> (SequenceNumbers, SequenceNumbers) {
        (self.sequences, self.sample_sequences)
    }

    /// The source of the bytes.
    pub(crate) fn source(&self) -> &R {
        self.blocks.source()
    }

    /// The place that each thread's records have reached.
    pub(crate) fn sequences(&mut self) -> &mut SequenceNumbers {
        &mut self.sequences
    }

    /// The contents of a block, or `None` if they are empty or not new.
    fn item(&mut self, block: BlockHead) -> Option<LogItem> {
        let Some(kind) = BlockKind::from_number(block.kind) else {
            (self.unknown, self.index) = (self.unknown + 1, None);
            return None;
        };
        if self.samples_only && !matches!(kind, BlockKind::Definitions | BlockKind::Samples) {
            return None;
        }
        self.unpacked += u64::from(block.plain);
        let bytes = self.blocks.position();
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
        let item = self.item_of(kind, &block, &mut unpacking);
        unpacking.keep();
        item
    }

    fn item_of(&mut self, kind: BlockKind, block: &BlockHead, unpacking: &mut UnpackBuffers) -> Option<LogItem> {
        let payload = self.blocks.payload(block);
        let UnpackBuffers { plain, decoder } = unpacking;
        let Some((plain, tail)) = contents(plain, block, payload) else {
            return Some(self.not_understood(kind));
        };
        let listed = ListedBlock { kind, index: self.index.as_mut(), end: self.blocks.position(), head: block };
        match kind {
            BlockKind::Definitions => match definitions(plain) {
                Some((definitions, unknown)) => {
                    self.unknown += unknown;
                    listed.list(&BlockContents::default());
                    Some(LogItem::Definitions(definitions))
                }
                None => Some(self.not_understood(kind)),
            },
            BlockKind::Records => match decoder.decode(plain, tail) {
                Some((head, _)) if !is_sane(&head) => Some(self.not_understood(kind)),
                Some((head, mut records)) => {
                    self.unknown += decoder.unknown_operations(&records);
                    joined::take_apart(&mut records);
                    listed.list(&held(&head, &records));
                    self.in_sequence(head, records)
                }
                None => Some(self.not_understood(kind)),
            },
            BlockKind::Profile => match get::<ProfileBatch>(plain).map(|(batch, _)| batch) {
                Some(batch) if is_sane(&batch.head) && is_sane(&batch.next) => {
                    listed.list(&BlockContents::of_profile(&batch));
                    self.profile_in_sequence(batch)
                }
                Some(_) | None => Some(self.not_understood(kind)),
            },
            BlockKind::Samples => match sample_block::decode(plain, tail) {
                Some((head, samples)) => {
                    listed.list(&BlockContents::of_samples(&head, &samples));
                    self.samples_in_sequence(head, samples)
                }
                None => Some(self.not_understood(kind)),
            },
            BlockKind::Summary => match summary(plain) {
                Some(summary) => {
                    listed.list(&BlockContents::of_profile(&summary.batch));
                    if !summary.is_of(&self.header) {
                        let detail = format!("a summary is of rank {}, or of another run", summary.rank);
                        return Some(self.problem(ProblemKind::SummaryWrong, 1, detail));
                    }
                    Some(LogItem::Summary(Box::new(summary)))
                }
                None => Some(self.not_understood(kind)),
            },
            BlockKind::Index => {
                let place = self.blocks.position() - BLOCK_HEAD_BYTES as u64 - u64::from(block.stored);
                let found = self.index.as_mut().and_then(LogIndex::encoded);
                let is_true = found.is_none_or(|found| found == plain) && tail == index::tail(place);
                (!is_true).then(|| {
                    let detail = "the index of its blocks states other blocks than there are".to_owned();
                    self.problem(ProblemKind::SummaryWrong, 1, detail)
                })
            }
        }
    }

    /// The records, less those read before; a gap before them is reported first.
    fn in_sequence(&mut self, mut head: BatchHead, mut records: Vec<Record>) -> Option<LogItem> {
        let lost = self.sequences.trim(&mut head, &mut records);
        if records.is_empty() {
            return None;
        }
        let gap = lost.map(|lost| gap(self.header.rank, &head, lost));
        self.after(gap, LogItem::Records { head, records })
    }

    fn profile_in_sequence(&mut self, batch: ProfileBatch) -> Option<LogItem> {
        let expected = self.sequences.next(batch.head.thread);
        if batch.head.first < expected {
            if batch.next.first <= expected {
                return None;
            }
            let detail = format!("a profile of thread {} overlaps what comes before it", batch.head.thread);
            return Some(self.problem(ProblemKind::Damaged, 1, detail));
        }
        let lost = Some(batch.head.first - expected).filter(|&lost| lost > 0);
        let gap = lost.map(|lost| gap(self.header.rank, &batch.head, lost));
        self.sequences.expect(batch.head.thread, batch.next.first);
        self.after(gap, LogItem::Profile(Box::new(batch)))
    }

    /// The samples, unless they were read before; those lost before them are reported first.
    fn samples_in_sequence(&mut self, head: SampleHead, samples: Vec<Sample>) -> Option<LogItem> {
        let thread = head.thread;
        let expected = self.sample_sequences.next(thread);
        let next = head.first.saturating_add(samples.len() as u64);
        if head.first < expected {
            let detail = format!("samples of thread {thread} overlap those before them");
            return (next > expected).then(|| self.problem(ProblemKind::Damaged, 1, detail));
        }
        let missing = head.first - expected;
        let detail = match missing.saturating_sub(head.lost) {
            0 => format!("of thread {thread} before its sample {}", head.first),
            n => {
                format!(
                    "of thread {thread} before its sample {}, {} in blocks that are missing",
                    head.first,
                    GroupedNumber(n)
                )
            }
        };
        let lost = (missing > 0).then(|| self.problem(ProblemKind::SamplesLost, missing, detail));
        self.sample_sequences.expect(thread, next);
        if samples.is_empty() {
            return lost;
        }
        self.after(lost, LogItem::Samples { head, samples })
    }

    /// `item`, or `first` and then `item`.
    fn after(&mut self, first: Option<LogItem>, item: LogItem) -> Option<LogItem> {
        match first {
            None => Some(item),
            first => {
                self.then = Some(item);
                first
            }
        }
    }

    fn not_understood(&self, kind: BlockKind) -> LogItem {
        let detail = format!("a block of {kind:?} whose checksum holds cannot be understood");
        self.problem(ProblemKind::Damaged, 1, detail)
    }

    fn problem(&self, kind: ProblemKind, count: u64, detail: String) -> LogItem {
        LogItem::Problem(Problem { kind, rank: Some(self.header.rank), count, detail })
    }
}

/// A block to be added to the index of its log, if there is one.
struct ListedBlock<'a> {
    kind: BlockKind,
    index: Option<&'a mut LogIndex>,
    /// End offset of the block.
    end: u64,
    head: &'a BlockHead,
}

impl ListedBlock<'_> {
    /// Adds the block with its contents to the index.
    fn list(self, contents: &BlockContents) {
        let bytes = BLOCK_HEAD_BYTES as u64 + u64::from(self.head.stored);
        if let Some(index) = self.index {
            index.add(self.kind as u8, self.end - bytes, bytes, contents);
        }
    }
}

/// Decodes a block of records.
fn held(head: &BatchHead, records: &[Record]) -> BlockContents {
    let BatchHead { thread, first, previous_end, .. } = *head;
    let end = records.last().map_or(0, |last| if last.end == 0 { last.begin } else { last.end });
    BlockContents { thread, first, records: records.len() as u64, begin: previous_end, end }
}

/// Threads whose sequence numbers are followed; a run has fewer, and a hostile log takes no more memory.
const MOST_THREADS: usize = 1 << 16;

/// Sequence number of the record that comes next, by thread.
#[derive(Default)]
pub(crate) struct SequenceNumbers(HashMap<u32, u64>);

impl SequenceNumbers {
    /// Sequence number that follows the last record of `thread`; 0 where there was none.
    pub(crate) fn next(&self, thread: u32) -> u64 {
        self.0.get(&thread).copied().unwrap_or(0)
    }

    fn expect(&mut self, thread: u32, next: u64) {
        if self.0.len() < MOST_THREADS || self.0.contains_key(&thread) {
            self.0.insert(thread, next);
        }
    }

    /// Takes off the front of `records` those that came before, and moves `head` accordingly. Gives how many records are
    /// missing between those that came before and these.
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

/// Returns whether no more regions are open than may be: else each batch would cost what all of them before did together.
fn is_sane(head: &BatchHead) -> bool {
    head.open.len() <= MAX_OPEN_REGIONS
}

/// The problem that `lost` records of a thread are missing before `head`.
pub(crate) fn gap(rank: u32, head: &BatchHead, lost: u64) -> LogItem {
    let detail = format!("{} of thread {} before its record {}", CountedNoun(lost, "record"), head.thread, head.first);
    LogItem::Problem(Problem { kind: ProblemKind::Gap, rank: Some(rank), count: lost, detail })
}

/// The plain bytes and the tail of a block; `None` where its frame does not hold what its head states.
pub(crate) fn contents<'a>(
    memory: &'a mut Vec<u8>,
    block: &BlockHead,
    payload: &'a [u8],
) -> Option<(&'a [u8], &'a [u8])> {
    if block.frame == 0 {
        return payload.split_at_checked(block.plain as usize);
    }
    let (frame, tail) = payload.split_at_checked(block.frame as usize)?;
    // A frame that is honest about a large size is large itself, within what zstd can do: 64 MiB at most, taken once.
    let plain = block.plain as usize;
    if memory.len() < plain {
        *memory = vec![0; plain.next_power_of_two()];
    }
    let length = decompress(frame, &mut memory[..plain])?;
    (length == plain).then_some((&memory[..plain], tail))
}

/// Unpacks a frame; gives how many bytes it held. `None`: it is damaged, or holds more than `plain`.
///
/// zstd's context takes 160 kB and keeps nothing between frames: one serves all logs that a thread reads.
fn decompress(frame: &[u8], plain: &mut [u8]) -> Option<usize> {
    thread_local!(static CONTEXT: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) });
    CONTEXT.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(Decompressor::new().ok()?),
        };
        context.decompress_to_buffer(frame, plain).ok()
    })
}

/// The summary of a block.
pub(crate) fn summary(plain: &[u8]) -> Option<ThreadSummary> {
    let (summary, length) = get::<ThreadSummary>(plain)?;
    let is_whole = length == plain.len() && is_sane(&summary.batch.head) && is_sane(&summary.batch.next);
    is_whole.then_some(summary)
}
