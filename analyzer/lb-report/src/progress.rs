//! Shows the progress of reading a run.

use std::io::{self, IsTerminal};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lbprof_analysis::analyse::AnalysisStage;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::read::pass::FoldProgress;

/// Progress on standard error; shown only on a terminal, and only where the work is long: a bar that flashes by is noise.
pub struct TerminalProgress {
    bar: ProgressBar,
    ranks: u64,
    /// Events that each of the three passes has gone through; how many there are is known after the first.
    read: [AtomicU64; PASSES],
    /// Ranks that each has finished.
    done: [AtomicU64; PASSES],
    /// Done once, when the bar is first shown.
    shown: Once,
    wanted: bool,
}

/// The progress of a pass.
struct PassProgress {
    read: u64,
    of: Option<u64>,
    share: f64,
}

impl PassProgress {
    fn message(&self, what: &str) -> String {
        match self.of {
            Some(all) => format!("{what}, {} of {} events", HumanCount(self.read), HumanCount(all)),
            None => format!("{what}, {} events", HumanCount(self.read)),
        }
    }
}

/// A share of all, 0 to 1.
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { (part as f64 / all as f64).min(1.0) }
}

/// Times that a run is read.
const PASSES: usize = 3;
/// Steps of the bar in each.
const STEPS: u64 = 1000;

impl TerminalProgress {
    /// Creates a bar for reading `run`.
    pub fn new(run: &RecordedRun, quiet: bool) -> TerminalProgress {
        let bar = ProgressBar::with_draw_target(Some(PASSES as u64 * STEPS), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %, {msg}, {elapsed}") {
            bar.set_style(style);
        }
        let wanted = !quiet && io::stderr().is_terminal();
        let ranks = run.headers.len().max(1) as u64;
        TerminalProgress { bar, ranks, read: Default::default(), done: Default::default(), shown: Once::new(), wanted }
    }

    /// Shows a step.
    pub fn show(&self, stage: AnalysisStage) {
        match stage {
            AnalysisStage::Surveying(progress) => self.read(0, "surveying", progress),
            AnalysisStage::Naming => self.say(|| "looking up the names of functions".to_owned()),
            AnalysisStage::Finding => self.say(|| "looking for loops".to_owned()),
            AnalysisStage::AddingUp(progress) => self.read(1, "adding up", progress),
            AnalysisStage::Following(progress) => self.read(2, "following", progress),
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn read(&self, pass: usize, what: &str, progress: FoldProgress) {
        match progress {
            FoldProgress::Records(n) => _ = self.read[pass].fetch_add(n, Ordering::Relaxed),
            FoldProgress::Rank => _ = self.done[pass].fetch_add(1, Ordering::Relaxed),
        }
        let all = self.read[0].load(Ordering::Relaxed);
        let far = match pass {
            0 => PassProgress { read: all, of: None, share: share(self.done[0].load(Ordering::Relaxed), self.ranks) },
            _ => {
                let read = self.read[pass].load(Ordering::Relaxed);
                // A step of the last pass is a call or the time between two, so that there may be more of them than events.
                PassProgress { read: read.min(all), of: Some(all), share: share(read, all) }
            }
        };
        self.bar.set_position(pass as u64 * STEPS + (far.share * STEPS as f64) as u64);
        self.say(|| far.message(what));
    }

    fn say(&self, message: impl FnOnce() -> String) {
        const SHOWN_AFTER: Duration = Duration::from_millis(400);
        if self.wanted && self.bar.elapsed() > SHOWN_AFTER {
            self.bar.set_message(message());
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pass_is_said_to_have_read_more_than_there_is() {
        assert_eq!((share(5, 10), share(30, 10), share(0, 0)), (0.5, 1.0, 1.0));
        let far = PassProgress { read: 1200, of: Some(1300), share: 0.9 };
        assert_eq!(far.message("following"), "following, 1,200 of 1,300 events");
        assert_eq!(PassProgress { of: None, ..far }.message("surveying"), "surveying, 1,200 events");
    }
}
