//! The processes by which lb-report has programs and shared objects read ([`lbprof_analysis::structure::code_readers`]): they are lb-report itself, with an
//! argument that nobody gives by hand.

use std::io::{stdin, stdout};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use lbprof_analysis::structure::code_readers::{CodeReaders, serve};
use rlimit::Resource;
use rustix::time::{ClockId, clock_gettime};

use crate::machine_memory::available_bytes;

/// The argument.
const ARGUMENT: &str = "--code-reader";

/// Memory that a process takes at most, and the part of the machine's that it takes at most. A program with 2 GB of debug information takes a tenth of that.
const MAX_MEMORY: u64 = 2 << 30;
const PART_OF_MACHINE: u64 = 4;

/// True if this process is lb-report, and can be started once more as a reader.
static IS_READER: AtomicBool = AtomicBool::new(false);

/// Serves as a reader if this process was started as one. Otherwise, [`code_readers`] starts such processes from now on.
pub fn serve_if_asked() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != ARGUMENT) {
        IS_READER.store(true, Relaxed);
        return None;
    }
    // Where a limit cannot be set, the system has a lower one.
    let memory = available_bytes().map_or(MAX_MEMORY, |bytes| MAX_MEMORY.min(bytes / PART_OF_MACHINE));
    let _ = Resource::DATA.set(memory, memory);
    let _ = Resource::CORE.set(0, 0);
    serve(stdin(), stdout(), allow);
    Some(ExitCode::SUCCESS)
}

/// The readers of programs and shared objects.
pub fn code_readers() -> CodeReaders {
    if IS_READER.load(Relaxed) { CodeReaders::apart(command) } else { CodeReaders::default() }
}

/// Returns the command that starts a reader: the file that runs here, even if another one has its name by now.
fn command() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(ARGUMENT);
    command
}

/// Has the system end this process after so much more processor time and a second or two, for it counts in seconds; a reader looks more often itself.
fn allow(limit: Duration) {
    let taken = clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or(Duration::ZERO);
    let end = taken.saturating_add(limit).as_secs().saturating_add(2);
    if let Ok((_, hard)) = Resource::CPU.get() {
        let _ = Resource::CPU.set(end.min(hard), hard);
    }
}
