//! A trace of Paraver: `.prv` with what happens, `.pcf` with names, `.row` with the names of lines. Dimemas reads it, too.
//!
//! ```text
//!   #Paraver (date):ns_ns:nodes(processors):1:tasks(threads:node),communicators
//!   c:1:communicator:size:task:task …
//!   1:cpu:1:task:thread:begin:end:state
//!   2:cpu:1:task:thread:time:type:value:type:value …
//!   3:cpu:1:task:thread:send:send:cpu:1:task:thread:posted:received:bytes:tag
//! ```
//!
//! Everything is numbered from 1. Lines are in the order of time, which ranks are not followed in: a call is known when it ends, a message
//! when it is received. So lines are sorted ([`crate::external_sort`]). Readers need states with a length, an event with a value and one
//! with 0 for each call, and ends before begins at the same time.

mod config;
mod event_types;
mod layout;
mod operations;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;

use chrono::DateTime;
use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, CoreState};

use self::config::{ConfigNames, write_rows};
use self::event_types::{DELAY_SOURCE, ITERATION, PARALLEL, REGION, TEAM, WAIT_STATE};
use self::layout::{ParaverLayout, TeamThread};
use self::operations::{ParaverCallEvent, function_values};
use crate::external_sort::LineSorter;
use crate::region_stack::{RegionStack, StackChange, iteration_times, region_chains};
use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::model::code::region_state::Ns;
use lbprof_analysis::model::ranks::interval::TimeInterval;
use lbprof_analysis::model::replayed::replay_results::ReplayedThread;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::{Communicator, RankModel, RegionIdx};
use lbprof_analysis::replay::{MatchedMessage, ReplayObserver, StateInterval, TeamInterval, TeamThreadInterval};
use lbprof_analysis::select::SelectionError;

/// Event types of the bytes, root and communicator of a collective.
const SEND_SIZE: u32 = 50_100_001;
const RECEIVE_SIZE: u32 = 50_100_002;
const ROOT: u32 = 50_100_003;
const COMMUNICATOR: u32 = 50_100_004;

/// States outside of calls.
const RUNNING: u8 = Activity::Computation.paraver_state();
const NOT_CREATED: u8 = 2;
const DISABLED: u8 = Activity::Recorder.paraver_state();

const STATE: u64 = 1;
const EVENT: u64 = 2;
const COMMUNICATION: u64 = 3;

/// Writes a trace.
#[derive(Default)]
pub struct ParaverWriter {
    lines: LineSorter,
    layout: ParaverLayout,
    names: ConfigNames,
    communicators: Vec<Communicator>,
    started_unix_s: u64,
    chains: Vec<Vec<RegionIdx>>,
    values: BTreeMap<&'static str, u32>,
    threads: BTreeMap<ReplayedThread, RegionStack>,
    end: Ns,
}

/// The files of a trace, to be written.
pub struct TraceFiles<W> {
    /// `.prv`.
    pub prv: W,
    /// `.pcf`.
    pub pcf: W,
    /// `.row`.
    pub row: W,
}

impl ParaverWriter {
    /// A trace that is sorted in files in `folder`.
    pub fn new(folder: PathBuf) -> Self {
        ParaverWriter { lines: LineSorter::new(folder), values: function_values(), ..ParaverWriter::default() }
    }

    /// Writes the files, after all else.
    ///
    /// Errors: the first that there was.
    pub fn finish<W: Write>(mut self, files: TraceFiles<W>) -> io::Result<()> {
        for (thread, mut open) in std::mem::take(&mut self.threads) {
            self.leave(thread, open.leave_all());
        }
        let mut prv = io::BufWriter::new(files.prv);
        let date = format_trace_date(self.started_unix_s);
        self.layout.write(&date, self.end.max(0) as u64, &self.communicators, &mut prv)?;
        self.lines.finish(|_, line| prv.write_all(line))?;
        prv.flush()?;
        let mut pcf = io::BufWriter::new(files.pcf);
        self.names.write(&mut pcf)?;
        pcf.flush()?;
        let mut row = io::BufWriter::new(files.row);
        write_rows(&self.layout, &mut row)?;
        row.flush()
    }

    fn line(&mut self, kind: u64, at: Ns, line: &str) {
        self.lines.add((at.max(0) as u64, kind), line.as_bytes());
    }

    /// Returns the start of each line of a thread: `cpu:1:task:thread`.
    fn object(&mut self, thread: ReplayedThread) -> Option<String> {
        let task = self.layout.tasks.get_mut(thread.rank_idx as usize)?;
        task.threads = task.threads.max(thread.number.saturating_add(1));
        Some(format!("{}:1:{}:{}", task.cpu, thread.rank_idx + 1, thread.number + 1))
    }

    fn state(&mut self, thread: ReplayedThread, begin: Ns, end: Ns, state: u8) {
        if let Some(object) = self.object(thread).filter(|_| begin < end) {
            self.end = self.end.max(end);
            self.line(STATE, begin, &format!("1:{object}:{begin}:{end}:{state}\n"));
        }
    }

    fn event(&mut self, thread: ReplayedThread, at: Ns, values: &[(u32, u64)]) {
        let Some(object) = self.object(thread) else { return };
        self.end = self.end.max(at);
        let mut line = format!("2:{object}:{at}");
        for (kind, value) in values {
            let _ = write!(line, ":{kind}:{value}");
        }
        line.push('\n');
        self.line(EVENT, at, &line);
    }

    fn iterations(&mut self, place: u32, rank: &RankModel) {
        let thread = ReplayedThread { rank_idx: place, number: 0 };
        for (region, series) in &rank.iterations {
            let kind = ITERATION + region;
            for (number, begin, end) in iteration_times(series) {
                self.event(thread, begin, &[(kind, u64::from(number) + 1)]);
                self.event(thread, end, &[(kind, 0)]);
            }
        }
    }

    fn enter(&mut self, thread: ReplayedThread, region: RegionIdx, interval: TimeInterval) {
        let wanted = self.chains.get(region as usize).map_or(&[][..], Vec::as_slice);
        let change = self.threads.entry(thread).or_default().move_to(wanted, interval);
        for inner in self.leave(thread, change) {
            self.event(thread, interval.begin, &[(REGION, u64::from(inner) + 1)]);
        }
    }

    fn leave(&mut self, thread: ReplayedThread, change: StackChange) -> Vec<RegionIdx> {
        for _ in change.left {
            self.event(thread, change.left_at, &[(REGION, 0)]);
        }
        change.entered
    }

    fn call(&mut self, state: &StateInterval) {
        let &StateInterval { thread, interval, operation, facts, .. } = state;
        let ParaverCallEvent { kind, value, state } = ParaverCallEvent::for_operation(operation, &self.values);
        let mut values = vec![(kind, u64::from(value))];
        let comm = self.layout.comm(facts.comm).filter(|_| kind == operations::TYPES[1].0);
        if let Some(comm) = comm {
            values.extend([(SEND_SIZE, facts.sent), (RECEIVE_SIZE, facts.received)]);
            let own = self.layout.tasks.get(thread.rank_idx as usize).map(|task| task.rank);
            values.extend((Some(facts.peer) == own).then_some((ROOT, 1)));
            values.push((COMMUNICATOR, comm.into()));
        }
        self.event(thread, interval.begin, &values);
        self.event(thread, interval.end, &[(kind, 0)]);
        self.state(thread, interval.begin, interval.end, state);
    }

    fn wait(&mut self, state: &StateInterval) {
        let Some(wait) = state.wait.filter(|wait| wait.until > state.interval.begin) else { return };
        let value = WaitState::ALL.iter().position(|&one| one == wait.state).map_or(0, |at| at as u64 + 1);
        let source = wait.by.map_or(0, |rank| u64::from(rank) + 1);
        self.event(state.thread, state.interval.begin, &[(WAIT_STATE, value), (DELAY_SOURCE, source)]);
        self.event(state.thread, wait.until.min(state.interval.end), &[(WAIT_STATE, 0), (DELAY_SOURCE, 0)]);
    }
}

/// Formats a time for the first line of a trace.
fn format_trace_date(unix_s: u64) -> String {
    let time = i64::try_from(unix_s).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    time.unwrap_or_default().format("%d/%m/%Y at %H:%M").to_string()
}

impl EventExport for ParaverWriter {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model = part.model;
        self.layout = ParaverLayout::from_model(model);
        self.names = ConfigNames::from_model(model, part.places);
        self.communicators.clone_from(&model.communicators);
        self.started_unix_s = model.facts.started_unix_s;
        self.chains = region_chains(model);
        for (place, rank) in (0..).zip(&model.ranks) {
            self.iterations(place, rank);
        }
        Ok(())
    }
}

impl ReplayObserver for ParaverWriter {
    fn on_interval(&mut self, state: &StateInterval) {
        let &StateInterval { thread, interval, kind, operation, wait, .. } = state;
        let (begin, end) = (interval.begin, interval.end);
        let is_outside = wait.is_some_and(|wait| matches!(wait.state, WaitState::LateBegin | WaitState::EarlyEnd));
        if !is_outside {
            self.enter(thread, kind.region(), interval);
        }
        match kind.activity() {
            _ if is_outside => self.state(thread, begin, end, NOT_CREATED),
            Some(Activity::Computation) => {
                self.state(thread, begin, end, kind.core_state().map_or(RUNNING, CoreState::paraver_state));
            }
            None | Some(Activity::Recorder) => self.state(thread, begin, end, DISABLED),
            Some(_) if operation == 0 => self.state(thread, begin, end, RUNNING),
            Some(_) => self.call(state),
        }
        self.wait(state);
    }

    fn on_team(&mut self, team: &TeamInterval) {
        let value = self.names.parallel_value(team.site);
        let at_begin = [(PARALLEL, u64::from(value)), (TEAM, u64::from(team.team))];
        self.event(team.thread, team.interval.begin, &at_begin);
        self.event(team.thread, team.interval.end, &[(PARALLEL, 0), (TEAM, 0)]);
    }

    fn on_team_thread(&mut self, one: &TeamThreadInterval) {
        let &TeamThreadInterval { starter, number, interval, site, .. } = one;
        // The thread that starts the region has its line already.
        if number == 0 {
            return;
        }
        let team_thread = TeamThread { starter: starter.number, number };
        let Some(line) = self.layout.team_line(starter.rank_idx, team_thread) else { return };
        let thread = ReplayedThread { rank_idx: starter.rank_idx, number: line };
        let value = self.names.parallel_value(site);
        self.event(thread, interval.begin, &[(PARALLEL, u64::from(value))]);
        self.event(thread, interval.end, &[(PARALLEL, 0)]);
        self.state(thread, interval.begin, interval.end, RUNNING);
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        let MatchedMessage { from, to, from_thread, to_thread, sent, posted, received, bytes, tag, .. } = *message;
        let [from, to] = [from, to].map(|rank| {
            let place = self.layout.place(rank).and_then(|place| u32::try_from(place).ok());
            place.unwrap_or(NONE)
        });
        let sender = self.object(ReplayedThread { rank_idx: from, number: from_thread });
        let receiver = self.object(ReplayedThread { rank_idx: to, number: to_thread });
        // One of both may not be selected.
        if let Some((sender, receiver)) = sender.zip(receiver) {
            // A message that was sent before the part begins.
            let (sent, posted) = (sent.max(0), posted.max(0));
            let times = format!("{receiver}:{posted}:{received}");
            self.line(COMMUNICATION, sent, &format!("3:{sender}:{sent}:{sent}:{times}:{bytes}:{tag}\n"));
        }
    }
}
