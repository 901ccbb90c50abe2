//! Opens the files of a run, and says why one cannot be opened.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file. Something else under the name of a file of a run, such as a named pipe, could block for ever.
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
