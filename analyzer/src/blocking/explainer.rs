//! Explains waits as it hears of them: keeps what threads did, finds what waits were caused by, and sums it up.

use std::cmp::Reverse;

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use super::causes::{Causer, Causes};
use super::doings::Doings;
use super::history::{History, Part};
use super::story::{Event, Story, Wait};
use super::tables::{Blocking, Sums, WaitKey, WaitState, WaitSums};
use crate::critical_path::{CriticalPath, OnPath};
use crate::timeline::{Kind, Ns};

/// Stretches and causes of all histories together from which on old ones are forgotten.
pub const MOST_STRETCHES: usize = 1 << 22;
/// How many each thread may have.
const MOST_OF_A_THREAD: usize = 1 << 10;

/// Explains waits.
#[derive(Default)]
pub struct Explainer {
    doings: Doings,
    histories: Vec<History>,
    causes: Causes,
    path: CriticalPath,
    sums: Sums,
    /// The critical path, once its end is known.
    critical: Option<Vec<OnPath>>,
    /// Stretches and causes from which on old ones are forgotten.
    most: usize,
    /// How many were kept at most.
    kept: usize,
}

/// Waits explained, and the critical path.
#[derive(Debug)]
pub struct Explained {
    /// Waits and their causes.
    pub blocking: Blocking,
    /// The critical path, by thread and kind.
    pub critical_path: Vec<OnPath>,
    /// Stretches and causes that were kept at most.
    pub kept: usize,
}

impl Explainer {
    /// One that has heard nothing yet. Critical paths begin at `from`. Of histories of `most` stretches and causes in all old ones are
    /// forgotten.
    pub fn new(from: Ns, most: usize) -> Self {
        Explainer { path: CriticalPath::new(from), most, ..Explainer::default() }
    }

    /// Hears a story, which goes on where the last one ended.
    pub fn hear(&mut self, story: &Story) {
        let (mut waits, mut causers) = (story.waits.iter(), story.causers.as_slice());
        for event in &story.events {
            match *event {
                Event::Begin { at, late, counted } => self.begin((at, counted), late),
                Event::Spend { thread, kind, end } => {
                    let doing = self.doings.of(thread, kind);
                    self.histories[thread as usize].spend(end, doing);
                }
                Event::Wait => {
                    let Some((wait, n)) = waits.next() else { continue };
                    let (own, others) = causers.split_at(*n);
                    causers = others;
                    self.wait(wait, own);
                }
            }
        }
    }

    /// Forgets old history where there is too much of it; `now`: all threads have been followed until then.
    pub fn forget(&mut self, now: Ns) {
        let all: usize = self.histories.iter().map(History::size).sum();
        self.kept = self.kept.max(all);
        if all < self.most.max(MOST_OF_A_THREAD * self.histories.len()) {
            return;
        }
        // Of a thread that has ended long ago nothing is left to forget.
        let begin = self.histories.iter().filter(|one| one.size() > 0).map(History::begin).min().unwrap_or(0);
        let middle = begin + (now - begin).max(0) / 2;
        self.path.sum_up(&self.doings, &self.histories, middle);
        self.histories.iter_mut().for_each(|history| history.forget_before(middle));
    }

    /// Follows the critical path back from the end of the window: `ends` are threads, and when the window of each ended. Of those that
    /// ended last, at the same time, one that did not wait then.
    pub fn follow_path(&mut self, ends: &[(u32, Ns)]) {
        let end_of = |&(thread, end): &(u32, Ns)| {
            let piece = self.histories.get(thread as usize)?.backwards(Ns::MIN, end).next();
            Some((end, piece.is_none_or(|piece| piece.wait.is_none()), Reverse(thread)))
        };
        if let Some((end, _, Reverse(last))) = ends.iter().filter_map(end_of).max() {
            self.critical = Some(self.path.to(&self.doings, &self.histories, last, end));
        }
    }

    /// What was found.
    pub fn finish(self) -> Explained {
        let blocking = self.sums.finish(&self.doings);
        Explained { blocking, critical_path: self.critical.unwrap_or_default(), kept: self.kept }
    }

    fn begin(&mut self, (at, counted): (Ns, Ns), late: bool) {
        let thread = self.histories.len() as u32;
        self.histories.push(History::new(if late { 0 } else { at }));
        if late && at > 0 {
            let kind = Kind::new(0, Activity::Management);
            let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::LateBegin };
            let cause = Part { doing: self.doings.of(thread, kind), ns: at as f64 };
            self.sums.add(&self.doings, key, (at, WaitSums { count: 1, waiting: counted, delay: 0 }), &[cause]);
            self.histories[thread as usize].wait(at, cause.doing, None, &[cause]);
        }
    }

    fn wait(&mut self, wait: &Wait, causers: &[Causer]) {
        let thread = wait.key.thread;
        let end = wait.begin + wait.sums.waiting + wait.sums.delay;
        let found = self.causes.of(&mut self.doings, &self.histories, thread, (wait.begin, end), causers);
        self.sums.add(&self.doings, wait.key, (end - wait.begin, wait.counted), found);
        let doing = self.doings.of(thread, wait.key.kind);
        self.histories[thread as usize].wait(end, doing, Some(wait.by), found);
    }
}
