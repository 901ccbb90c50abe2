//! `lb-run --report`: on the first rank lb-run stays as the program's parent, and prints the report's first screen when the program has ended.
//!
//! ```text
//!   launcher ── lb-run (first rank) ── program          signals to lb-run are passed on; lb-run ends as the program did
//!            └─ program (other ranks)                   as without --report
//! ```
//!
//! A launcher that ends the job, as mpirun does when a rank's exit code is not 0, soon ends lb-run by force: then it waits for the other ranks no longer than
//! their processes exist, and the report has a process group of its own.
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
use lbprof_collector::format::LogHeader;
use lbprof_collector::live_process::{host_name, is_recording};
use lbprof_collector::words::SystemError;

use crate::library;
use crate::messages::say;

/// Time to wait for the logs of other ranks.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time to wait for the logs of ranks whose processes cannot be found: they were killed, or cannot be seen from here.
const PATIENCE_FOR_LOST: Duration = Duration::from_millis(300);

/// Pause between two looks for them.
const PAUSE: Duration = Duration::from_millis(20);

/// Signals that are passed on to the program. Those that cannot be held back, and those that a fault of lb-run's raises, are not.
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

/// The role of this process after the fork.
pub enum ForkRole {
    /// The one that becomes the program.
    Program,
    /// Its parent.
    Parent(Box<ProgramParent>),
}

/// The parent of a program that runs.
pub struct ProgramParent {
    child: libc::pid_t,
    /// Into which the recorder writes the run's folder.
    folder_file: PathBuf,
    /// The signals that are held back, and those that were before.
    held_back: libc::sigset_t,
    before: libc::sigset_t,
}

/// Starts the process that becomes the program, with the file that the recorder writes the run's folder into.
///
/// Errors: what the system says; then there is no other process.
pub fn fork(folder_file: PathBuf) -> io::Result<ForkRole> {
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
                Ok(ForkRole::Program)
            }
            child => Ok(ForkRole::Parent(Box::new(ProgramParent { child, folder_file, held_back, before }))),
        }
    }
}

/// Makes an empty file for the run's folder.
///
/// Errors: what the system says.
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
        std::process::exit(if libc::WIFEXITED(status) {
            libc::WEXITSTATUS(status)
        } else {
            128 + libc::WTERMSIG(status)
        })
    }
}

/// Waits until no rank of the run has a ring any more, so that its log is whole, for a limited time.
fn wait_for_ranks(folder: &Path) {
    let begin = Instant::now();
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let host = host_name().unwrap_or_default();
    loop {
        let patience = match ranks_state(&folder, &host) {
            RanksState::Ended => return,
            RanksState::Lost => PATIENCE_FOR_LOST,
            RanksState::Recording => PATIENCE,
        };
        if begin.elapsed() >= patience {
            return;
        }
        thread::sleep(PAUSE);
    }
}

/// Progress of the ranks of a run whose first one has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RanksState {
    /// Every log is whole, or nothing can be read.
    Ended,
    /// Logs are not whole, and no process on this host writes them any more.
    Lost,
    /// Logs are being written, here or on other hosts.
    Recording,
}

fn ranks_state(path: &Path, host: &str) -> RanksState {
    let Ok(folder) = RunFolder::list(path) else { return RanksState::Ended };
    let Some(first) = folder.ranks().next() else { return RanksState::Ended };
    let Ok(log) = folder.open(first) else { return RanksState::Ended };
    let header = log.header();
    let expected = match header.recorded_ranks.len() {
        0 => u64::from(header.n_ranks),
        some => some,
    };
    if (folder.ranks().count() as u64) < expected {
        return RanksState::Recording;
    }
    let unended: Vec<u32> = folder.ranks().filter(|&rank| folder.has_rings(rank)).collect();
    match unended.as_slice() {
        [] => RanksState::Ended,
        some if some.iter().all(|&rank| folder.open(rank).is_ok_and(|log| is_lost(log.header(), host, path))) => {
            RanksState::Lost
        }
        _ => RanksState::Recording,
    }
}

/// Returns whether the process of a log's rank was on this host and is there no more.
fn is_lost(header: &LogHeader, host: &str, folder: &Path) -> bool {
    header.host == host && !is_recording(header.pid, folder)
}

/// Prints the first screen on standard error, for standard output is the program's.
fn print_report(folder: &Path) {
    // Nobody reads it where it is closed.
    let Ok(output) = std::io::stderr().as_fd().try_clone_to_owned() else { return };
    let report = library::beside_lb_run("lb-report").unwrap_or_else(|| "lb-report".into());
    let mut command = Command::new(&report);
    command.arg(folder).stdin(Stdio::null()).stdout(output).process_group(0);
    let ended = command.status();
    if let Err(error) = ended {
        say(format_args!("{}: {}; the run is in {}", report.display(), SystemError(&error), folder.display()));
    }
}
