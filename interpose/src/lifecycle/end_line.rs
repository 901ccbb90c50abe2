//! Writes a line on stderr when the first rank ends: what was recorded, where it is, and how to read it; or that nothing was.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use lbprof_collector::words::{CountedNoun, format_bytes, format_seconds};

use crate::harmless::guard;
use crate::lifecycle::process_state::{LEFT_INIT, SETTINGS};
use crate::log::OpenLog;
use crate::machine::system::files::descriptors;
use crate::machine::system::sandbox;
use crate::recording::flush::DROPPED;
use crate::run::launcher;

/// Says on the first rank what was recorded until `end`, in ticks, unless LBPROF_VERBOSE is 0. Says nothing if that could harm: a system call filter may
/// forbid it, a pipe without a reader may be full, and under a launcher of another MPI each process is a first rank.
pub fn report_end(log: Option<&OpenLog>, end: u64) {
    let Some(log) = log.filter(|log| log.rank == 0) else { return };
    let settings = SETTINGS.lock_at_end();
    let Some(settings) = settings.as_deref().and_then(Option::as_ref).filter(|settings| settings.verbose) else {
        return;
    };
    let is_one_of_many = log.n_ranks == 1 && launcher::is_foreign();
    if is_one_of_many || sandbox::is_filtered() || !descriptors::can_take_line(2) {
        return;
    }
    let name = log.dir.file_name().map(Path::new).filter(|_| !settings.dir_given);
    let dir = name.unwrap_or(&log.dir).display();
    // The first thread has no ring, and the reason was said then.
    if guard::mirrored_head().is_none() {
        let of_rank = if log.n_ranks > 1 { " of rank 0" } else { "" };
        guard::write_line(&format!("lbprof: nothing{of_rank} was recorded in {dir}\n"));
        return;
    }
    let dropped = match DROPPED.load(Relaxed) {
        0 => String::new(),
        n => format!(" {} dropped,", CountedNoun(n, "record")),
    };
    // Without a folder lb-report takes the newest run here.
    let folder = if settings.dir_given { format!(" {dir}") } else { String::new() };
    guard::write_line(&format!(
        "lbprof: {}, {},{dropped} {} of rank 0 in {dir}; read it with: lb-report{folder}\n",
        CountedNoun(u64::from(log.n_ranks), "rank"),
        format_seconds(log.seconds_between(LEFT_INIT.load(Relaxed), end)),
        format_bytes(log.bytes()),
    ));
}
