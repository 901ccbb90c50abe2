//! Files and folders that only this user can have made, and that no other user can change.
//!
//! A run's folder may lie where everyone may write, such as /tmp. There another user can make a name before us, put a link in the place of a
//! file, or exchange a folder between two looks at it. So a file is opened relative to a descriptor of its folder and without following
//! links, and both count only if their descriptors show our own user and no write permission for others.

use std::ffi::CString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Permissions of new folders and files, less the bits in the umask: others may read, none may write.
const FOLDER_MODE: u32 = 0o755;
const FILE_MODE: libc::c_uint = 0o644;

/// Write permission of the group and of others.
const OTHERS_WRITE: u32 = 0o022;

/// A folder of this user's, held open.
pub struct OwnedFolder(File);

impl OwnedFolder {
    /// Opens a folder.
    ///
    /// Errors: ELOOP or ENOTDIR for a link; PermissionDenied if others own it or may write into it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let folder = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        require_owned(&folder, libc::S_IFDIR)?;
        Ok(OwnedFolder(folder))
    }

    /// Makes a folder, which must not exist.
    ///
    /// Errors: as of [`OwnedFolder::open`]; AlreadyExists.
    pub fn create(path: &Path) -> io::Result<Self> {
        DirBuilder::new().mode(FOLDER_MODE).create(path)?;
        // Another user may have exchanged it already.
        Self::open(path)
    }

    /// Opens or makes a folder.
    ///
    /// Errors: as of [`OwnedFolder::open`].
    pub fn open_or_create(path: &Path) -> io::Result<Self> {
        match Self::create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            made => made,
        }
    }

    /// Opens the file `name` in this folder with `flags` of open(2). O_CREAT always comes with O_EXCL.
    ///
    /// Errors: PermissionDenied if it is no plain file, or others own it or may write into it.
    pub fn open_file(&self, name: impl AsRef<Path>, flags: libc::c_int) -> io::Result<File> {
        let name = CString::new(name.as_ref().as_os_str().as_bytes())?;
        let exclusive = if flags & libc::O_CREAT == 0 { 0 } else { libc::O_EXCL };
        // Opening a pipe in its place must not wait for a writer.
        let flags = flags | exclusive | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: a plain system call on a name that lives here.
        let number = unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags, FILE_MODE) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, and ours alone.
        let file = unsafe { File::from_raw_fd(number) };
        require_owned(&file, libc::S_IFREG)?;
        Ok(file)
    }
}

/// Opens the file at `path`, in a folder of this user's, with `flags` of open(2).
///
/// Errors: as of [`OwnedFolder::open_file`].
pub fn open_owned(path: &Path, flags: libc::c_int) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    OwnedFolder::open(folder)?.open_file(name, flags)
}

/// Returns an error unless `file` is of this type, belongs to this user, and no other user may write into it.
fn require_owned(file: &File, file_type: libc::mode_t) -> io::Result<()> {
    let facts = file.metadata()?;
    // SAFETY: has no preconditions.
    let is_owner = facts.uid() == unsafe { libc::geteuid() };
    let why_not = if facts.mode() & libc::S_IFMT != file_type {
        "it is not a plain file or folder"
    } else if !is_owner {
        "it belongs to another user"
    } else if facts.mode() & OTHERS_WRITE != 0 && has_modes(file) {
        "other users may write into it"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why_not))
}

/// Returns whether the file system of `file` has permissions of its own. FAT and shares of other systems show the same ones for all files, as
/// their mount says.
fn has_modes(file: &File) -> bool {
    /// Magic numbers (statfs(2)): FAT, exFAT, CIFS, SMB2, 9p.
    const WITHOUT: [i64; 5] = [0x4d44, 0x2011_bab0, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997];
    !file_system_of(file).is_some_and(|kind| WITHOUT.contains(&kind))
}

/// Returns the magic number of a file's file system (statfs(2)).
pub fn file_system_of(file: &File) -> Option<i64> {
    let mut facts = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the structure is filled where the call succeeds.
    unsafe { (libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) == 0).then(|| facts.assume_init().f_type) }
}
