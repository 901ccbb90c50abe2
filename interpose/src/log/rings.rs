//! Places the rings of this process's threads: in pieces of a file of rings, the node's or, for many threads, the process's; or in files of
//! their own.
//!
//! All processes of the node map the head of such a file ([`lbprof_collector::node::rings`]). Somebody may truncate the file at any time: then the head
//! is not as it was made, and nothing more is taken from it or given back.

use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Relaxed, SeqCst},
};

use lbprof_collector::format::ring_name;
use lbprof_collector::node::frame::node_rings_name;
use lbprof_collector::node::rings::{CLOSED, MAX_PIECES, RINGS_MAGIC, RingsHead};
use lbprof_collector::ring::{RINGS_HEAD_BYTES, Ring, RingSpec};
use lbprof_collector::words::SystemError;

use crate::harmless::signals::HandlerLock;
use crate::log::write_error;
use crate::run::node::make_rings;
use crate::state::thread_log::RingFile;
use crate::system::descriptors::{Identity, identify, quietly};
use crate::system::faults;
use crate::system::kept_file::KeptFile;
use crate::system::owned_files::open_owned;

/// The node's file of rings, as this process has it mapped: for good, once.
pub struct NodeRings {
    head: NonNull<RingsHead>,
    path: PathBuf,
    identity: Identity,
    file: KeptFile,
    /// True if it is this process's alone.
    is_own: bool,
}

// SAFETY: the mapping stays for good; it is reached through atomics alone, but for the magic, which nobody changes.
unsafe impl Send for NodeRings {}
// SAFETY: as above.
unsafe impl Sync for NodeRings {}

static NODE: HandlerLock<Option<&NodeRings>> = HandlerLock::new(None);

/// From this number on, threads have their rings in one file, the process's own where its node has none: making a file takes longer than
/// all else that a new thread needs, and hundreds that make theirs at once wait for one another.
const FIRST_IN_COMMON: u32 = 1;

/// True if the process has tried to make such a file.
static IS_MADE: AtomicBool = AtomicBool::new(false);

/// Maps the head of the node's file of rings in `dir`. Where that fails, rings get files of their own.
pub fn join(dir: &Path, lowest: u32, run_id: u64) {
    if let Some(rings) = NodeRings::open_of_run(dir, lowest, run_id, false)
        && let Some(mut node) = NODE.lock()
    {
        *node = Some(rings);
    }
}

/// Makes a ring for thread `thread` of `rank`: `bytes` of slots.
///
/// Errors: what the system says of the ring's own file, where there is no piece for it.
pub fn make(dir: &Path, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<(Ring, RingFile)> {
    let node = if thread < FIRST_IN_COMMON { node() } else { prepare(dir, bytes, rank, run_id) };
    // Threads take their pieces side by side.
    if let Some(node) = node
        && let Ok(ring) = quietly(|| node.take(bytes, rank, thread, run_id))
    {
        return Ok((ring, RingFile { path: node.path.clone(), is_of_node: true }));
    }
    let path = dir.join(ring_name(rank, thread));
    let ring = quietly(|| {
        let file = open_owned(&path, libc::O_RDWR | libc::O_CREAT)?;
        Ring::create_in(&file, bytes, rank, thread, run_id).inspect_err(|_| {
            let _ = std::fs::remove_file(&path);
        })
    });
    let ring = ring.map_err(|error| {
        write_error::note(&error);
        io::Error::new(error.kind(), format!("cannot make {}: {}", path.display(), SystemError(&error)))
    })?;
    Ok((ring, RingFile { path, is_of_node: false }))
}

/// Makes sure that threads after the first have a file for their rings, of so many `bytes` of slots, and opens it. `None`: they make their own.
pub fn prepare(dir: &Path, bytes: usize, rank: u32, run_id: u64) -> Option<&'static NodeRings> {
    let mut node = NODE.lock()?;
    // Others wait meanwhile: they shall find it.
    if node.is_none() && !IS_MADE.swap(true, Relaxed) {
        *node = make_common(dir, bytes, rank, run_id);
    }
    *node
}

fn node() -> Option<&'static NodeRings> {
    NODE.lock().and_then(|node| *node)
}

/// Makes a file for the rings of this process's threads. Where that fails, they get files of their own.
fn make_common(dir: &Path, bytes: usize, rank: u32, run_id: u64) -> Option<&'static NodeRings> {
    make_rings(&dir.join(node_rings_name(rank)), bytes, run_id).ok()?;
    NodeRings::open_of_run(dir, rank, run_id, true)
}

/// Removes what held rings that the log has all of.
pub fn remove(files: impl Iterator<Item = RingFile>) {
    let mut pieces = 0;
    for file in files {
        if file.is_of_node {
            pieces += 1;
        } else {
            let _ = std::fs::remove_file(file.path);
        }
    }
    // Its own file may have been made for threads that did not come.
    if let Some(node) = node().filter(|node| pieces > 0 || node.is_own) {
        node.give_back(pieces);
    }
}

impl NodeRings {
    /// The file of the node, or process, with this lowest rank, if it is of this run.
    fn open_of_run(dir: &Path, lowest: u32, run_id: u64, is_own: bool) -> Option<&'static NodeRings> {
        let rings = NodeRings::open(dir.join(node_rings_name(lowest)), is_own).ok()?;
        (rings.is_whole() && rings.head().run_id.load(Relaxed) == run_id).then(|| &*Box::leak(Box::new(rings)))
    }

    fn open(path: PathBuf, is_own: bool) -> io::Result<NodeRings> {
        let file = open_owned(&path, libc::O_RDWR)?;
        let (identity, _) = identify(file.as_raw_fd())?;
        if file.metadata()?.len() < RINGS_HEAD_BYTES as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a plain system call on an open file; the result is checked.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), RINGS_HEAD_BYTES, access, kind, file.as_raw_fd(), 0) };
        match NonNull::new(address.cast()) {
            Some(head) if address != libc::MAP_FAILED => {
                faults::look_after(faults::HEAD_OF_NODE, address as usize, RINGS_HEAD_BYTES);
                let kept = KeptFile::new();
                kept.keep(file)?;
                Ok(NodeRings { head, path, identity, file: kept, is_own })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn head(&self) -> &RingsHead {
        // SAFETY: the mapping stays for good and is aligned; all that changes are atomics.
        unsafe { self.head.as_ref() }
    }

    /// Returns whether the head is as it was made, and can be used: a signal that comes of a page that is gone is ours.
    fn is_whole(&self) -> bool {
        if !faults::cover() {
            faults::try_pages(faults::HEAD_OF_NODE);
        }
        // SAFETY: the mapping is live; others may change the file at any time.
        let magic = unsafe { (&raw const (*self.head.as_ptr()).magic).read_volatile() };
        magic == RINGS_MAGIC && faults::is_of_file(faults::HEAD_OF_NODE)
    }

    /// A ring in the next piece.
    ///
    /// Errors: what the system says; others where the file is not to be used any more.
    fn take(&self, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<Ring> {
        let file = self.file.file(|| open_owned(&self.path, libc::O_RDWR))?;
        if self.file.identity() != self.identity || !self.is_whole() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let head = self.head();
        let piece_bytes = head.piece_bytes.load(Relaxed);
        if !Ring::fits(bytes, piece_bytes) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let in_use = head.in_use.fetch_update(SeqCst, SeqCst, |used| (used < MAX_PIECES).then(|| used + 1));
        in_use.map_err(|_| io::ErrorKind::NotFound)?;
        let number = head.given.fetch_add(1, SeqCst);
        let piece = RingSpec { rank, thread, bytes: piece_bytes };
        let ring = match number < MAX_PIECES {
            true => Ring::in_piece(&file, piece, bytes, number, run_id),
            false => Err(io::ErrorKind::NotFound.into()),
        };
        // Nobody but us may know of a file that was truncated meanwhile.
        let ring = ring.and_then(|ring| if self.is_whole() { Ok(ring) } else { Err(io::ErrorKind::NotFound.into()) });
        if ring.is_err() {
            // Others may come: the file stays for them.
            head.in_use.fetch_sub(1, SeqCst);
        }
        ring
    }

    /// Gives pieces back; the file goes with the last one in use.
    fn give_back(&self, pieces: u32) {
        if !self.is_whole() {
            return;
        }
        let in_use = self.head().in_use.fetch_update(SeqCst, SeqCst, |used| {
            match used.checked_sub(pieces).filter(|_| used != CLOSED)? {
                0 => Some(CLOSED),
                left => Some(left),
            }
        });
        if in_use == Ok(pieces) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
