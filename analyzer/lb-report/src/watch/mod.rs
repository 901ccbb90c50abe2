//! `lb-report --watch`: a live view of a job that is being recorded.
//!
//! Every two seconds the new parts of the logs and the rings are read ([`lbprof_collector::live_run`]). The job does not notice: only its files are
//! read.
//!
//! | module | purpose |
//! |---|---|
//! | `time_slices` | amounts by half second |
//! | `rank_activity` | activity of a rank so far |
//! | `job_load` | efficiencies and load of ranks |
//! | `recurrence` | repeated actions and their rates |
//! | `code_names` | names of functions and call sites |
//! | `view` | the view as facts and as one line |
//! | `screen` | the view on a terminal |

mod code_names;
mod job_load;
pub(super) mod live;
mod rank_activity;
mod recurrence;
mod screen;
mod time_slices;
mod view;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use lbprof_analysis::read::open::{RecordedRun, RunError};
use lbprof_collector::folder::contains_logs;
use lbprof_collector::live_process::{host_name, is_recording};
use lbprof_collector::live_run::LiveRun;
use lbprof_report::text;

use self::code_names::CodeNames;
use self::job_load::{JobLoad, recent_slices};
use self::rank_activity::RankActivity;
use self::recurrence::find_recurrence;
use self::screen::TerminalScreen;
use self::time_slices::SLICE_NS;
use self::view::{BusiestRank, JobState, JobView, LongCall};
use crate::code_reader;
use crate::exit::{ReportExit, print_note};
use crate::output::{CommonOptions, print_text};
use crate::watch::live::monotonic_ns;

/// Time per update for reading logs. Backlogs take several updates.
const READING_TIME: Duration = Duration::from_millis(1500);

/// Pause while waiting for a run to start.
const PAUSE: Duration = Duration::from_millis(250);

const MOST_LONG_CALLS: usize = 3;

/// Shows a job until it ends or the user leaves.
pub fn watch_job(dir: Option<&Path>, every: Duration, common: &CommonOptions) -> anyhow::Result<ReportExit> {
    let dir = wait_for_run(dir, common)?;
    let mut watch = JobWatch::open(&dir)?;
    let mut screen = None;
    if io::stdout().is_terminal() {
        screen = Some(TerminalScreen::new().context("the terminal")?);
    }
    loop {
        let view = watch.look()?;
        let is_over = view.state == JobState::Ended && view.unread_bytes == 0;
        match &mut screen {
            Some(screen) if !is_over => {
                screen.show(&view).context("the terminal")?;
                if screen.wait(every).context("the terminal")? {
                    return Ok(ReportExit::Good);
                }
            }
            Some(_) => {}
            None => {
                print_text(&format!("{}\n", view.line()), common.color)?;
                if !is_over {
                    thread::sleep(every);
                }
            }
        }
        if is_over {
            // The terminal has its old contents again.
            let was_on_screen = screen.take().is_some();
            let line = if was_on_screen { format!("{}\n", view.line()) } else { String::new() };
            let folder = text::escape_message(&dir.display().to_string());
            print_text(&format!("{line}the run has ended; read it with: lb-report {folder}\n"), common.color)?;
            io::stdout().flush()?;
            return Ok(ReportExit::Good);
        }
    }
}

/// Returns the folder of the run once it has logs, because users start the view before their batch job starts.
fn wait_for_run(dir: Option<&Path>, common: &CommonOptions) -> anyhow::Result<PathBuf> {
    let mut is_announced = common.quiet;
    loop {
        let found = match dir {
            Some(dir) => Ok(dir.to_path_buf()),
            None => RecordedRun::newest(),
        };
        match found {
            Ok(found) if contains_logs(&found) || found.is_file() => return Ok(found),
            Ok(_) | Err(RunError::NothingHere(_)) => {}
            Err(error) => return Err(error.into()),
        }
        if !is_announced {
            let place =
                dir.map_or_else(|| "this folder".to_owned(), |dir| text::escape_message(&dir.display().to_string()));
            print_note(format!("no run in {place} yet; waiting for it to start"));
            is_announced = true;
        }
        thread::sleep(PAUSE);
    }
}

struct JobWatch {
    dir: PathBuf,
    host: String,
    run: LiveRun,
    ranks: BTreeMap<u32, RankActivity>,
    names: CodeNames,
}

impl JobWatch {
    fn open(dir: &Path) -> anyhow::Result<JobWatch> {
        let run = LiveRun::open(dir).with_context(|| dir.display().to_string())?;
        let dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_path_buf());
        let host = host_name().unwrap_or_default();
        Ok(JobWatch { dir, host, run, ranks: BTreeMap::new(), names: CodeNames::new(code_reader::code_readers()) })
    }

    /// Reads new data.
    fn look(&mut self) -> anyhow::Result<JobView> {
        self.run.look_again().with_context(|| self.dir.display().to_string())?;
        let begun = Instant::now();
        let mut unread_bytes = 0;
        let mut ranks = Vec::new();
        for (log, ring) in self.run.logs() {
            let rank = log.header().rank;
            // Repeated actions are only counted on the first rank.
            let counts = self.ranks.is_empty() || self.ranks.keys().next() == Some(&rank);
            let activity = self.ranks.entry(rank).or_insert_with(|| RankActivity::new(log.header(), counts));
            let left = log.read_new(|item| {
                activity.add_item(item);
                begun.elapsed() < READING_TIME
            });
            unread_bytes += left.with_context(|| format!("the log of rank {rank}"))?;
            let ring = ring.and_then(|ring| log.beyond(&ring));
            let header = &activity.header;
            let is_here = header.host == self.host;
            let is_alive = !is_here || is_recording(header.pid, &self.dir);
            let now_ns = (is_here && is_alive).then(|| activity.on_run_clock(monotonic_ns()));
            let mut activity = activity.with_ring(ring.as_ref(), now_ns);
            if !is_alive {
                activity.end_ns.get_or_insert(activity.seen_ns);
            }
            ranks.push(activity);
        }
        Ok(self.view(&ranks, unread_bytes))
    }

    fn view(&mut self, ranks: &[RankActivity], unread_bytes: u64) -> JobView {
        let (n_ranks, n_recorded) = (self.run.n_ranks(), self.run.n_recorded());
        let load = JobLoad::new(ranks.iter());
        let state = if !ranks.is_empty() && ranks.iter().all(|rank| rank.end_ns.is_some()) {
            JobState::Ended
        } else if ranks.iter().filter(|rank| rank.begin_ns.is_some()).count() < n_recorded.max(1) {
            JobState::Starts
        } else {
            JobState::Runs
        };
        let slowest = load.slowest().map(|(rank, times_mean)| {
            let activity = ranks.iter().find(|activity| activity.header.rank == rank);
            let function = activity.and_then(|activity| {
                let (first, _) = recent_slices(activity);
                self.names.heaviest_function(activity, first * SLICE_NS)
            });
            BusiestRank { rank, times_mean, function }
        });
        let recurrence = ranks.iter().find_map(|rank| Some((rank, find_recurrence(rank)?)));
        let recurrence = recurrence.map(|(rank, found)| (self.names.recurring(rank, found.what), found.per_second));
        let calls = ranks.iter().filter(|rank| rank.end_ns.is_none()).filter_map(|rank| {
            let call = rank.open_call?;
            let for_s = (rank.seen_ns - call.begin_ns) as f64 / 1e9;
            Some(LongCall { rank: rank.header.rank, operation: call.operation, for_s })
        });
        let mut long_calls: Vec<LongCall> = calls.filter(LongCall::is_long).collect();
        long_calls.sort_by(|a, b| b.for_s.total_cmp(&a.for_s).then(a.rank.cmp(&b.rank)));
        long_calls.truncate(MOST_LONG_CALLS);
        let command = ranks.first().map_or(String::new(), |rank| text::escape_message(&rank.header.command.join(" ")));
        JobView { command, n_ranks, state, load, slowest, recurrence, long_calls, unread_bytes }
    }
}
