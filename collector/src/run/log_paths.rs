//! Paths of the log and the rings of a rank: in files of their own, or in those of its node.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::node::file::{LogId, NodeFile};
use crate::node::rings::{RingLocation, RingsFile};
use crate::salvage::{SalvagedRing, read_ring, read_ring_in};

/// The location of a rank's log.
#[derive(Clone, Debug)]
pub enum LogPlace {
    /// In a file of its own; it may not exist, where only rings are left.
    File(PathBuf),
    /// In a node file.
    Node(Arc<NodeFile>, LogId),
}

impl LogPlace {
    /// The file's name, for messages.
    pub fn name(&self) -> String {
        match self {
            LogPlace::File(path) => path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned()),
            LogPlace::Node(node, _) => node.name(),
        }
    }
}

impl LogPlace {
    /// Bytes of the log; `None` where there is none.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            LogPlace::File(path) => Some(open_file(path).ok()?.metadata().ok()?.len()),
            LogPlace::Node(node, id) => Some(node.read(*id).parts().end()),
        }
    }
}

/// The location of a ring.
#[derive(Clone, Debug)]
pub enum RingPlace {
    /// In a file of its own, of this thread.
    File(PathBuf, u32),
    /// In a file of a node's rings.
    Node(Arc<RingsFile>, RingLocation),
}

impl RingPlace {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            RingPlace::File(path, _) => {
                path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
            }
            RingPlace::Node(rings, piece) => format!("{}, rank {}, thread {}", rings.name(), piece.rank, piece.thread),
        }
    }

    /// The number of its thread in the log.
    pub fn thread(&self) -> u32 {
        match self {
            RingPlace::File(_, thread) => *thread,
            RingPlace::Node(_, piece) => piece.thread,
        }
    }

    /// Reads the ring, or returns `None` if it is of another version.
    ///
    /// Errors: what the system says.
    pub fn read(&self) -> io::Result<Option<SalvagedRing>> {
        match self {
            RingPlace::File(path, _) => read_ring(&open_file(path)?),
            RingPlace::Node(rings, piece) => {
                let (file, part) = rings.place(*piece);
                read_ring_in(file, part)
            }
        }
    }
}

/// Opens a regular file. What else there may be under the name of a file of a run, a named pipe for one, could make us wait for ever.
///
/// Errors: the system's, with the owner where permission is denied; or that it is no regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    let file = file.map_err(|error| name_owner(path, error))?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Says to whom the file or folder at `path` belongs if the error is that permission is denied.
pub(crate) fn name_owner(path: &Path, error: io::Error) -> io::Error {
    // If a folder may not be entered, only the folder itself is known.
    let closed = path.ancestors().find_map(|path| Some((path, path.metadata().ok()?)));
    match closed {
        Some((closed, facts)) if error.kind() == io::ErrorKind::PermissionDenied => {
            let it = if closed == path { "it".to_owned() } else { format!("the folder {}", closed.display()) };
            let owner = user_name(facts.uid());
            io::Error::new(
                error.kind(),
                format!("permission denied: {it} belongs to {owner} (mode {:o})", facts.mode() & 0o7777),
            )
        }
        _ => error,
    }
}

/// Returns a user's name, or number where the host has no list of users with it.
fn user_name(id: u32) -> String {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == id.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("user {id}"))
}
