//! Perfetto's trace format: what <https://ui.perfetto.dev> and trace_processor open.
//!
//! ```text
//!   process  rank 1 (node0)
//!     thread   main ─┬─ main                                     regions, nested
//!                    │   ├─ step ── parallel force (lj.c:12)     parallel regions, with the number of threads
//!                    │   └─ step ── MPI_Recv                     calls, with call site, peer, bytes …
//!                    │               └─ late sender (rank 0)     how they waited
//!     track    thread 1 of teams of main: force (lj.c:12)        threads of parallel regions, if each was recorded (LBPROF_OPENMP=threads)
//!     track    iterations of main/step: iteration 0 | iteration 1 …
//! ```
//!
//! A message is an arrow from a point on its sender's thread, when its send began, to one on its receiver's, when the call ended in which it
//! was received. Time that is computed is what calls leave free of a region. All packets are of one sequence, so that names are written once.

pub mod packets;
mod used_names;

use std::collections::HashMap;
use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::{NO_PEER, NONE};

use self::packets::{
    BEGIN, END, EventAnnotation, INSTANT, ProcessDescriptor, ThreadDescriptor, TracePacket, TrackDescriptor, TrackEvent,
};
use self::used_names::UsedNames;
use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::model::code::region_state::Ns;
use lbprof_analysis::model::ranks::interval::TimeInterval;
use lbprof_analysis::model::replayed::replay_results::ReplayedThread;
use lbprof_analysis::model::{Communicator, RankModel, RegionIdx};
use lbprof_analysis::profile::operation_name;
use lbprof_analysis::replay::{
    InitialWait, MatchedMessage, ReplayObserver, StateInterval, TeamInterval, TeamThreadInterval,
};
use lbprof_analysis::select::SelectionError;
use lbprof_report::rows::words::escape_name;

use crate::region_stack::{RegionStack, iteration_times, region_chains};

/// Calls that Perfetto's page still shows: it holds a trace in 2 GB of memory.
pub const MOST_CALLS: u64 = 5_000_000;

/// Writes a trace.
pub struct PerfettoWriter<W> {
    out: W,
    /// The number of calls, of all threads.
    calls: u64,
    /// The first error, after which nothing is written any more.
    error: Option<io::Error>,
    names: UsedNames,
    /// The regions' names, and by region those around it, outermost first.
    regions: Vec<String>,
    chains: Vec<Vec<RegionIdx>>,
    /// Labels of call sites, of the parallel regions that they stand for, and of communicators.
    sites: Vec<String>,
    parallel: Vec<String>,
    communicators: Vec<String>,
    /// By place of the rank: its number and host.
    ranks: Vec<(u32, String)>,
    threads: HashMap<ReplayedThread, ThreadTrack>,
    tracks: HashMap<(u32, u32), u64>,
    team_tracks: HashMap<(ReplayedThread, u32), u64>,
    /// By place of the rank: the track of its process.
    processes: Vec<u64>,
    call: Option<(ReplayedThread, StateInterval)>,
    n_tracks: u64,
    n_threads: i64,
    n_flows: u64,
}

struct ThreadTrack {
    track: u64,
    regions: RegionStack,
}

impl<W: Write + Send> PerfettoWriter<W> {
    /// A trace that is written to `out`.
    pub fn new(out: W) -> Self {
        PerfettoWriter {
            out,
            calls: 0,
            error: None,
            names: UsedNames::default(),
            regions: Vec::new(),
            chains: Vec::new(),
            sites: Vec::new(),
            parallel: Vec::new(),
            communicators: Vec::new(),
            ranks: Vec::new(),
            threads: HashMap::new(),
            tracks: HashMap::new(),
            team_tracks: HashMap::new(),
            processes: Vec::new(),
            call: None,
            n_tracks: 0,
            n_threads: 0,
            n_flows: 0,
        }
    }

    fn write(&mut self, packet: TracePacket) {
        if self.error.is_some() {
            return;
        }
        let mut bytes = Vec::with_capacity(64);
        prost::encoding::message::encode(1, &packet, &mut bytes);
        self.error = self.out.write_all(&bytes).err();
    }

    fn track(&mut self, track: TrackDescriptor) -> u64 {
        self.n_tracks += 1;
        let uuid = Some(self.n_tracks);
        self.write(TracePacket { track: Some(TrackDescriptor { uuid, ..track }), ..TracePacket::default() });
        self.n_tracks
    }

    fn event(&mut self, at: Ns, event: TrackEvent) {
        // Names that the event used first go with it.
        let interned = self.names.take_new();
        self.write(TracePacket {
            timestamp: Some(at.max(0) as u64),
            sequence: Some(1),
            event: Some(event),
            interned,
            flags: Some(2),
            ..TracePacket::default()
        });
    }

    fn begin(&mut self, track: u64, at: Ns, name: &str, facts: Vec<EventAnnotation>) {
        let event = self.slice(track, name, facts);
        self.event(at, event);
    }

    fn slice(&mut self, track: u64, name: &str, facts: Vec<EventAnnotation>) -> TrackEvent {
        let name = Some(self.names.event(name));
        TrackEvent { kind: Some(BEGIN), name, track: Some(track), facts, ..TrackEvent::default() }
    }

    fn begin_call(&mut self, track: u64, state: &StateInterval, name: &str) {
        let facts = self.facts(state);
        let category = state.kind.name().map(|name| self.names.category(name));
        let begun = TrackEvent { categories: category.into_iter().collect(), ..self.slice(track, name, facts) };
        self.event(state.interval.begin, begun);
    }

    fn end(&mut self, track: u64, at: Ns) {
        self.event(at, TrackEvent { kind: Some(END), track: Some(track), ..TrackEvent::default() });
    }

    /// The rank's first thread is there from the start, so that arrows find it.
    fn rank(&mut self, place: u32, rank: &RankModel) {
        let pid = process_id(rank.rank);
        let host = escape_name(&rank.host);
        let process = ProcessDescriptor { pid: Some(pid), name: Some(format!("rank {} ({host})", rank.rank)) };
        let track = self.track(TrackDescriptor { process: Some(process), ..TrackDescriptor::default() });
        self.processes.push(track);
        self.thread(ReplayedThread { rank_idx: place, number: 0 });
        for (region, series) in &rank.iterations {
            let path = self.path(*region);
            let name = Some(format!("iterations of {path}"));
            let track = self.track(TrackDescriptor { name, parent: Some(track), ..TrackDescriptor::default() });
            for (number, begin, end) in iteration_times(series) {
                let name = match series.joined {
                    0 => format!("iteration {number}"),
                    power => format!("iterations {number} to {}", number.saturating_add((1 << power) - 1)),
                };
                self.begin(track, begin, &name, Vec::new());
                self.end(track, end);
            }
        }
    }

    /// The track of a thread, which is made where it is new.
    fn thread(&mut self, thread: ReplayedThread) -> u64 {
        if let Some(known) = self.threads.get(&thread) {
            return known.track;
        }
        self.n_threads += 1;
        let rank = self.ranks.get(thread.rank_idx as usize).map_or(NONE, |&(rank, _)| rank);
        let name = if thread.number == 0 { "main".to_owned() } else { format!("thread {}", thread.number) };
        let facts = ThreadDescriptor { pid: Some(process_id(rank)), tid: Some(self.n_threads), name: Some(name) };
        let track = self.track(TrackDescriptor { thread: Some(facts), ..TrackDescriptor::default() });
        self.tracks.insert((rank, thread.number), track);
        self.threads.insert(thread, ThreadTrack { track, regions: RegionStack::default() });
        track
    }

    /// The track of a thread in the teams that `starter` starts, which is made where it is new.
    fn team_thread(&mut self, starter: ReplayedThread, number: u32) -> u64 {
        if let Some(&known) = self.team_tracks.get(&(starter, number)) {
            return known;
        }
        let of = if starter.number == 0 { "main".to_owned() } else { format!("thread {}", starter.number) };
        let name = Some(format!("thread {number} of teams of {of}"));
        let parent = self.processes.get(starter.rank_idx as usize).copied();
        let track = self.track(TrackDescriptor { name, parent, ..TrackDescriptor::default() });
        self.team_tracks.insert((starter, number), track);
        track
    }

    fn path(&self, region: RegionIdx) -> String {
        let chain = self.chains.get(region as usize).into_iter().flatten();
        chain.filter_map(|&one| self.regions.get(one as usize).cloned()).collect::<Vec<_>>().join("/")
    }

    /// Opens and closes regions on a thread's track, so that `region` is the innermost open one during `time`.
    fn enter(&mut self, thread: ReplayedThread, region: RegionIdx, time: TimeInterval) -> u64 {
        let track = self.thread(thread);
        let wanted = self.chains.get(region as usize).map_or(&[][..], Vec::as_slice);
        let Some(known) = self.threads.get_mut(&thread) else { return track };
        let change = known.regions.move_to(wanted, time);
        for _ in change.left {
            self.end(track, change.left_at);
        }
        for inner in change.entered {
            let name = self.regions.get(inner as usize).cloned().unwrap_or_default();
            self.begin(track, time.begin, &name, Vec::new());
        }
        track
    }

    fn end_call(&mut self) {
        if let Some((thread, call)) = self.call.take() {
            let track = self.thread(thread);
            self.end(track, call.interval.end);
        }
    }
}

/// Names what a thread does in an interval.
fn interval_name(state: &StateInterval) -> String {
    match (state.kind.activity(), state.operation) {
        (Some(Activity::Computation), _) => state.kind.name().unwrap_or_default().to_owned(),
        (None, _) => "not recorded".to_owned(),
        (Some(_), 0) => "outside of its window".to_owned(),
        (Some(Activity::Recorder), _) => "lbprof".to_owned(),
        (Some(_), operation) => format!("MPI_{}", operation_name(operation)),
    }
}

/// Returns a rank's number as the number of a process; 0 would be the operating system's.
fn process_id(rank: u32) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX - 1) + 1
}

impl<W: Write + Send> EventExport for PerfettoWriter<W> {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model = part.model;
        self.calls = part.calls();
        self.regions = model.regions.iter().map(|region| escape_name(&region.name)).collect();
        self.chains = region_chains(model);
        self.sites = part.places.iter().map(|place| escape_name(&place.label())).collect();
        self.parallel = part.places.iter().map(|place| escape_name(&place.of_region().label())).collect();
        self.communicators = model.communicators.iter().map(Communicator::label).collect();
        self.ranks = model.ranks.iter().map(|rank| (rank.rank, rank.host.clone())).collect();
        self.write(TracePacket { sequence: Some(1), flags: Some(1), ..TracePacket::default() });
        for (place, rank) in (0..).zip(&model.ranks) {
            self.rank(place, rank);
        }
        Ok(())
    }
}

impl<W: Write + Send> PerfettoWriter<W> {
    /// Returns the number of calls in the trace.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// After all else.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_call();
        for mut thread in std::mem::take(&mut self.threads).into_values() {
            let change = thread.regions.leave_all();
            for _ in change.left {
                self.end(thread.track, change.left_at);
            }
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write + Send> PerfettoWriter<W> {
    fn facts(&mut self, state: &StateInterval) -> Vec<EventAnnotation> {
        let &StateInterval { site, facts, .. } = state;
        let mut known = Vec::new();
        if let Some(label) = self.sites.get(site as usize) {
            known.push(self.names.text("call site", label));
        }
        if let Some(label) = self.communicators.get(facts.comm as usize) {
            known.push(self.names.text("communicator", label));
        }
        let numbers = [
            ("peer", (facts.peer != NONE).then_some(facts.peer.into())),
            ("tag", (facts.tag != NO_PEER).then_some(facts.tag.into())),
            ("bytes sent", i64::try_from(facts.sent).ok().filter(|&bytes| bytes > 0)),
            ("bytes received", i64::try_from(facts.received).ok().filter(|&bytes| bytes > 0)),
        ];
        known.extend(numbers.into_iter().filter_map(|(name, number)| Some(self.names.number(name, number?))));
        known
    }

    /// Writes how a call waited.
    fn wait(&mut self, track: u64, interval: TimeInterval, wait: InitialWait) {
        let name = match wait.by {
            Some(rank) => format!("{} (rank {rank})", wait.state.name()),
            None => wait.state.name().to_owned(),
        };
        let facts = wait.by.map(|rank| self.names.number("waits for rank", i64::from(rank))).into_iter().collect();
        self.begin(track, interval.begin, &name, facts);
        self.end(track, wait.until.min(interval.end));
    }
}

impl<W: Write + Send> ReplayObserver for PerfettoWriter<W> {
    fn on_interval(&mut self, state: &StateInterval) {
        self.end_call();
        let &StateInterval { thread, interval, kind, wait, .. } = state;
        let track = self.enter(thread, kind.region(), interval);
        if kind.is_computation() && kind.core_state().is_none() {
            return;
        }
        // A call without a function is time before the rank's window, or after it.
        let name = interval_name(state);
        self.begin_call(track, state, &name);
        if let Some(wait) = wait.filter(|wait| wait.until > interval.begin) {
            self.wait(track, interval, wait);
        }
        self.call = Some((thread, *state));
    }

    fn on_team(&mut self, team: &TeamInterval) {
        let track = self.thread(team.thread);
        let name = match self.parallel.get(team.site as usize) {
            Some(label) => format!("parallel {label}"),
            None => "parallel region".to_owned(),
        };
        let facts = [("threads", i64::from(team.team)), ("longest work above the mean, in ns", team.excess)];
        let facts = facts.map(|(what, number)| self.names.number(what, number)).to_vec();
        self.begin(track, team.interval.begin, &name, facts);
        self.end(track, team.interval.end);
    }

    fn on_team_thread(&mut self, one: &TeamThreadInterval) {
        let track = self.team_thread(one.starter, one.number);
        let name = self.parallel.get(one.site as usize).cloned().unwrap_or_else(|| "parallel region".to_owned());
        let facts = vec![self.names.number("work, in ns", one.useful)];
        self.begin(track, one.interval.begin, &name, facts);
        self.end(track, one.interval.end);
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        let Some((thread, _)) = self.call else { return };
        let track = self.thread(thread);
        self.n_flows += 1;
        let sender = self.tracks.get(&(message.from, message.from_thread)).copied();
        let sides = [
            (sender, message.sent, "send to rank", message.to),
            (Some(track), message.received, "receive from rank", message.from),
        ];
        for (side, (track, at, what, other)) in sides.into_iter().enumerate() {
            let Some(track) = track else { continue };
            let facts = vec![
                self.names.number("bytes", i64::try_from(message.bytes).unwrap_or(i64::MAX)),
                self.names.number("tag", i64::from(message.tag)),
                self.names.number(what, i64::from(other)),
            ];
            let name = Some(self.names.event(&format!("{what} {other}")));
            // An arrow has two ends: where the sender is left out there is none.
            let flow: Vec<u64> = sender.map(|_| self.n_flows).into_iter().collect();
            let (flows, ending_flows) = if side == 0 { (flow, Vec::new()) } else { (Vec::new(), flow) };
            let event = TrackEvent {
                kind: Some(INSTANT),
                name,
                track: Some(track),
                facts,
                flows,
                ending_flows,
                ..TrackEvent::default()
            };
            self.event(at, event);
        }
    }
}
