//! Places the rings of this process's threads in one file.
//!
//! Making a file takes longer than all else that a new thread needs, and hundreds of threads that do so at once wait for one another. So the file is
//! made with the first ring, and stays open.

use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use lbprof_collector::format::rings_name;
use lbprof_collector::ring::Ring;
use lbprof_collector::words::SystemError;

use crate::machine::system::files::descriptors::{Identity, identify_file, run_without_signals};
use crate::machine::system::files::kept_file::KeptFile;
use crate::machine::system::files::owned_files::open_owned;

struct RingsFile {
    path: PathBuf,
    identity: Identity,
    file: KeptFile,
}

static FILE: OnceLock<RingsFile> = OnceLock::new();

/// Rings in the file of which the log does not have everything.
static IN_USE: AtomicU32 = AtomicU32::new(0);

pub fn make_ring_memory(dir: &Path, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<Ring> {
    let path = dir.join(rings_name(rank));
    let made = run_without_signals(|| match FILE.get() {
        // Threads make theirs side by side.
        Some(rings) => rings.make_ring(bytes, rank, thread, run_id),
        None => make_first(&path, bytes, rank, thread, run_id),
    });
    let ring = made.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot make {}: {}", path.display(), SystemError(&error)))
    })?;
    IN_USE.fetch_add(1, SeqCst);
    Ok(ring)
}

fn make_first(path: &Path, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<Ring> {
    let file = open_owned(path, libc::O_RDWR | libc::O_CREAT)?;
    let kept = KeptFile::new();
    let ring = Ring::create_in(&file, bytes, rank, thread, run_id).and_then(|ring| {
        let (identity, _) = identify_file(file.as_raw_fd())?;
        kept.keep(file)?;
        // The first thread makes its ring before there are others.
        let _ = FILE.set(RingsFile { path: path.to_owned(), identity, file: kept });
        Ok(ring)
    });
    ring.inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// The path of the file with this process's rings.
pub fn rings_path() -> &'static Path {
    FILE.get().map_or(Path::new(""), |rings| &rings.path)
}

/// Gives back a number of rings whose content the log has. The file goes with the last one.
pub fn give_back(rings: u32) {
    if let Some(file) = FILE.get()
        && IN_USE.fetch_sub(rings, SeqCst) == rings
    {
        let _ = std::fs::remove_file(&file.path);
    }
}

impl RingsFile {
    fn make_ring(&self, bytes: usize, rank: u32, thread: u32, run_id: u64) -> io::Result<Ring> {
        let file = self.file.file(|| open_owned(&self.path, libc::O_RDWR))?;
        if self.file.identity() != self.identity {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the file was replaced"));
        }
        Ring::create_in(&file, bytes, rank, thread, run_id)
    }
}
