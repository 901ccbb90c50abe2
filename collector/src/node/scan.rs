//! Finds the frames of a node file that may be damaged, cut short, or still being written.
//!
//! Where a frame should begin and none does, everything up to the next one whose checksum holds is skipped and noted. Holes are not read.

use std::fs::File;
use std::io;

use rustix::fs::{SeekFrom as Find, seek};

use crate::node::frame::{FRAME_HEAD_BYTES, FRAME_MAGIC, FrameHead};
use crate::salvage::read_at_most;

/// Bytes asked of the file at a time.
const STEP: usize = 256 << 10;

/// Bytes of candidate frames that are checked in vain before the rest of a file is given up; as in a log ([`crate::blocks`]).
const MOST_CHECKED_IN_VAIN: u64 = 256 << 20;

/// A frame whose checksum holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidFrame {
    /// Its fields.
    pub head: FrameHead,
    /// Offset of its payload in the file.
    pub at: u64,
}

/// Bytes of a node file that are no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedBytes {
    /// Offset in the file.
    pub at: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Claim of the frame's head that stands there, right or wrong.
    pub claim: Option<FrameHead>,
    /// True if they are the begin of a frame whose end is not there.
    pub is_cut: bool,
}

/// The next item in a node file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanItem {
    /// A frame.
    Frame(ValidFrame),
    /// Bytes that do not form a valid frame.
    Skipped(SkippedBytes),
}

/// Looks for frames from a place on.
pub struct FrameScan<'a> {
    file: &'a File,
    /// Bytes of the file when the scan began.
    length: u64,
    /// Expected offset of the next frame.
    at: u64,
    /// The bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
    checked_in_vain: u64,
}

impl<'a> FrameScan<'a> {
    /// A scan of `file` from byte `from` on, where a frame should begin.
    ///
    /// Errors: what the system says.
    pub fn new(file: &'a File, from: u64) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(FrameScan { file, length, at: from, buffer: Vec::new(), start: 0, checked_in_vain: 0 })
    }

    /// Returns the next item, or `None` at the end.
    ///
    /// Errors: what the system says; nothing can be read from there on.
    pub fn next_found(&mut self) -> io::Result<Option<ScanItem>> {
        let begin = self.at;
        if begin >= self.length {
            return Ok(None);
        }
        if let Some(frame) = self.frame_at(begin)? {
            self.at += frame.head.frame_bytes();
            self.checked_in_vain = 0;
            return Ok(Some(ScanItem::Frame(frame)));
        }
        let claim = self.head_at(begin)?;
        self.at = self.next_frame(begin + 1, claim.map(|head| (head.run_id, begin + head.frame_bytes())))?;
        let bytes = self.at - begin;
        let is_cut = match claim {
            Some(head) => bytes < head.frame_bytes(),
            None => bytes < FRAME_HEAD_BYTES as u64 && self.is_frame_start(begin, bytes as usize)?,
        };
        Ok(Some(ScanItem::Skipped(SkippedBytes { at: begin, bytes, claim, is_cut })))
    }

    /// The frame at a place, if its checksum holds.
    fn frame_at(&mut self, at: u64) -> io::Result<Option<ValidFrame>> {
        let Some(head) = self.head_at(at)? else { return Ok(None) };
        let length = head.length as usize;
        if self.length - at < head.frame_bytes() {
            return Ok(None);
        }
        let payload = self.bytes(at + FRAME_HEAD_BYTES as u64, length)?;
        let is_frame = payload.len() == length && head.checksum(payload) == head.crc;
        if !is_frame {
            self.checked_in_vain += head.frame_bytes();
        }
        Ok(is_frame.then_some(ValidFrame { head, at: at + FRAME_HEAD_BYTES as u64 }))
    }

    fn head_at(&mut self, at: u64) -> io::Result<Option<FrameHead>> {
        Ok(self.bytes(at, FRAME_HEAD_BYTES)?.first_chunk().and_then(FrameHead::from_bytes))
    }

    fn is_frame_start(&mut self, at: u64, n: usize) -> io::Result<bool> {
        Ok(self.bytes(at, n)?.iter().zip(FRAME_MAGIC).all(|(&byte, magic)| byte == magic))
    }

    /// Finds the begin of the next frame from `at` on, or the end of the file. `cut`: the run of a frame that is not whole, and where it
    /// would end. If another frame of that run begins before, whole or not, the end of the cut one is missing.
    fn next_frame(&mut self, mut at: u64, cut: Option<(u64, u64)>) -> io::Result<u64> {
        while at < self.length && self.checked_in_vain <= MOST_CHECKED_IN_VAIN {
            // What is left of the last bytes serves, if there are enough.
            let have = usize::try_from(self.buffered(at)).unwrap_or(0).max(FRAME_MAGIC.len());
            if have == FRAME_MAGIC.len() {
                at = self.data_from(at)?;
            }
            let bytes = self.bytes(at, have)?;
            if bytes.len() < FRAME_MAGIC.len() {
                break;
            }
            match bytes.windows(FRAME_MAGIC.len()).position(|window| window == FRAME_MAGIC) {
                Some(found) => {
                    at += found as u64;
                    let cut_run = cut.filter(|(_, end)| at < *end).map(|(run_id, _)| run_id);
                    if self.frame_at(at)?.is_some()
                        || self.head_at(at)?.is_some_and(|head| cut_run == Some(head.run_id))
                    {
                        return Ok(at);
                    }
                    at += 1;
                }
                None => at += (bytes.len() - (FRAME_MAGIC.len() - 1)) as u64,
            }
        }
        Ok(self.length)
    }

    /// The next byte from `at` on that is in no hole, as far as the file system says.
    fn data_from(&self, at: u64) -> io::Result<u64> {
        match seek(self.file, Find::Data(at)) {
            Ok(data) => Ok(data.clamp(at, self.length)),
            Err(rustix::io::Errno::NXIO) => Ok(self.length),
            Err(_) => Ok(at),
        }
    }

    /// The number of bytes from `at` on that are in memory.
    fn buffered(&self, at: u64) -> u64 {
        let end = self.start + self.buffer.len() as u64;
        if self.start <= at { end.saturating_sub(at) } else { 0 }
    }

    /// The `n` bytes at `at`, or those that there are.
    fn bytes(&mut self, at: u64, n: usize) -> io::Result<&[u8]> {
        let n = n.min(usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX));
        if n == 0 {
            return Ok(&[]);
        }
        if self.buffered(at) < n as u64 {
            let wanted = n.max(STEP).min(usize::try_from(self.length - at).unwrap_or(usize::MAX));
            self.start = at;
            self.buffer.resize(wanted, 0);
            let read = read_at_most(self.file, &mut self.buffer, at)?;
            self.buffer.truncate(read);
        }
        let from = (at - self.start) as usize;
        let rest = self.buffer.get(from..).unwrap_or_default();
        Ok(&rest[..n.min(rest.len())])
    }
}
