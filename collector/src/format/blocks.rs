//! Finds the blocks of a log in a stream of bytes that may be damaged or cut short.
//!
//! Where a block should begin and none does, everything up to the next one whose checksum holds is skipped and reported.

use std::io::{self, Read};

use crate::format::{BLOCK_HEAD_BYTES, BLOCK_MAGIC, BlockHead};

/// First and largest number of bytes read at once. A short log takes little memory, because thousands may be open.
const FIRST_STEP: usize = 8 << 10;
const LARGEST_STEP: usize = 256 << 10;

/// Maximum number of bytes of candidate blocks with wrong checksums, after which the rest of a log is given up. Otherwise a file made of block heads
/// would take hours, because each is checked against as many bytes as it claims.
const MOST_CHECKED_IN_VAIN: u64 = 256 << 20;

pub(crate) enum LogBlockEvent {
    /// A block whose checksum holds. Its payload is [`BlockScanner::taken`] last.
    Block(BlockHead),
    /// Bytes that are no block were skipped.
    Skipped {
        /// Offset in the source, in bytes.
        at: u64,
        bytes: u64,
    },
    /// The source ends within a block.
    Cut {
        at: u64,
        /// Number of its bytes that exist.
        bytes: u64,
        kind: CutKind,
    },
    /// The source could not be read further.
    Failed(io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutKind {
    /// The source does not end within a block.
    NotCut,
    /// The source ends within the block's head.
    Unknown,
    /// The number of the block's kind.
    Known(u8),
}

enum BlockProbe {
    Block(BlockHead),
    /// A block seems to begin, but the source ends within it.
    Cut(CutKind),
    Nothing,
}

pub(crate) struct BlockScanner<R> {
    pub(crate) source: R,
    step: usize,
    /// Bytes read; those before `at` are done with.
    buffer: Vec<u8>,
    at: usize,
    /// Offset of `at` in the source.
    pub(crate) position: u64,
    ended: bool,
    /// The error that ended the source, until it is reported.
    pub(crate) error: Option<io::Error>,
    checked_in_vain: u64,
}

impl<R: Read> BlockScanner<R> {
    /// Finds the blocks of a source, the first of which begins at its next byte.
    pub(crate) fn new(source: R) -> Self {
        BlockScanner {
            source,
            step: FIRST_STEP,
            buffer: Vec::new(),
            at: 0,
            position: 0,
            ended: false,
            error: None,
            checked_in_vain: 0,
        }
    }

    pub(crate) fn next(&mut self) -> Option<LogBlockEvent> {
        let start = self.position;
        let mut cut = CutKind::NotCut;
        loop {
            if self.fill(BLOCK_HEAD_BYTES) == 0 {
                break;
            }
            match self.probe() {
                BlockProbe::Block(_) if self.position > start => break,
                BlockProbe::Block(head) => {
                    self.checked_in_vain = 0;
                    self.advance(BLOCK_HEAD_BYTES + head.stored as usize);
                    return Some(LogBlockEvent::Block(head));
                }
                BlockProbe::Cut(kind) if self.position == start => cut = kind,
                BlockProbe::Cut(_) | BlockProbe::Nothing => {}
            }
            self.skip_to_next_magic();
        }
        let bytes = self.position - start;
        if bytes > 0 {
            let to_the_end = self.at == self.buffer.len() && self.ended;
            return Some(if cut != CutKind::NotCut && to_the_end {
                LogBlockEvent::Cut { at: start, bytes, kind: cut }
            } else {
                LogBlockEvent::Skipped { at: start, bytes }
            });
        }
        self.error.take().map(LogBlockEvent::Failed)
    }

    /// Frees the memory of bytes that were taken, which are not available any more.
    pub(crate) fn give_back_memory(&mut self) {
        self.buffer.drain(..self.at);
        self.buffer.shrink_to_fit();
        self.at = 0;
    }

    /// Takes the next `n` bytes, or fewer if the source ends.
    pub(crate) fn take(&mut self, n: usize) -> &[u8] {
        let n = self.fill(n).min(n);
        self.advance(n);
        self.taken(n)
    }

    /// Returns the last `n` bytes that were taken. After a block these are its payload.
    pub(crate) fn taken(&self, n: usize) -> &[u8] {
        &self.buffer[self.at - n..self.at]
    }

    fn probe(&mut self) -> BlockProbe {
        let bytes = &self.buffer[self.at..];
        let Some(head) = bytes.first_chunk::<BLOCK_HEAD_BYTES>() else {
            let begins_so = bytes.iter().zip(BLOCK_MAGIC).all(|(&byte, magic)| byte == magic);
            return if begins_so { BlockProbe::Cut(CutKind::Unknown) } else { BlockProbe::Nothing };
        };
        let Some(head) = BlockHead::from_bytes(head) else { return BlockProbe::Nothing };
        let length = BLOCK_HEAD_BYTES + head.stored as usize;
        if self.fill(length) < length {
            return BlockProbe::Cut(CutKind::Known(head.kind));
        }
        let payload = &self.buffer[self.at + BLOCK_HEAD_BYTES..self.at + length];
        if head.checksum(payload) == head.crc {
            return BlockProbe::Block(head);
        }
        self.checked_in_vain += length as u64;
        BlockProbe::Nothing
    }

    /// Skips at least one byte, up to the next magic or the end.
    fn skip_to_next_magic(&mut self) {
        self.advance(1);
        loop {
            let have = self.fill(BLOCK_MAGIC.len());
            if have < BLOCK_MAGIC.len() {
                return self.advance(have);
            }
            if self.checked_in_vain > MOST_CHECKED_IN_VAIN {
                self.advance(have);
                continue;
            }
            let rest = &self.buffer[self.at..];
            if let Some(found) = rest.windows(BLOCK_MAGIC.len()).position(|window| window == BLOCK_MAGIC) {
                return self.advance(found);
            }
            self.advance(have - (BLOCK_MAGIC.len() - 1));
        }
    }

    fn advance(&mut self, n: usize) {
        self.at += n;
        self.position += n as u64;
    }

    /// Reads until `n` bytes are available or the source ends, and returns their number.
    fn fill(&mut self, n: usize) -> usize {
        while self.buffer.len() - self.at < n && !self.ended {
            // Moving the rest to the front only when it is the smaller half keeps the cost of all moves linear.
            if self.at > self.buffer.len() / 2 {
                self.buffer.drain(..self.at);
                self.at = 0;
            }
            // The buffer grows by what was really read, never by what a length claims.
            self.buffer.reserve(self.step);
            match self.source.by_ref().take(self.step as u64).read_to_end(&mut self.buffer) {
                Ok(read) => self.ended = read < self.step,
                Err(error) => {
                    self.ended = true;
                    self.error = Some(error);
                }
            }
            self.step = LARGEST_STEP.min(2 * self.step);
        }
        self.buffer.len() - self.at
    }
}
