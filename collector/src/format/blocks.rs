//! Finds the blocks of a log in a stream of bytes that may be damaged or cut short.
//!
//! Where a block should begin and none does, everything up to the next one whose checksum holds is skipped and reported.

use std::io::{self, Read};

use crate::format::{BLOCK_HEAD_BYTES, BLOCK_MAGIC, BlockHead};

/// Bytes asked of the source at first, and at most at a time: a short log takes little memory, of which thousands may be open.
const FIRST_STEP: usize = 8 << 10;
const LARGEST_STEP: usize = 256 << 10;

/// Bytes of candidate blocks that are checked in vain before the rest of a log is given up. Without this bound a file made
/// of block heads alone would take hours: each is checked against as many bytes as it claims.
const MOST_CHECKED_IN_VAIN: u64 = 256 << 20;

/// The next event in a log.
pub(crate) enum LogBlockEvent {
    /// A block whose checksum holds; its payload is [`BlockScanner::payload`] until the next event.
    Block(BlockHead),
    /// Bytes that are no block were skipped.
    Skipped {
        /// Offset in the source, in bytes.
        at: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// The source ends within a block.
    Cut {
        /// Offset of the block.
        at: u64,
        /// Number of its bytes that exist.
        bytes: u64,
        /// Its kind.
        kind: CutKind,
    },
    /// The source could not be read further.
    Failed(io::Error),
}

/// Kind of the block within which a source ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutKind {
    /// The source does not end within a block.
    NotCut,
    /// The source ends within the block's head.
    Unknown,
    /// The number of the block's kind.
    Known(u8),
}

/// The bytes at a position where a block may begin.
enum BlockProbe {
    Block(BlockHead),
    /// A block seems to begin, but the source ends within it.
    Cut(CutKind),
    Nothing,
}

/// The blocks of a source.
pub(crate) struct BlockScanner<R> {
    source: R,
    /// Bytes that are asked of it next.
    step: usize,
    /// Bytes read; those before `at` are done with.
    buffer: Vec<u8>,
    at: usize,
    /// Place of `at` in the source.
    position: u64,
    ended: bool,
    error: Option<io::Error>,
    checked_in_vain: u64,
}

impl<R: Read> BlockScanner<R> {
    /// The source's blocks, if the next byte is where one begins.
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

    /// Returns the next item, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<LogBlockEvent> {
        let start = self.position;
        let mut cut = CutKind::NotCut;
        loop {
            let have = self.fill(BLOCK_HEAD_BYTES);
            if have == 0 {
                break;
            }
            match self.probe(have) {
                BlockProbe::Block(_) if self.position > start => break,
                BlockProbe::Block(head) => {
                    self.checked_in_vain = 0;
                    self.advance(BLOCK_HEAD_BYTES + head.stored as usize);
                    return Some(LogBlockEvent::Block(head));
                }
                BlockProbe::Cut(kind) if self.position == start => cut = kind,
                BlockProbe::Cut(_) => {}
                BlockProbe::Nothing => {}
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

    /// Bytes of the source that are done with.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// The source of the bytes.
    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    /// The payload of the last block.
    pub(crate) fn payload(&self, head: &BlockHead) -> &[u8] {
        self.taken(head.stored as usize)
    }

    /// Gives back the memory of what is done with: of a source that is read on much later, or never. Nothing that was taken is at hand any more.
    pub(crate) fn give_back_memory(&mut self) {
        self.buffer.drain(..self.at);
        self.buffer.shrink_to_fit();
        self.at = 0;
    }

    /// The next `n` bytes, which are taken off, or what there is where the source ends before.
    pub(crate) fn take(&mut self, n: usize) -> &[u8] {
        let n = self.fill(n).min(n);
        self.advance(n);
        self.taken(n)
    }

    /// The last `n` bytes taken.
    pub(crate) fn taken(&self, n: usize) -> &[u8] {
        &self.buffer[self.at - n..self.at]
    }

    /// The error that ended the source, if one did and was not reported yet.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn probe(&mut self, have: usize) -> BlockProbe {
        let bytes = &self.buffer[self.at..];
        let Some(head) = bytes.first_chunk::<BLOCK_HEAD_BYTES>() else {
            let begins_so = bytes.iter().zip(BLOCK_MAGIC).all(|(&byte, magic)| byte == magic);
            return if begins_so { BlockProbe::Cut(CutKind::Unknown) } else { BlockProbe::Nothing };
        };
        let Some(head) = BlockHead::from_bytes(head) else { return BlockProbe::Nothing };
        debug_assert!(have >= BLOCK_HEAD_BYTES);
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

    /// Reads until `n` bytes are at hand or the source ends; gives how many there are.
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
