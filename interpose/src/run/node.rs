//! The files that the ranks of a node write into together: made by the one that leads them, before the others learn of them.

use std::fs;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;

use lbprof_collector::node::frame::{
    FRAME_HEAD_BYTES, FrameHead, OF_NO_RANK, frame_into, node_name, node_of_name, node_rings_name,
};
use lbprof_collector::node::rings::{first_words, piece_bytes};
use lbprof_collector::record::Record;
use lbprof_collector::ring::RINGS_HEAD_BYTES;
use lbprof_collector::words::SystemError;

use crate::harmless::guard;
use crate::mpi::world;
use crate::run::messages::NodeFiles;
use crate::run::settings::{FileSharing, RecorderSettings};
use crate::system::descriptors::{identify, quietly};
use crate::system::owned_files::open_owned;

/// From so many ranks of a node, or of the job, they write one file.
const MANY_HERE: usize = 64;
const MANY: usize = 1024;

/// Makes the files of the node with these ranks in `dir`, where those that record, so many, are to write into one. `None`: each writes its own, also
/// where making them failed.
pub fn create_files(
    dir: &Path,
    run_id: u64,
    settings: &RecorderSettings,
    ranks: &[u32],
    recording: usize,
    size: usize,
) -> Option<NodeFiles> {
    let is_wanted = recording > 1
        && match settings.files {
            FileSharing::Rank => false,
            FileSharing::Node => true,
            FileSharing::Auto => (recording >= MANY_HERE || size >= MANY) && !has_size_limit(),
        };
    if !is_wanted || world::is_spawned() {
        return None;
    }
    let lowest = ranks.iter().min().copied()?;
    let path = dir.join(node_name(lowest));
    let log = match open_owned(&path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT) {
        Ok(log) => log,
        Err(error) => {
            if settings.files == FileSharing::Node {
                guard::say(format_args!(
                    "cannot make {}: {}; the ranks of this node write files of their own",
                    path.display(),
                    SystemError(&error)
                ));
            }
            return None;
        }
    };
    let identity = identify(log.as_raw_fd()).ok()?.0;
    // Without it each thread makes a ring file.
    let _ = make_rings(&dir.join(node_rings_name(lowest)), settings.buffer + size_of::<Record>(), run_id);
    Some(NodeFiles { lowest, identity })
}

/// Makes a file for rings of so many bytes of slots.
///
/// Errors: what the system says.
pub fn make_rings(path: &Path, bytes: usize, run_id: u64) -> io::Result<()> {
    let mut file = open_owned(path, libc::O_WRONLY | libc::O_CREAT)?;
    let mut head = first_words(piece_bytes(bytes) as u32, run_id).to_vec();
    head.resize(RINGS_HEAD_BYTES, 0);
    let written = quietly(|| file.write_all(&head));
    if written.is_err() {
        // A part of a head is none.
        let _ = fs::remove_file(path);
    }
    written
}

/// Returns whether files must not be longer than some limit (ulimit -f): that of one rank is not meant for all.
fn has_size_limit() -> bool {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the structure is filled where the call succeeds.
    unsafe {
        libc::getrlimit(libc::RLIMIT_FSIZE, limit.as_mut_ptr()) == 0
            && limit.assume_init().rlim_cur != libc::RLIM_INFINITY
    }
}

/// Notes in the node's file which ranks are to write into it: so a later program of the same job knows that the folder is not its own.
pub fn announce(dir: &Path, run_id: u64, files: NodeFiles, ranks: &[u32]) {
    let ranks: Vec<u8> = ranks.iter().flat_map(|rank| rank.to_le_bytes()).collect();
    let mut frame = Vec::new();
    if frame_into(&mut frame, run_id, OF_NO_RANK, 0, &ranks)
        && let Ok(mut file) = open_owned(&dir.join(node_name(files.lowest)), libc::O_WRONLY | libc::O_APPEND)
    {
        // Where the disk is full, the ranks will find out.
        let _ = quietly(|| file.write(&frame));
    }
}

/// Returns whether node files in `dir` have logs of some of `ranks`, those that ask. `one_host`: the folder has at most a few of them. Of
/// many hosts only the file of this host's lowest rank is looked for, because each of them would read the files of all.
pub fn has_logs(dir: &Path, ranks: &[u32], one_host: bool) -> bool {
    if ranks.iter().min().is_some_and(|&lowest| dir.join(node_name(lowest)).exists()) {
        return true;
    }
    if !one_host && ranks.len() > 1 {
        return false;
    }
    let names = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut nodes = names.filter(|name| name.to_str().and_then(node_of_name).is_some());
    nodes.any(|name| announced(&dir.join(name)).is_some_and(|others| others.iter().any(|rank| ranks.contains(rank))))
}

/// The ranks that the node file at `path` was made for.
fn announced(path: &Path) -> Option<Vec<u32>> {
    let mut file = open_owned(path, libc::O_RDONLY).ok()?;
    let mut head = [0; FRAME_HEAD_BYTES];
    file.read_exact(&mut head).ok()?;
    let head = FrameHead::from_bytes(&head).filter(|head| head.rank == OF_NO_RANK)?;
    let mut payload = Vec::new();
    file.take(u64::from(head.length)).read_to_end(&mut payload).ok()?;
    (head.checksum(&payload) == head.crc)
        .then(|| payload.as_chunks().0.iter().copied().map(u32::from_le_bytes).collect())
}
