//! The rings of a node's threads in one file.
//!
//! | head, 4096 bytes ([`RingsHead`]) | piece 0 | piece 1 | … |        a piece is what a ring's own file would be, [`crate::ring`]
//!
//! All processes of the node map the head; each thread maps its own piece. A piece is given out once, so what a killed rank left in its own stays there.
//! The process that gives back the last piece in use closes the head, after which none is given out, and removes the file. A rank that was killed
//! gives nothing back.

use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{SeekFrom as Find, seek};

use crate::codec::u32_at;
use crate::format::VERSION;
use crate::ring::{HEAD_BYTES, MAGIC, RINGS_HEAD_BYTES, RingHead};

/// First bytes of a file of rings.
pub const RINGS_MAGIC: [u8; 8] = *b"LBNRINGS";
/// Pieces that a file can have.
pub const MAX_PIECES: u32 = 1 << 16;
/// Bytes of a piece: a multiple of a page, and no more than the largest ring with its head.
const PIECE_BYTES: std::ops::RangeInclusive<u64> = 4096..=64 << 20;

/// The head of a file of rings. All fields little-endian, at the offsets of this layout.
#[repr(C)]
pub struct RingsHead {
    /// [`RINGS_MAGIC`].
    pub magic: [u8; 8],
    /// The log's version.
    pub version: AtomicU32,
    /// Bytes of a piece.
    pub piece_bytes: AtomicU32,
    /// The run's id.
    pub run_id: AtomicU64,
    /// Pieces given out so far.
    pub given: AtomicU32,
    /// Pieces in use; [`CLOSED`] once the last one was given back.
    pub in_use: AtomicU32,
}

/// In place of the number of pieces in use: the file is being removed.
pub const CLOSED: u32 = u32::MAX;

const _: () = assert!(size_of::<RingsHead>() <= RINGS_HEAD_BYTES);

/// Bytes of a piece that can hold `slots` bytes of slots.
pub fn piece_bytes(slots: usize) -> usize {
    (HEAD_BYTES + slots).next_multiple_of(4096)
}

/// The head of a new file, up to its counts.
pub fn first_words(piece_bytes: u32, run_id: u64) -> [u8; offset_of!(RingsHead, given)] {
    let mut bytes = [0; offset_of!(RingsHead, given)];
    let fields: [(usize, &[u8]); 4] = [
        (offset_of!(RingsHead, magic), &RINGS_MAGIC),
        (offset_of!(RingsHead, version), &u32::from(VERSION).to_le_bytes()),
        (offset_of!(RingsHead, piece_bytes), &piece_bytes.to_le_bytes()),
        (offset_of!(RingsHead, run_id), &run_id.to_le_bytes()),
    ];
    for (at, field) in fields {
        bytes[at..at + field.len()].copy_from_slice(field);
    }
    bytes
}

/// A file of rings as a reader has it.
#[derive(Debug)]
pub struct RingsFile {
    path: PathBuf,
    file: File,
    piece_bytes: u64,
}

/// A ring in such a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingLocation {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Number of the thread in its log.
    pub thread: u32,
    /// Offset in the file.
    pub at: u64,
}

impl RingsFile {
    /// Opens the file of rings at `path`. `None`: it has no head, so nothing in it was in use.
    ///
    /// Errors: what the system says; InvalidData where it is no file of rings of this version.
    pub fn open(path: &Path, file: File) -> io::Result<Option<RingsFile>> {
        let mut head = [0; RINGS_HEAD_BYTES];
        let read = file.read_at(&mut head, 0)?;
        if head[..read].iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let version = u16::try_from(u32_at(&head, offset_of!(RingsHead, version))).unwrap_or(0);
        let piece_bytes = u64::from(u32_at(&head, offset_of!(RingsHead, piece_bytes)));
        let is_ours = head[..8] == RINGS_MAGIC && version == VERSION;
        if !is_ours || !PIECE_BYTES.contains(&piece_bytes) {
            let what = "not a file of rings of this version of lbprof";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(Some(RingsFile { path: path.to_path_buf(), file, piece_bytes }))
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The pieces that threads have set up. Holes are not looked at.
    ///
    /// Errors: what the system says.
    pub fn pieces(&self) -> io::Result<Vec<RingLocation>> {
        let length = self.file.metadata()?.len();
        let mut pieces = Vec::new();
        let mut number = 0;
        while number < u64::from(MAX_PIECES) {
            let at = RINGS_HEAD_BYTES as u64 + number * self.piece_bytes;
            if at >= length {
                break;
            }
            let data = match seek(&self.file, Find::Data(at)) {
                Ok(data) => data.max(at),
                Err(rustix::io::Errno::NXIO) => break,
                Err(_) => at,
            };
            if data >= at + self.piece_bytes {
                number = (data - RINGS_HEAD_BYTES as u64) / self.piece_bytes;
                continue;
            }
            number += 1;
            let mut head = [0; offset_of!(RingHead, capacity)];
            if self.file.read_at(&mut head, at)? < head.len() || head[..8] != MAGIC {
                continue;
            }
            let (rank, thread) =
                (u32_at(&head, offset_of!(RingHead, rank)), u32_at(&head, offset_of!(RingHead, thread)));
            pieces.push(RingLocation { rank, thread, at });
        }
        Ok(pieces)
    }

    /// The file, and where in it the piece is: from, to.
    pub fn place(&self, piece: RingLocation) -> (&File, std::ops::Range<u64>) {
        (&self.file, piece.at..piece.at + self.piece_bytes)
    }
}
