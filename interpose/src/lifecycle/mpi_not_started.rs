//! Reports a program that ends without having started MPI by one line on stderr, because it has no folder.
//!
//! Only the process that `lb-run` became prints the line, on the first rank, and at its exit. It may be a script whose programs were recorded: then the
//! run's folder is new. The texts are made when the library is loaded. At exit, which may be in a signal handler, nothing is allocated.

use std::ffi::{CStr, c_int, c_void};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::harmless::guard;
use crate::lifecycle::exit_status;
use crate::lifecycle::process_state::BEFORE;
use crate::machine::system::clock::clock_ns;
use crate::machine::system::process;
use crate::mpi::symbols;
use crate::run::settings::RecorderSettings;
use crate::run::{job, launcher};
use crate::state::stage::{RecordingState, recording_state};

/// Longest command that the line repeats whole, in characters.
const MAX_COMMAND_CHARS: usize = 80;

/// Folders of one name that are looked at.
const MAX_FOLDERS: u32 = 100_000;

/// The line that is due if this process ends without MPI.
struct UnstartedProgram {
    pid: u32,
    /// The line if it started no other process.
    line: EndLine,
    /// The line if it started some of which none was recorded, or `None` if that could not be seen.
    line_with_children: Option<EndLine>,
    /// Possible folders of their run: relative to the folder that the process was started in, and to the one in which it ends.
    folders: [PathBuf; 2],
    /// Seconds since 1970 when the library was loaded.
    loaded_unix_s: i64,
}

struct EndLine {
    /// For one that loaded MPI, or ended with an error: MPI is not what it lacks.
    plain: String,
    /// For all others: a question about the program follows.
    asking: String,
}

impl EndLine {
    fn new(what: &str, question: &str) -> Self {
        EndLine { plain: format!("lbprof: {what}\n"), asking: format!("lbprof: {what}. {question}\n") }
    }

    fn write(&self, status: Option<c_int>) {
        let asks = status == Some(0) && !symbols::is_mpi_loaded();
        guard::write_line(if asks { &self.asking } else { &self.plain });
    }
}

static UNSTARTED: OnceLock<UnstartedProgram> = OnceLock::new();

/// True if the status of the process will be known when it exits.
static KNOWS_STATUS: AtomicBool = AtomicBool::new(false);

/// True once the process exits without having started MPI.
static EXITS: AtomicBool = AtomicBool::new(false);

/// Prepares the line if this is the first rank's process that `lb-run` became. Called before the program runs.
pub fn prepare_end_line() {
    let pid = std::process::id();
    let is_meant = std::env::var(job::PROCESS_VARIABLE).is_ok_and(|number| number.parse() == Ok(pid))
        && launcher::launcher_rank().is_none_or(|rank| rank == 0);
    let settings = RecorderSettings::from_env();
    if !is_meant || settings.mode.is_none() {
        return;
    }
    let command = shorten_command(process::command_line().join(" "));
    let folder = settings.folder();
    // The folders of programs that a script starts are not known if they have the programs' names.
    let is_known = !settings.dir.to_string_lossy().contains("%x");
    let absolute = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
    let line = EndLine::new(
        &format!("{command}: ended without MPI_Init: nothing is recorded"),
        "Is it an MPI program? ldd shows whether it uses a shared MPI library",
    );
    let what = format!(
        "{command}: ended without MPI_Init, and no program that it started was recorded in {}",
        absolute.display()
    );
    let line_with_children =
        is_known.then(|| EndLine::new(&what, "Are they MPI programs? Scripts must keep LD_PRELOAD"));
    let folders = [absolute, folder];
    let loaded_unix_s = (clock_ns(libc::CLOCK_REALTIME) / 1_000_000_000) as i64;
    let program = UnstartedProgram { pid, line, line_with_children, folders, loaded_unix_s };
    UNSTARTED.set(program).ok();
    KNOWS_STATUS.store(exit_status::call_at_exit(at_last), Relaxed);
}

fn shorten_command(command: String) -> String {
    let command: String = command.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match command.char_indices().nth(MAX_COMMAND_CHARS) {
        Some((end, _)) => format!("{}…", &command[..end]),
        None => command,
    }
}

/// Returns whether the process has not started MPI, as far as is known.
pub fn is_unstarted() -> bool {
    recording_state() == RecordingState::Idle && BEFORE.iter().all(|known| known.load(Relaxed) == 0)
}

/// Returns the line of this process, unless it has started MPI.
fn due_end_line() -> Option<&'static UnstartedProgram> {
    UNSTARTED.get().filter(|program| program.pid == std::process::id() && is_unstarted())
}

/// Reports an exit without MPI once the status is known.
pub fn note_exit() {
    match KNOWS_STATUS.load(Relaxed) {
        true => EXITS.store(true, Relaxed),
        false => report_unstarted(None),
    }
}

/// The last function that runs at exit: it was registered before the program's functions and the dynamic loader's.
extern "C" fn at_last(status: c_int, _: *mut c_void) {
    if EXITS.load(Relaxed) {
        report_unstarted(Some(status));
    }
}

/// Says that the process, which ends with `status`, if known, has not started MPI. Allocates nothing.
fn report_unstarted(status: Option<c_int>) {
    let Some(program) = due_end_line() else { return };
    if !has_children() {
        program.line.write(status);
    } else if let Some(line) = &program.line_with_children
        && !program.folders.iter().any(|folder| is_recorded_in(folder, program.loaded_unix_s))
    {
        line.write(status);
    }
}

/// Returns whether the process has started others and waited for their end.
fn has_children() -> bool {
    // SAFETY: a plain structure, which the call fills.
    let children = unsafe {
        let mut children: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut children);
        children
    };
    children.ru_maxrss > 0 || children.ru_minflt > 0
}

/// Returns whether a folder of this name, or of one that is tried after it, was written since.
fn is_recorded_in(folder: &Path, since_unix_s: i64) -> bool {
    let mut memory = [0; libc::PATH_MAX as usize];
    for number in 1..MAX_FOLDERS {
        match numbered_folder(&mut memory, folder, number).and_then(modified_unix_s) {
            None => return false,
            Some(modified_unix_s) if modified_unix_s >= since_unix_s => return true,
            Some(_) => {}
        }
    }
    false
}

fn numbered_folder<'a>(memory: &'a mut [u8], folder: &Path, number: u32) -> Option<&'a CStr> {
    let mut rest = &mut memory[..];
    rest.write_all(folder.as_os_str().as_bytes()).ok()?;
    match number {
        1 => rest.write_all(b"\0").ok()?,
        _ => write!(rest, "-{number}\0").ok()?,
    }
    CStr::from_bytes_until_nul(memory).ok()
}

/// Returns the time at which the file at `path` was last written, or `None` if there is none.
fn modified_unix_s(path: &CStr) -> Option<i64> {
    // SAFETY: the path ends with zero; the structure is filled where the call succeeds.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::stat(path.as_ptr(), &mut stat) == 0).then_some(stat.st_mtime)
    }
}
