//! Writes a rank's log into any [`Write`].
//!
//! Each block goes out in one `write_all` of a buffer that is kept: whoever owns the file can cut it back to
//! [`LogWriter::bytes`] after a write that failed half-way (a full disk), and the log stays readable.

use std::io::{self, Write};

use crate::codec::{put, put_into, put_varint};
use crate::compressor::Compressor;
use crate::definition::Definition;
use crate::encode::RecordEncoder;
use crate::format::{
    BLOCK_HEAD_BYTES, BatchHead, BlockHead, BlockKind, LOG_MAGIC, LogHeader, MAX_DEFINITIONS, MAX_HEADER, MAX_PLAIN,
    MAX_RECORDS, MAX_WAITING, VERSION, header_checksum,
};
use crate::index::{BlockContents, LogIndex, tail};
use crate::joined;
use crate::profile::ProfileBatch;
use crate::record::Record;
use crate::sample::{MAX_SAMPLES, Sample, SampleHead};
use crate::sample_block::SampleEncoder;
use crate::summary::ThreadSummary;

/// Compression level of zstd. Higher ones take a few per cent off the columns for several times the time.
const LEVEL: i32 = 1;

/// A batch is compressed where its columns take at least a byte for so many records. Where guesses are mostly right they take
/// less, and are cheaper to store as they are: zstd takes some 50 instructions for each byte of so small a frame.
const RECORDS_WORTH_A_BYTE: usize = 2;

/// A log being written.
pub struct LogWriter<W: Write> {
    sink: W,
    bytes: u64,
    /// End of the last block that is not of records.
    facts_end: u64,
    encoder: RecordEncoder,
    samples: SampleEncoder,
    compressor: Compressor,
    /// Plain bytes of the definitions or the profile at hand.
    plain: Vec<u8>,
    /// Memory for a definition.
    definition: Vec<u8>,
    /// Plain bytes of definitions that go in front of the next block.
    waiting: Vec<u8>,
    /// The block at hand; only as much of it as the block takes is written.
    block: Vec<u8>,
    /// The blocks so far.
    index: LogIndex,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log: writes its header into `sink`.
    ///
    /// Errors: those of the sink; InvalidInput where the header is larger than a log may hold (16 MiB).
    pub fn new(mut sink: W, header: &LogHeader) -> io::Result<Self> {
        let mut plain = Vec::new();
        put(header, &mut plain);
        if plain.len() > MAX_HEADER {
            return Err(too_large("header"));
        }
        let mut start = Vec::with_capacity(plain.len() + LOG_MAGIC.len() + 10);
        start.extend_from_slice(&LOG_MAGIC);
        start.extend_from_slice(&VERSION.to_le_bytes());
        start.extend_from_slice(&(plain.len() as u32).to_le_bytes());
        start.extend_from_slice(&header_checksum(VERSION, &plain).to_le_bytes());
        start.extend_from_slice(&plain);
        sink.write_all(&start)?;
        Ok(LogWriter {
            sink,
            bytes: start.len() as u64,
            facts_end: start.len() as u64,
            encoder: RecordEncoder::new(),
            samples: SampleEncoder::default(),
            compressor: Compressor::new(LEVEL)?,
            plain,
            definition: vec![0; USUAL_DEFINITION],
            waiting: Vec::with_capacity(MAX_WAITING),
            block: Vec::new(),
            index: LogIndex::default(),
        })
    }

    /// Writes definitions; they come before the records that refer to them. An empty list writes nothing.
    ///
    /// Errors: those of the sink; InvalidInput where one definition is larger than a block may hold (64 MiB).
    pub fn definitions(&mut self, definitions: &[Definition]) -> io::Result<()> {
        self.write_waiting()?;
        self.plain.clear();
        let mut held = 0;
        for definition in definitions {
            let length = self.encode_definition(definition);
            if length + 16 > MAX_PLAIN {
                return Err(too_large("definition"));
            }
            if held == MAX_DEFINITIONS || self.plain.len() + length + 16 > MAX_PLAIN {
                self.plain_block(BlockKind::Definitions, &BlockContents::default())?;
                self.plain.clear();
                held = 0;
            }
            put_varint(length as u64, &mut self.plain);
            self.plain.extend_from_slice(&self.definition[..length]);
            held += 1;
        }
        if held == 0 { Ok(()) } else { self.plain_block(BlockKind::Definitions, &BlockContents::default()) }
    }

    /// Adds a definition that is written in front of the next block, whatever that is. It waits in memory until then: [`LogWriter::waiting`]. Where too many
    /// bytes wait ([`MAX_WAITING`]), those before it are written now.
    ///
    /// Errors: those of the sink. What waited waits further, and the definition is not among it.
    pub fn definition_later(&mut self, definition: &Definition) -> io::Result<()> {
        let length = self.encode_definition(definition);
        // The length takes five bytes at most.
        let most = length.saturating_add(5);
        if most > MAX_WAITING {
            return self.definitions(std::slice::from_ref(definition));
        }
        if self.waiting.len() + most > MAX_WAITING {
            self.write_waiting()?;
        }
        put_varint(length as u64, &mut self.waiting);
        self.waiting.extend_from_slice(&self.definition[..length]);
        Ok(())
    }

    /// The plain bytes of the definitions that go in front of the next block, which begins at [`LogWriter::bytes`].
    pub fn waiting(&self) -> &[u8] {
        &self.waiting
    }

    /// Writes the definitions that wait.
    fn write_waiting(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let compressor = (self.waiting.len() > SMALL).then_some(&mut self.compressor);
        let kind = BlockKind::Definitions;
        let bytes = write_block(&mut self.sink, compressor, &mut self.block, kind, &self.waiting, &[])?;
        self.waiting.clear();
        self.wrote(kind, bytes, &BlockContents::default());
        Ok(())
    }

    /// Encodes a definition into the memory for one, and returns its length. A slice takes a third of the instructions of a vector that grows.
    fn encode_definition(&mut self, definition: &Definition) -> usize {
        put_into(definition, &mut self.definition).unwrap_or_else(|| {
            self.definition.clear();
            put(definition, &mut self.definition);
            self.definition.len()
        })
    }

    /// Writes a batch of a thread's records that follow `head`. `site` gives the id of a record's call site, `u64::MAX`
    /// where it has none; records with equal `call_site` and `operation` must have equal ids. No records write nothing.
    ///
    /// Errors: those of the sink; InvalidInput where there are more records than a block may hold (524,288).
    pub fn records(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        site: impl FnMut(&Record) -> u64,
    ) -> io::Result<()> {
        self.records_if(head, records, joined::count(records), site, || true).map(|_| ())
    }

    /// Writes records like [`LogWriter::records`], unless they changed. `n` is their number, those counted twice that are two. `whole` is
    /// asked when `records` were read for the last time: if it returns false, because they changed meanwhile, nothing is written, and the
    /// result is false.
    ///
    /// Errors: as those of [`LogWriter::records`].
    pub fn records_if(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        n: usize,
        site: impl FnMut(&Record) -> u64,
        whole: impl FnOnce() -> bool,
    ) -> io::Result<bool> {
        if records.len() > MAX_RECORDS {
            return Err(too_large("batch of records"));
        }
        if records.is_empty() {
            return Ok(true);
        }
        self.write_waiting()?;
        self.encoder.encode(head, records, site);
        let end = records.last().map_or(0, |last| if last.end == 0 { last.begin } else { last.end });
        if !whole() {
            return Ok(false);
        }
        let (plain, tail) = (self.encoder.plain(), self.encoder.tail());
        let compressor = (RECORDS_WORTH_A_BYTE * plain.len() >= records.len()).then_some(&mut self.compressor);
        let bytes = write_block(&mut self.sink, compressor, &mut self.block, BlockKind::Records, plain, tail)?;
        let BatchHead { thread, first, previous_end, .. } = *head;
        self.wrote(
            BlockKind::Records,
            bytes,
            &BlockContents { thread, first, records: n as u64, begin: previous_end, end },
        );
        Ok(true)
    }

    /// Writes what was folded in place of records.
    ///
    /// Errors: those of the sink; InvalidInput where the profile is larger than a block may hold (64 MiB).
    pub fn profile(&mut self, batch: &ProfileBatch) -> io::Result<()> {
        self.write_waiting()?;
        self.plain.clear();
        put(batch, &mut self.plain);
        self.plain_block(BlockKind::Profile, &BlockContents::of_profile(batch))
    }

    /// Writes a thread's summary: after all of its records.
    ///
    /// Errors: as those of [`LogWriter::profile`].
    pub fn summary(&mut self, summary: &ThreadSummary) -> io::Result<()> {
        self.write_waiting()?;
        self.plain.clear();
        put(summary, &mut self.plain);
        self.plain_block(BlockKind::Summary, &BlockContents::of_profile(&summary.batch))
    }

    /// Writes the index of all blocks so far, which ends the log; nothing where there are too many.
    ///
    /// Errors: those of the sink.
    pub fn index(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        let Some(plain) = self.index.encoded() else { return Ok(()) };
        let compressor = (plain.len() > SMALL).then_some(&mut self.compressor);
        let tail = tail(self.bytes);
        self.bytes += write_block(&mut self.sink, compressor, &mut self.block, BlockKind::Index, plain, &tail)?;
        Ok(())
    }

    /// Writes samples of one thread that follow `head`; `head.lost` alone where there are none. Those of a call have counts, or none has.
    ///
    /// Errors: those of the sink; InvalidInput where there are more samples than a block may hold (65,536).
    pub fn samples(&mut self, head: &SampleHead, samples: &[Sample]) -> io::Result<()> {
        if samples.len() > MAX_SAMPLES {
            return Err(too_large("samples"));
        }
        if samples.is_empty() && head.lost == 0 {
            return Ok(());
        }
        self.write_waiting()?;
        self.samples.encode(head, samples);
        let (plain, tail) = (self.samples.plain(), self.samples.tail());
        let compressor = (plain.len() > SMALL).then_some(&mut self.compressor);
        let bytes = write_block(&mut self.sink, compressor, &mut self.block, BlockKind::Samples, plain, tail)?;
        self.wrote(BlockKind::Samples, bytes, &BlockContents::of_samples(head, samples));
        Ok(())
    }

    /// Bytes of the log so far, without what a failed write left behind.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the log up to the end of its last block that is not of records.
    pub fn facts_end(&self) -> u64 {
        self.facts_end
    }

    /// The destination of the log.
    pub fn sink_mut(&mut self) -> &mut W {
        &mut self.sink
    }

    /// Returns the destination of the log.
    pub fn into_sink(self) -> W {
        self.sink
    }

    fn plain_block(&mut self, kind: BlockKind, held: &BlockContents) -> io::Result<()> {
        // Compressing a single definition would save a few bytes and take ten times as long as writing it.
        let compressor = (self.plain.len() > SMALL).then_some(&mut self.compressor);
        let bytes = write_block(&mut self.sink, compressor, &mut self.block, kind, &self.plain, &[])?;
        self.wrote(kind, bytes, held);
        Ok(())
    }

    /// A block was written.
    fn wrote(&mut self, kind: BlockKind, bytes: u64, held: &BlockContents) {
        self.index.add(kind as u8, self.bytes, bytes, held);
        self.bytes += bytes;
        if kind != BlockKind::Records {
            self.facts_end = self.bytes;
        }
    }
}

/// Bytes that most definitions fit in.
const USUAL_DEFINITION: usize = 1 << 10;

/// Blocks of definitions of so many bytes are not compressed.
const SMALL: usize = 128;

/// Writes one block, compressed if there is a compressor and where that makes it smaller; gives its length in bytes. `block`
/// is memory for it.
fn write_block(
    sink: &mut impl Write,
    compressor: Option<&mut Compressor>,
    block: &mut Vec<u8>,
    kind: BlockKind,
    plain: &[u8],
    tail: &[u8],
) -> io::Result<u64> {
    // A frame that is larger than what it holds is not used, so the payload is never longer than plain and tail.
    if plain.len() + tail.len() > MAX_PLAIN {
        return Err(too_large("block"));
    }
    let most = BLOCK_HEAD_BYTES + zstd::zstd_safe::compress_bound(plain.len()) + tail.len();
    if block.len() < most {
        block.resize(most, 0);
    }
    let payload = &mut block[BLOCK_HEAD_BYTES..];
    let mut frame = match compressor {
        Some(compressor) => compressor.compress(plain, payload)?,
        None => 0,
    };
    if frame == 0 || frame >= plain.len() {
        frame = 0;
        payload[..plain.len()].copy_from_slice(plain);
    }
    let first = if frame == 0 { plain.len() } else { frame };
    payload[first..first + tail.len()].copy_from_slice(tail);
    let stored = first + tail.len();
    let head =
        BlockHead { kind: kind as u8, stored: stored as u32, frame: frame as u32, plain: plain.len() as u32, crc: 0 };
    let head = BlockHead { crc: head.checksum(&payload[..stored]), ..head };
    block[..BLOCK_HEAD_BYTES].copy_from_slice(&head.to_bytes());
    sink.write_all(&block[..BLOCK_HEAD_BYTES + stored])?;
    Ok((BLOCK_HEAD_BYTES + stored) as u64)
}

/// Makes a block of one small definition in `memory`; how many bytes it takes, or `None` where there are not as many.
///
/// It allocates nothing and takes no lock, so that it can be called wherever a process ends.
pub fn block_of(definition: &Definition, memory: &mut [u8]) -> Option<usize> {
    let (head_bytes, payload) = memory.split_first_chunk_mut::<BLOCK_HEAD_BYTES>()?;
    let (length, rest) = payload.split_first_mut()?;
    let taken = put_into(definition, rest)?;
    // As an integer of one byte.
    *length = u8::try_from(taken).ok().filter(|&length| length <= 250)?;
    let stored = 1 + taken;
    let size = stored as u32;
    let head = BlockHead { kind: BlockKind::Definitions as u8, stored: size, frame: 0, plain: size, crc: 0 };
    let head = BlockHead { crc: head.checksum(payload.get(..stored)?), ..head };
    *head_bytes = head.to_bytes();
    Some(BLOCK_HEAD_BYTES + stored)
}

fn too_large(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{what} larger than a log can hold"))
}
