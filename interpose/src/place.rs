//! The folder of a run: the ranks agree on it, or each finds it alone.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::clock::ticks;
use crate::forward::{call, call_at, call2, symbol};
use crate::settings::Settings;
use crate::thread::Word;
use crate::{abi, guard, launcher, process};

/// Where a run's logs go, and the number that marks them as one run's.
pub struct Place {
    /// The folder, absolute.
    pub dir: PathBuf,
    /// The run's number.
    pub run_id: u64,
}

/// Waits until all ranks are here, and tells if that takes long: a rank without this library never comes. Collective, over
/// MPI_COMM_WORLD.
///
/// # Safety
/// MPI is initialised.
pub unsafe fn await_all(size: i32) {
    /// Ranks mostly arrive together: for so long the processor is only left to others who want it.
    const BUSY: Duration = Duration::from_millis(2);
    const NAP: Duration = Duration::from_micros(200);
    const LONG: Duration = Duration::from_secs(10);
    let test = symbol(c"PMPI_Test");
    let (mut request, mut arrived): (Word, i32) = (0, 0);
    // SAFETY: all ranks take part; the request and the flag live until it is complete.
    unsafe {
        // Where MPI is older than this function, the ranks wait in the agreement itself.
        if size == 1 || call2(c"PMPI_Ibarrier", abi::comm_world(), &raw mut request as Word) != 0 {
            return;
        }
        let begin = Instant::now();
        let mut told = None;
        loop {
            let arguments =
                [&raw mut request as Word, &raw mut arrived as Word, abi::abi().status_ignore, 0, 0, 0, 0, 0];
            if call_at(test, arguments) != 0 || arrived != 0 {
                return;
            }
            let waited = begin.elapsed();
            if waited < BUSY {
                libc::sched_yield();
            } else {
                std::thread::sleep(NAP);
            }
            if waited > LONG && told.is_none() {
                told = Some(guard::caught(|| tell_waiting(size)));
            }
        }
    }
}

/// Says that this rank waits, unless another one of the job and host says so. What is returned is to be kept while it waits.
fn tell_waiting(size: i32) -> Option<UnixListener> {
    // A name without a file, which one process can have: it goes with the process.
    let first = SocketAddr::from_abstract_name(format!("lbprof-waiting-{:016x}", launcher::job(size)))
        .and_then(|name| UnixListener::bind_addr(&name));
    if first.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse) {
        return None;
    }
    guard::say(format_args!(
        "MPI_Init waits for ranks that are late or do not run under lb-run: all ranks of a job must (README, Limits)"
    ));
    first.ok()
}

/// Rank 0 makes the folder and tells the others, if any rank is to be recorded; `wanted`: this one is. Collective.
///
/// # Safety
/// MPI is initialised.
pub unsafe fn agree(settings: &Settings, rank: i32, size: i32, wanted: bool) -> Option<Place> {
    let world = abi::comm_world();
    let (own, mut all) = ([u8::from(wanted)], vec![0u8; if rank == 0 { size as usize } else { 0 }]);
    // SAFETY: all ranks take part, with a byte each.
    let code = unsafe {
        let (send, receive, byte) = (own.as_ptr() as Word, all.as_mut_ptr() as Word, abi::byte());
        call(c"PMPI_Gather", [send, 1, byte, receive, 1, byte, 0, world])
    };
    // A path's length, the run's id; then the path.
    let mut head = [0u64; 2];
    let mut path = Vec::new();
    if code == 0 && all.contains(&1) {
        match guard::caught(|| Some(new_folder(settings, size))) {
            Some(Ok(dir)) => {
                path = dir.into_os_string().into_vec();
                head = [path.len() as u64, new_run_id()];
            }
            Some(Err(error)) => guard::say(format_args!(
                "cannot make the folder {}: {error}; nothing is recorded. Point LBPROF_DIR to a place that can be written",
                settings.folder().display()
            )),
            None => {}
        }
    }
    // SAFETY: all ranks take part, with the same counts.
    unsafe {
        let broadcast =
            |address: Word, bytes: usize| call(c"PMPI_Bcast", [address, bytes, abi::byte(), 0, world, 0, 0, 0]);
        if broadcast(head.as_mut_ptr() as Word, size_of_val(&head)) != 0 || head == [0, 0] {
            return None;
        }
        let [length, run_id] = head;
        path.resize(length as usize, 0);
        if broadcast(path.as_mut_ptr() as Word, path.len()) != 0 {
            return None;
        }
        Some(Place { dir: PathBuf::from(OsString::from_vec(path)), run_id })
    }
}

/// Makes the folder, or the next free one of its name: a run never mixes with an older one. The path is absolute, for the
/// program may change its working directory. Another name than the user gave is told.
fn new_folder(settings: &Settings, size: i32) -> io::Result<PathBuf> {
    let wanted = std::path::absolute(settings.folder())?;
    let made = first_free(&wanted)?;
    // Under a launcher of another MPI each process is a rank 0 with a folder of its own, and that much is told already.
    if made != wanted && settings.dir_given && !(size == 1 && launcher::is_foreign()) {
        guard::say(format_args!("the logs go to {}, for {} exists", made.display(), wanted.display()));
    }
    Ok(made)
}

fn first_free(wanted: &Path) -> io::Result<PathBuf> {
    if let Some(parent) = wanted.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut name = wanted.to_owned();
    for number in 2..100_000 {
        match std::fs::create_dir(&name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut numbered = wanted.to_owned().into_os_string();
                numbered.push(format!("-{number}"));
                name = numbered.into();
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "100,000 runs lie there"))
}

fn new_run_id() -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(2).build_hasher();
    hasher.write(process::host().as_bytes());
    hasher.write_u32(std::process::id());
    hasher.write_u64(ticks());
    hasher.write_u128(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos()));
    hasher.finish().max(1)
}

/// A place that all ranks of the job find without a word: named after the job's own id. `why` they must is told.
pub fn alone(settings: &Settings, rank: i32, size: i32, why: &str) -> Option<Place> {
    let run_id = launcher::job(size);
    let wanted = std::path::absolute(settings.folder()).ok()?;
    let mut dir = wanted.into_os_string();
    dir.push(format!("-{:08x}", run_id as u32));
    let dir = PathBuf::from(dir);
    if rank == 0 && settings.dir_given && settings.mode.is_some() {
        guard::say(format_args!("the logs go to {}, for {why}", dir.display()));
    }
    Some(Place { dir, run_id })
}
