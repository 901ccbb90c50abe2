//! Progress of reading a run.

use std::io::{self, IsTerminal};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lbprof_analysis::analyse::AnalysisStage;
use lbprof_analysis::read::open::RecordedRun;
use lbprof_analysis::read::pass::FoldProgress;

/// A progress bar on standard error, shown only on terminals and only for long work.
pub struct TerminalProgress {
    bar: ProgressBar,
    ranks: u64,
    /// Events that each of the three passes has gone through.
    read: [AtomicU64; PASSES],
    /// Ranks that the first pass has finished.
    done: AtomicU64,
    /// Done once, when the bar is first shown.
    shown: Once,
    wanted: bool,
}

const PASSES: usize = 3;
/// Steps of the bar in each pass.
const STEPS: u64 = 1000;

impl TerminalProgress {
    pub fn new(run: &RecordedRun, quiet: bool) -> TerminalProgress {
        let bar = ProgressBar::with_draw_target(Some(PASSES as u64 * STEPS), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %, {msg}, {elapsed}") {
            bar.set_style(style);
        }
        let wanted = !quiet && io::stderr().is_terminal();
        let ranks = run.headers.len().max(1) as u64;
        TerminalProgress { bar, ranks, read: Default::default(), done: Default::default(), shown: Once::new(), wanted }
    }

    pub fn show(&self, stage: AnalysisStage) {
        match stage {
            AnalysisStage::Surveying(progress) => self.read(0, "surveying", progress),
            AnalysisStage::Naming => self.say(|| "looking up the names of functions".to_owned()),
            AnalysisStage::Finding => self.say(|| "looking for loops".to_owned()),
            AnalysisStage::AddingUp(progress) => self.read(1, "adding up", progress),
            AnalysisStage::Following(progress) => self.read(2, "following", progress),
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn read(&self, pass: usize, what: &str, progress: FoldProgress) {
        match progress {
            FoldProgress::Records(n) => _ = self.read[pass].fetch_add(n, Ordering::Relaxed),
            FoldProgress::Rank if pass == 0 => _ = self.done.fetch_add(1, Ordering::Relaxed),
            FoldProgress::Rank => {}
        }
        let [all, read] = [0, pass].map(|pass| self.read[pass].load(Ordering::Relaxed));
        // The number of events is known after the first pass.
        let share = match pass {
            0 => self.done.load(Ordering::Relaxed) as f64 / self.ranks as f64,
            _ => read as f64 / all.max(1) as f64,
        };
        self.bar.set_position(pass as u64 * STEPS + (share.min(1.0) * STEPS as f64) as u64);
        // Steps of the last pass are calls and the times between them, which may outnumber events.
        self.say(|| format!("{what}, {} events", HumanCount(read.min(all))));
    }

    fn say(&self, message: impl FnOnce() -> String) {
        const SHOWN_AFTER: Duration = Duration::from_millis(400);
        if self.wanted && self.bar.elapsed() > SHOWN_AFTER {
            self.bar.set_message(message());
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5)));
        }
    }
}
