//! The folder of a run: made by its only rank, or found by each through the job's key.

use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::quality::FixedState;
use lbprof_collector::format::log_name;
use lbprof_collector::starter::{RunStarter, STARTER_FILE};
use lbprof_collector::words::SystemError;

use crate::harmless::guard;
use crate::machine::system::clock::read_ticks;
use crate::machine::system::files::owned_files::{OwnedFolder, file_system_of, open_owned};
use crate::machine::system::process;
use crate::mpi::world;
use crate::run::launcher;
use crate::run::messages::RunDirectory;
use crate::run::settings::RecorderSettings;

/// Folders of one name that are looked at.
const MOST: u32 = 100_000;

/// The file in a run's folder about the job that made it: a number for its key, the run's number and the maker's clock, one a line.
const JOB_FILE: &str = ".job";

/// More than a job's file ever has.
const MAX_JOB_FILE_BYTES: u64 = 4096;

/// Returns the folder's name as given and the names that are tried after it.
fn folder_names(wanted: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered = (2..MOST).map(|number| {
        let mut name = wanted.as_os_str().to_owned();
        name.push(format!("-{number}"));
        PathBuf::from(name)
    });
    std::iter::once(wanted.to_owned()).chain(numbered)
}

fn all_taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "100,000 runs lie there")
}

/// Makes the parent of the wanted folder. Returns the folder's path, absolute because the program may change its working directory.
fn prepare_folder(settings: &RecorderSettings) -> io::Result<PathBuf> {
    let wanted = std::path::absolute(settings.folder())?;
    if let Some(parent) = wanted.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(wanted)
}

/// Notes in the new folder which process started the job's ranks, and whether it did so for MPI_Comm_spawn.
fn note_starter(dir: &Path) {
    let Some((process, started)) = launcher::rank_starter() else { return };
    let number = hash_parts(&[process::host_of_process().as_bytes(), &process.to_le_bytes(), &started.to_le_bytes()]);
    let starter = RunStarter { number, spawned: world::is_spawned() };
    // Without it the spawned run is merely reported as not recorded.
    let file = open_owned(&dir.join(STARTER_FILE), libc::O_WRONLY | libc::O_CREAT);
    let _ = file.and_then(|mut file| file.write_all(starter.to_string().as_bytes()));
}

/// Says that the folder has another name than the user gave.
fn say_name(settings: &RecorderSettings, made: &Path, wanted: &Path) {
    if made != wanted && settings.dir_given {
        guard::say_line(format_args!("the logs go to {}, for {} exists", made.display(), wanted.display()));
    }
}

/// Says why nothing is recorded.
pub fn say_failure(settings: &RecorderSettings, error: &io::Error) {
    guard::say_line(format_args!(
        "cannot make the folder {}: {}; nothing is recorded. Point LBPROF_DIR to a place that can be written",
        settings.folder().display(),
        SystemError(error)
    ));
}

/// Makes the folder, or the next free one of its name: a run never mixes with an older one. `size`: how many ranks there are.
pub fn make_new_folder(settings: &RecorderSettings, size: i32) -> io::Result<RunDirectory> {
    let wanted = prepare_folder(settings)?;
    for dir in folder_names(&wanted) {
        match OwnedFolder::create(&dir) {
            Ok(_) => {
                // Under a launcher of another MPI each process is a rank 0 with a folder of its own, and that is reported already.
                if size != 1 || !launcher::is_foreign() {
                    say_name(settings, &dir, &wanted);
                }
                note_starter(&dir);
                return Ok(RunDirectory { dir, run_id: new_run_id(), clock: None });
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(all_taken())
}

/// Finds the folder of the job `key`, or makes it. Any number of ranks and hosts may do so at the same time.
///
/// A folder with logs of some of `ranks`, which ask, belongs to an earlier program with the same key. `clock` is the clock of the rank that asks.
/// `one_host`: all of the job's ranks see the same file system, because they are on one host.
pub fn of_job(
    settings: &RecorderSettings,
    key: &str,
    ranks: &[u32],
    clock: i32,
    one_host: bool,
) -> io::Result<RunDirectory> {
    let wanted = prepare_folder(settings)?;
    let mut earlier = 0u32;
    for dir in folder_names(&wanted) {
        // The folders of hosts without a common file system have the same number, too.
        let run_id = if one_host { new_run_id() } else { hash_parts(&[key.as_bytes(), &earlier.to_le_bytes()]) };
        if !dir.exists() && make_for(&dir, &format!("{}\n{run_id:016x}\n{clock}\n", number_of(key)))? {
            say_name(settings, &dir, &wanted);
            note_starter(&dir);
            return Ok(RunDirectory { dir, run_id, clock: Some(clock) });
        }
        let Some((run_id, clock)) = read_job(&dir, key) else { continue };
        if ranks.iter().any(|&rank| dir.join(log_name(rank)).exists()) {
            earlier += 1;
            continue;
        }
        return Ok(RunDirectory { dir, run_id, clock: Some(clock) });
    }
    Err(all_taken())
}

/// Returns whether each host would make a folder of its own: its name holds the host's, or its file system is none that hosts share.
pub fn is_of_one_host(settings: &RecorderSettings) -> bool {
    /// Magic numbers of file systems on a disk or in memory of one host (statfs(2)): ext, XFS, Btrfs, tmpfs, ramfs, overlay, F2FS.
    const LOCAL: [i64; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x8584_58f6, 0x794c_7630, 0xf2f5_2010];
    if settings.dir.to_string_lossy().contains("%h") {
        return true;
    }
    let Ok(wanted) = std::path::absolute(settings.folder()) else { return false };
    let Some(there) = wanted.ancestors().find(|folder| folder.exists()) else { return false };
    let kind = fs::File::open(there).ok().and_then(|folder| file_system_of(&folder));
    kind.is_some_and(|kind| LOCAL.contains(&kind))
}

/// Returns the number and the maker's clock of the run in `dir`, or `None` if it is not of the job `key`.
fn read_job(dir: &Path, key: &str) -> Option<(u64, i32)> {
    let file = open_owned(&dir.join(JOB_FILE), libc::O_RDONLY).ok()?;
    let text = io::read_to_string(file.take(MAX_JOB_FILE_BYTES)).ok()?;
    let mut lines = text.lines();
    let is_ours = lines.next()? == number_of(key);
    let run_id = u64::from_str_radix(lines.next()?, 16).ok()?;
    let clock = lines.next()?.parse().ok()?;
    is_ours.then_some((run_id, clock))
}

/// Returns a number for a key, which may itself be a secret by which the job's processes know each other.
fn number_of(key: &str) -> String {
    format!("{:016x}{:016x}", hash_parts(&[key.as_bytes()]), hash_parts(&[key.as_bytes(), key.as_bytes()]))
}

/// Makes the folder with the job's file in it, both at once. Returns false if the name is taken.
fn make_for(dir: &Path, job: &str) -> io::Result<bool> {
    let mut draft = dir.as_os_str().to_owned();
    // Another user cannot guess a name with the time.
    draft.push(format!(".{}-{}-{:x}", process::host_of_process(), std::process::id(), read_ticks()));
    let draft = PathBuf::from(draft);
    let made = OwnedFolder::create(&draft)
        .and_then(|folder| folder.open_file(JOB_FILE, libc::O_WRONLY | libc::O_CREAT))
        .and_then(|mut file| file.write_all(job.as_bytes()))
        .and_then(|()| rename_new(&draft, dir));
    if !matches!(made, Ok(true)) {
        // If this fails, the draft does no harm.
        let _ = fs::remove_dir_all(&draft);
    }
    made
}

/// Renames a folder that is not empty. Returns false if the new name is taken.
fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    let [old, new] = [from, to].map(|path| std::ffi::CString::new(path.as_os_str().as_bytes()));
    let (old, new) = (old?, new?);
    // SAFETY: a plain system call with two paths that live here. By number, because older C libraries lack the function.
    let code = unsafe {
        let (here, flags) = (libc::AT_FDCWD, libc::RENAME_NOREPLACE);
        libc::syscall(libc::SYS_renameat2, here, old.as_ptr(), here, new.as_ptr(), flags)
    };
    if code == 0 {
        return Ok(true);
    }
    let mut error = io::Error::last_os_error();
    if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EPERM)) {
        // Network file systems do not have it. There, a folder replaces only an empty one, which was not there a moment ago.
        match fs::rename(from, to) {
            Ok(()) => return Ok(true),
            Err(other) => error = other,
        }
    }
    let taken = matches!(error.raw_os_error(), Some(libc::EEXIST | libc::ENOTEMPTY | libc::ENOTDIR));
    if taken { Ok(false) } else { Err(error) }
}

fn hash_parts(parts: &[&[u8]]) -> u64 {
    let mut hasher = FixedState::with_seed(2).build_hasher();
    for part in parts {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish().max(1)
}

/// Makes a number that no other run has.
fn new_run_id() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    hash_parts(&[
        process::host_of_process().as_bytes(),
        &std::process::id().to_le_bytes(),
        &read_ticks().to_le_bytes(),
        &now.to_le_bytes(),
    ])
}
