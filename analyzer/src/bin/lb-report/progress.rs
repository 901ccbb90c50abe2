//! How far the reading of a run is.

use std::io::{self, IsTerminal};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lbprof_analyzer::analyse::Step;
use lbprof_analyzer::open::Run;
use lbprof_analyzer::pass::Progress;

/// Progress on standard error; shown only on a terminal, and only where the work is long: a bar that flashes by is noise.
pub struct Bar {
    bar: ProgressBar,
    records: AtomicU64,
    /// Done once, when the bar is first shown.
    shown: Once,
    wanted: bool,
}

impl Bar {
    /// A bar for the reading of `run`.
    pub fn new(run: &Run, quiet: bool) -> Bar {
        // Each rank's log is read three times.
        let bar = ProgressBar::with_draw_target(Some(3 * run.headers.len() as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %, {msg}, {elapsed}") {
            bar.set_style(style);
        }
        let wanted = !quiet && io::stderr().is_terminal();
        Bar { bar, records: AtomicU64::new(0), shown: Once::new(), wanted }
    }

    /// Takes note of a step.
    pub fn tell(&self, step: Step) {
        match step {
            Step::Surveying(progress) => self.read("surveying", progress),
            Step::Naming => self.say(|| "looking up the names of functions".to_owned()),
            Step::Gathering(progress) => self.read("adding up", progress),
            Step::Following(progress) => self.read("following", progress),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn read(&self, what: &str, progress: Progress) {
        match progress {
            Progress::Records(n) => {
                let records = self.records.fetch_add(n, Ordering::Relaxed) + n;
                self.say(|| format!("{what}, {} events read", HumanCount(records)));
            }
            Progress::Rank => self.bar.inc(1),
        }
    }

    fn say(&self, message: impl FnOnce() -> String) {
        const SHOWN_AFTER: Duration = Duration::from_millis(400);
        if self.wanted && self.bar.elapsed() > SHOWN_AFTER {
            self.bar.set_message(message());
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        }
    }
}
