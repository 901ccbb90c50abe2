//! Writes a rank's log into any [`Write`].
//!
//! Each block goes out in one `write_all` of a buffer that is kept: whoever owns the file can cut it back to
//! [`LogWriter::bytes`] after a write that failed half-way (a full disk), and the log stays readable.

use std::io::{self, Write};

use crate::codec::{put_into, put_value, put_varint};
use crate::compressor::BlockCompressor;
use crate::definition::Definition;
use crate::encode::RecordEncoder;
use crate::format::{
    BLOCK_HEAD_BYTES, BatchHead, BlockHead, BlockKind, LOG_MAGIC, LogHeader, MAX_DEFINITIONS, MAX_HEADER, MAX_PLAIN,
    MAX_RECORDS, MAX_WAITING, VERSION, header_checksum,
};
use crate::index::{BlockContents, LogIndex, index_tail};
use crate::joined;
use crate::profile::ProfileBatch;
use crate::record::Record;
use crate::sample::{MAX_SAMPLES, Sample, SampleHead};
use crate::sample_block::SampleEncoder;
use crate::summary::ThreadSummary;

/// Compression level of zstd. Higher ones take a few per cent off the columns for several times the time.
const LEVEL: i32 = 1;

/// Records per byte of their columns up to which a batch is compressed. If most guesses are right the columns are smaller, and cheaper to store as they
/// are: zstd takes some 50 instructions for each byte of such a small frame.
const RECORDS_WORTH_A_BYTE: usize = 2;

/// A log being written.
pub struct LogWriter<W: Write> {
    out: LogBlockWriter<W>,
    encoder: RecordEncoder,
    samples: SampleEncoder,
    plain: Vec<u8>,
    definition: Vec<u8>,
    waiting: Vec<u8>,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log: writes its header into `sink`.
    ///
    /// Errors: the sink's; InvalidInput if the header is larger than a log may hold (16 MiB).
    pub fn new(mut sink: W, header: &LogHeader) -> io::Result<Self> {
        let mut plain = Vec::new();
        put_value(header, &mut plain);
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
            out: LogBlockWriter {
                sink,
                bytes: start.len() as u64,
                facts_end: start.len() as u64,
                compressor: BlockCompressor::new(LEVEL)?,
                block: Vec::new(),
                index: LogIndex::default(),
            },
            encoder: RecordEncoder::default(),
            samples: SampleEncoder::default(),
            plain,
            definition: vec![0; USUAL_DEFINITION],
            waiting: Vec::with_capacity(MAX_WAITING),
        })
    }

    /// Writes definitions; they come before the records that refer to them. An empty list writes nothing.
    ///
    /// Errors: the sink's; InvalidInput if a definition is larger than a block may hold (64 MiB).
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
                self.write_plain(BlockKind::Definitions, &BlockContents::default())?;
                self.plain.clear();
                held = 0;
            }
            put_varint(length as u64, &mut self.plain);
            self.plain.extend_from_slice(&self.definition[..length]);
            held += 1;
        }
        if held == 0 { Ok(()) } else { self.write_plain(BlockKind::Definitions, &BlockContents::default()) }
    }

    /// Adds a definition that is written in front of the next block, whatever that is. It waits in memory until then: [`LogWriter::waiting`]. Where too many
    /// bytes wait ([`MAX_WAITING`]), those before it are written now.
    ///
    /// Errors: the sink's. Definitions that waited still wait, without this one.
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

    /// Returns the plain bytes of the definitions that go in front of the next block, which begins at [`LogWriter::bytes`].
    pub fn waiting(&self) -> &[u8] {
        &self.waiting
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.out.write(BlockKind::Definitions, &self.waiting, &[], SMALL + 1, &BlockContents::default())?;
        self.waiting.clear();
        Ok(())
    }

    /// Encodes a definition into the memory for one, and returns its length. A slice takes a third of the instructions of a vector that grows.
    fn encode_definition(&mut self, definition: &Definition) -> usize {
        put_into(definition, &mut self.definition).unwrap_or_else(|| {
            self.definition.clear();
            put_value(definition, &mut self.definition);
            self.definition.len()
        })
    }

    /// Writes a batch of a thread's records that follow `head`. `site` gives the id of a record's call site, `u64::MAX`
    /// where it has none; records with equal `call_site` and `operation` must have equal ids. No records write nothing.
    ///
    /// Errors: the sink's; InvalidInput if there are more records than a block may hold (524,288).
    pub fn records(
        &mut self,
        head: &BatchHead,
        records: &[Record],
        site: impl FnMut(&Record) -> u64,
    ) -> io::Result<()> {
        self.records_if(head, records, joined::count_joined_records(records), site, || true).map(|_| ())
    }

    /// Writes records like [`LogWriter::records`], unless they changed. `n` is their number, those counted twice that are two. `whole` is
    /// asked when `records` were read for the last time: if it returns false, because they changed meanwhile, nothing is written, and the
    /// result is false.
    ///
    /// Errors: as in [`LogWriter::records`].
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
        let contents = BlockContents::of_records(head, records, n);
        if !whole() {
            return Ok(false);
        }
        let (plain, tail) = (self.encoder.plain(), self.encoder.tail());
        let min_compressed = records.len().div_ceil(RECORDS_WORTH_A_BYTE);
        self.out.write(BlockKind::Records, plain, tail, min_compressed, &contents)?;
        Ok(true)
    }

    /// Writes what was folded in place of records.
    ///
    /// Errors: the sink's; InvalidInput if the profile is larger than a block may hold (64 MiB).
    pub fn profile(&mut self, batch: &ProfileBatch) -> io::Result<()> {
        self.write_waiting()?;
        self.plain.clear();
        put_value(batch, &mut self.plain);
        self.write_plain(BlockKind::Profile, &BlockContents::of_profile(batch))
    }

    /// Writes a thread's summary: after all of its records.
    ///
    /// Errors: as in [`LogWriter::profile`].
    pub fn summary(&mut self, summary: &ThreadSummary) -> io::Result<()> {
        self.write_waiting()?;
        self.plain.clear();
        put_value(summary, &mut self.plain);
        self.write_plain(BlockKind::Summary, &BlockContents::of_profile(&summary.batch))
    }

    /// Writes the index of all blocks so far, which ends the log; nothing where there are too many.
    ///
    /// Errors: the sink's.
    pub fn index(&mut self) -> io::Result<()> {
        self.write_waiting()?;
        let mut index = std::mem::take(&mut self.out.index);
        let Some(plain) = index.encoded() else { return Ok(()) };
        let tail = index_tail(self.out.bytes);
        self.out.write(BlockKind::Index, plain, &tail, SMALL + 1, &BlockContents::default())
    }

    /// Writes samples of one thread that follow `head`; only `head.lost` if there are none. Either all samples of a call have counts or none.
    ///
    /// Errors: the sink's; InvalidInput if there are more samples than a block may hold (65,536).
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
        self.out.write(BlockKind::Samples, plain, tail, SMALL + 1, &BlockContents::of_samples(head, samples))
    }

    /// Returns the bytes of the log so far, without the remains of a failed write.
    pub fn bytes(&self) -> u64 {
        self.out.bytes
    }

    /// Returns the bytes of the log up to the end of its last block that is not of records.
    pub fn facts_end(&self) -> u64 {
        self.out.facts_end
    }

    /// Returns the destination of the log.
    pub fn sink_mut(&mut self) -> &mut W {
        &mut self.out.sink
    }

    /// Returns the destination of the log.
    pub fn into_sink(self) -> W {
        self.out.sink
    }

    fn write_plain(&mut self, kind: BlockKind, contents: &BlockContents) -> io::Result<()> {
        self.out.write(kind, &self.plain, &[], SMALL + 1, contents)
    }
}

const USUAL_DEFINITION: usize = 1 << 10;

/// Number of bytes up to which a block is not compressed. Compressing a single definition would save a few bytes and take ten times as long as writing it.
const SMALL: usize = 128;

struct LogBlockWriter<W> {
    sink: W,
    bytes: u64,
    /// End of the last block that is not of records.
    facts_end: u64,
    compressor: BlockCompressor,
    block: Vec<u8>,
    index: LogIndex,
}

impl<W: Write> LogBlockWriter<W> {
    /// Writes one block. It is compressed if it has at least `min_compressed` plain bytes and that makes it smaller.
    fn write(
        &mut self,
        kind: BlockKind,
        plain: &[u8],
        tail: &[u8],
        min_compressed: usize,
        contents: &BlockContents,
    ) -> io::Result<()> {
        // A frame that is larger than what it holds is not used, so the payload is never longer than plain and tail.
        if plain.len() + tail.len() > MAX_PLAIN {
            return Err(too_large("block"));
        }
        let most = BLOCK_HEAD_BYTES + zstd::zstd_safe::compress_bound(plain.len()) + tail.len();
        if self.block.len() < most {
            self.block.resize(most, 0);
        }
        let payload = &mut self.block[BLOCK_HEAD_BYTES..];
        let mut frame = if plain.len() >= min_compressed { self.compressor.compress(plain, payload)? } else { 0 };
        if frame == 0 || frame >= plain.len() {
            frame = 0;
            payload[..plain.len()].copy_from_slice(plain);
        }
        let first = if frame == 0 { plain.len() } else { frame };
        payload[first..first + tail.len()].copy_from_slice(tail);
        let stored = first + tail.len();
        let (frame, plain) = (frame as u32, plain.len() as u32);
        let head = BlockHead { kind: kind as u8, stored: stored as u32, frame, plain, crc: 0 };
        let head = BlockHead { crc: head.checksum(&payload[..stored]), ..head };
        self.block[..BLOCK_HEAD_BYTES].copy_from_slice(&head.to_bytes());
        let bytes = BLOCK_HEAD_BYTES + stored;
        self.sink.write_all(&self.block[..bytes])?;
        self.index.add(kind as u8, self.bytes, bytes as u64, contents);
        self.bytes += bytes as u64;
        if kind != BlockKind::Records {
            self.facts_end = self.bytes;
        }
        Ok(())
    }
}

/// Makes a block of one small definition in `memory`. Returns its number of bytes, or `None` if they do not fit.
///
/// It allocates nothing and takes no lock, so it can be called wherever a process ends.
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
