//! `lb-run --report`: on the first rank lb-run stays as the program's parent, and prints the report's first screen when the program has ended.
//!
//! ```text
//!   launcher ── lb-run (first rank) ── program          signals to lb-run are passed on; lb-run ends as the program did
//!            └─ program (other ranks)                   as without --report
//! ```
//!
//! A launcher that ends the job, as mpirun does when a rank's exit code is not 0, soon ends lb-run by force: so lb-run waits for the other ranks no longer
//! than their processes exist, and the report has a process group of its own.
//!
//! Only with this option does lb-run fork. The recorder writes the run's folder into a file of lb-run's, since it alone knows it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lbprof_collector::folder::RunFolder;

use lbprof_collector::live_process::{host_name, is_recording};
use lbprof_collector::words::SystemError;

use crate::library;
use crate::messages::print_message;

/// Time to wait for the logs of other ranks.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time to wait for the logs of ranks whose processes cannot be found: they were killed, or cannot be seen from here.
const PATIENCE_FOR_LOST: Duration = Duration::from_millis(300);

/// Pause between two looks for them.
const PAUSE: Duration = Duration::from_millis(20);

/// Signals that are passed on to the program: all but those that cannot be held back, or that a fault of lb-run raises.
const PASSED_ON: [libc::c_int; 11] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGCONT,
    libc::SIGXCPU,
    libc::SIGIO,
    libc::SIGWINCH,
];

pub struct ProgramParent {
    child: libc::pid_t,
    /// The file into which the recorder writes the run's folder.
    folder_file: PathBuf,
    /// The signals that are held back, and those held back before.
    held_back: libc::sigset_t,
    before: libc::sigset_t,
}

/// Starts the process that becomes the program. Returns its parent, which has the file into which the recorder writes the run's folder, or `None` in that
/// process.
///
/// Errors: there is no other process then.
pub fn fork_program(folder_file: PathBuf) -> io::Result<Option<ProgramParent>> {
    // SAFETY: live sets; this process has one thread, so the child may do whatever its parent may.
    unsafe {
        let mut held_back = MaybeUninit::uninit();
        libc::sigemptyset(held_back.as_mut_ptr());
        for signal in PASSED_ON.into_iter().chain([libc::SIGCHLD]) {
            libc::sigaddset(held_back.as_mut_ptr(), signal);
        }
        let held_back = held_back.assume_init();
        let mut before = MaybeUninit::uninit();
        libc::sigprocmask(libc::SIG_BLOCK, &held_back, before.as_mut_ptr());
        let before = before.assume_init();
        match libc::fork() {
            -1 => {
                let error = io::Error::last_os_error();
                libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
                Err(error)
            }
            0 => {
                // A launcher that ends lb-run by SIGKILL means the program.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
                Ok(None)
            }
            child => Ok(Some(ProgramParent { child, folder_file, held_back, before })),
        }
    }
}

pub fn make_folder_file() -> io::Result<PathBuf> {
    let pattern = std::env::temp_dir().join("lbprof-report-XXXXXX");
    let mut pattern = pattern.into_os_string().into_vec();
    pattern.push(0);
    // SAFETY: a live string that ends with 0 and may be written; the descriptor is closed at once.
    let found = unsafe {
        let descriptor = libc::mkostemp(pattern.as_mut_ptr().cast(), libc::O_CLOEXEC);
        if descriptor >= 0 { libc::close(descriptor) } else { -1 }
    };
    pattern.pop();
    if found == 0 { Ok(PathBuf::from(OsString::from_vec(pattern))) } else { Err(io::Error::last_os_error()) }
}

impl ProgramParent {
    /// Waits for the program, prints the report and ends as the program did.
    pub fn report_and_end(self) -> ! {
        let status = self.wait();
        let folder = fs::read(&self.folder_file).unwrap_or_default();
        let _ = fs::remove_file(&self.folder_file);
        if !folder.is_empty() {
            let folder = PathBuf::from(OsString::from_vec(folder));
            wait_for_ranks(&folder);
            print_report(&folder);
        }
        self.end_as(status)
    }

    /// Passes signals on until the program has ended; returns its status.
    fn wait(&self) -> libc::c_int {
        // SAFETY: live structures; the child is this process's own, and is waited for here alone.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            loop {
                let mut status = 0;
                if libc::waitpid(self.child, &mut status, libc::WNOHANG) == self.child {
                    return status;
                }
                let mut info: MaybeUninit<libc::siginfo_t> = MaybeUninit::zeroed();
                let signal = libc::sigwaitinfo(&self.held_back, info.as_mut_ptr());
                // One that the terminal raised has reached the program, too.
                let is_sent = info.assume_init().si_code <= 0;
                if signal > 0 && signal != libc::SIGCHLD && is_sent {
                    libc::kill(self.child, signal);
                }
            }
        }
    }

    fn end_as(&self, status: libc::c_int) -> ! {
        if libc::WIFSIGNALED(status) {
            let signal = libc::WTERMSIG(status);
            // SAFETY: plain calls with live arguments. The program has left its core file; lb-run's would replace it.
            unsafe {
                let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                libc::setrlimit(libc::RLIMIT_CORE, &no_core);
                libc::signal(signal, libc::SIG_DFL);
                let mut this = self.before;
                libc::sigdelset(&mut this, signal);
                libc::sigprocmask(libc::SIG_SETMASK, &this, std::ptr::null_mut());
                libc::raise(signal);
            }
        }
        let is_exit = libc::WIFEXITED(status);
        std::process::exit(if is_exit { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) })
    }
}

/// Waits until no rank of the run has a ring any more, so that its log is whole, for a limited time.
fn wait_for_ranks(folder: &Path) {
    let begin = Instant::now();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let host = host_name().unwrap_or_default();
    while patience_for_ranks(&folder, &host).is_some_and(|patience| begin.elapsed() < patience) {
        thread::sleep(PAUSE);
    }
}

/// Returns how long to wait for the ranks of a run whose first one has ended, or `None` if every log is whole, or nothing can be read.
fn patience_for_ranks(path: &Path, host: &str) -> Option<Duration> {
    let folder = RunFolder::list(path).ok()?;
    let log = folder.open(folder.ranks().next()?).ok()?;
    let header = log.header();
    let expected = match header.recorded_ranks.len() {
        0 => u64::from(header.n_ranks),
        some => some,
    };
    if (folder.ranks().count() as u64) < expected {
        return Some(PATIENCE);
    }
    let unended: Vec<u32> = folder.ranks().filter(|&rank| folder.has_rings(rank)).collect();
    // The process of a lost rank was on this host and is there no more.
    let is_any_alive = unended.iter().any(|&rank| match folder.open(rank) {
        Ok(log) => log.header().host != host || is_recording(log.header().pid, path),
        Err(_) => true,
    });
    (!unended.is_empty()).then_some(if is_any_alive { PATIENCE } else { PATIENCE_FOR_LOST })
}

/// Prints the first screen on standard error, for standard output is the program's.
fn print_report(folder: &Path) {
    // If standard error is closed there is no reader.
    let Ok(output) = std::io::stderr().as_fd().try_clone_to_owned() else { return };
    let report = library::beside_lb_run("lb-report").unwrap_or_else(|| "lb-report".into());
    let mut command = Command::new(&report);
    command.arg(folder).stdin(Stdio::null()).stdout(output).process_group(0);
    if let Err(error) = command.status() {
        print_message(format_args!(
            "{}: {}; the run is in {}",
            report.display(),
            SystemError(&error),
            folder.display()
        ));
    }
}
