//! Perfetto's trace format: what <https://ui.perfetto.dev> and trace_processor open.
//!
//! ```text
//!   process  rank 1 (node0)
//!     thread   main ─┬─ main                                     regions, nested
//!                    │   └─ step ── MPI_Recv                     calls, with their call sites
//!                    │               └─ late sender (rank 0)     how they waited
//!     track    iterations of main/step: iteration 0 | iteration 1 …
//!   counter  load balance of main/step
//! ```
//!
//! A message is an arrow from a point on its sender's thread, when its send began, to one on its receiver's, when the call ended in which it
//! was received. Time that is computed is what calls leave free of a region. All packets are of one sequence, so that names are written once.

pub mod packets;

use std::collections::HashMap;
use std::io::{self, Write};

use lbprof_collector::Activity;
use lbprof_collector::record::NONE;

use self::packets::{
    BEGIN, COUNTER, CounterDescriptor, END, Fact, INSTANT, Interned, Packet, ProcessDescriptor, Text, ThreadDescriptor,
    TrackDescriptor, TrackEvent,
};
use super::{Exported, Format};
use crate::model::followed::ThreadOf;
use crate::model::interval::Interval;
use crate::model::region_state::Ns;
use crate::model::{Model, RankModel, RegionIdx};
use crate::profile::operation_name;
use crate::replay::{Message, StateInterval, Watcher};
use crate::report::words::clean;
use crate::select::SelectionError;

/// Calls that Perfetto's page still shows: it holds a trace in 2 GB of memory.
pub const MOST_CALLS: u64 = 5_000_000;

/// Writes a trace.
pub struct Perfetto<W> {
    out: W,
    /// Calls of a part of which a trace is made; `None`: any.
    most_calls: Option<u64>,
    /// The first error, after which nothing is written any more.
    error: Option<io::Error>,
    names: Names,
    /// The regions' names, and by region those around it, outermost first.
    regions: Vec<String>,
    chains: Vec<Vec<RegionIdx>>,
    /// The call sites' labels.
    sites: Vec<String>,
    /// By place of the rank: its number and host.
    ranks: Vec<(u32, String)>,
    threads: HashMap<ThreadOf, OpenThread>,
    /// By number of the rank: the track of its first thread.
    first_threads: HashMap<u32, u64>,
    /// The call that came last, while its messages come.
    call: Option<(ThreadOf, StateInterval)>,
    /// Tracks, threads and arrows so far.
    n_tracks: u64,
    n_threads: i64,
    n_flows: u64,
}

/// A thread, and what is open on its track.
struct OpenThread {
    track: u64,
    regions: Vec<RegionIdx>,
    until: Ns,
}

impl<W: Write + Send> Perfetto<W> {
    /// A trace that is written to `out`; of a part with more calls than `most_calls` there is none.
    pub fn new(out: W, most_calls: Option<u64>) -> Self {
        Perfetto {
            out,
            most_calls,
            error: None,
            names: Names::default(),
            regions: Vec::new(),
            chains: Vec::new(),
            sites: Vec::new(),
            ranks: Vec::new(),
            threads: HashMap::new(),
            first_threads: HashMap::new(),
            call: None,
            n_tracks: 0,
            n_threads: 0,
            n_flows: 0,
        }
    }

    fn write(&mut self, packet: Packet) {
        if self.error.is_some() {
            return;
        }
        let mut bytes = Vec::with_capacity(64);
        prost::encoding::message::encode(1, &packet, &mut bytes);
        self.error = self.out.write_all(&bytes).err();
    }

    /// A further track: its number.
    fn track(&mut self, track: TrackDescriptor) -> u64 {
        self.n_tracks += 1;
        let uuid = Some(self.n_tracks);
        self.write(Packet { track: Some(TrackDescriptor { uuid, ..track }), ..Packet::default() });
        self.n_tracks
    }

    fn event(&mut self, at: Ns, event: TrackEvent) {
        // Names that the event used first go with it.
        let interned = self.names.take_new();
        self.write(Packet {
            timestamp: Some(at.max(0) as u64),
            sequence: Some(1),
            event: Some(event),
            interned,
            flags: Some(2),
            ..Packet::default()
        });
    }

    fn begin(&mut self, track: u64, at: Ns, name: &str, facts: Vec<Fact>) {
        let name = Some(self.names.event(name));
        self.event(at, TrackEvent { kind: Some(BEGIN), name, track: Some(track), facts, ..TrackEvent::default() });
    }

    fn end(&mut self, track: u64, at: Ns) {
        self.event(at, TrackEvent { kind: Some(END), track: Some(track), ..TrackEvent::default() });
    }

    /// The rank's first thread is there from the start, so that arrows find it.
    fn rank(&mut self, place: u32, rank: &RankModel) {
        let pid = pid(rank.rank);
        let host = clean(&rank.host);
        let process = ProcessDescriptor { pid: Some(pid), name: Some(format!("rank {} ({host})", rank.rank)) };
        let track = self.track(TrackDescriptor { process: Some(process), ..TrackDescriptor::default() });
        self.thread(ThreadOf { rank: place, number: 0 });
        for (region, series) in &rank.iterations {
            let path = self.path(*region);
            let name = Some(format!("iterations of {path}"));
            let track = self.track(TrackDescriptor { name, parent: Some(track), ..TrackDescriptor::default() });
            for ((number, begin), end) in series.numbers.iter().zip(&series.begin_s).zip(&series.end_s) {
                let (begin, end) = ((begin * 1e9).round() as Ns, (end * 1e9).round() as Ns);
                // NaN, which is 0 here, has no length either.
                if begin < end {
                    self.begin(track, begin, &format!("iteration {number}"), Vec::new());
                    self.end(track, end);
                }
            }
        }
    }

    /// The track of a thread, which is made where it is new.
    fn thread(&mut self, thread: ThreadOf) -> u64 {
        if let Some(known) = self.threads.get(&thread) {
            return known.track;
        }
        self.n_threads += 1;
        let rank = self.ranks.get(thread.rank as usize).map_or(NONE, |&(rank, _)| rank);
        let name = if thread.number == 0 { "main".to_owned() } else { format!("thread {}", thread.number) };
        let facts = ThreadDescriptor { pid: Some(pid(rank)), tid: Some(self.n_threads), name: Some(name) };
        let track = self.track(TrackDescriptor { thread: Some(facts), ..TrackDescriptor::default() });
        if thread.number == 0 {
            self.first_threads.insert(rank, track);
        }
        self.threads.insert(thread, OpenThread { track, regions: Vec::new(), until: 0 });
        track
    }

    /// The load balance of each iteration of the main loop, as values over time; none where what ranks compute in it is not known.
    fn load_balance(&mut self, model: &Model) {
        let Some(region) = model.main_loop() else { return };
        let unknown = model.entering(region);
        let mut iterations: HashMap<u32, (f64, f64, f64)> = HashMap::new();
        for series in model.ranks.iter().filter_map(|rank| rank.series(region)) {
            for (at, &number) in series.numbers.iter().enumerate() {
                let (seconds, begin) = (series.seconds_at(Activity::Computation, at), series.begin_s[at]);
                let (sum, max, first) = iterations.entry(number).or_insert((0.0, 0.0, f64::INFINITY));
                (*sum, *max, *first) = (*sum + seconds, max.max(seconds), first.min(begin));
            }
        }
        let is_known = |number: u32, max: f64, first: f64| max > 0.0 && first.is_finite() && !unknown.contains(&number);
        let mut values: Vec<_> =
            iterations.into_iter().filter(|&(number, (_, max, first))| is_known(number, max, first)).collect();
        values.sort_by_key(|&(number, _)| number);
        let name = Some(format!("load balance of {}", self.path(region)));
        let counter = Some(CounterDescriptor { unit: Some("%".to_owned()) });
        let track = self.track(TrackDescriptor { name, counter, ..TrackDescriptor::default() });
        for (_, (sum, max, first)) in values {
            let value = Some(100.0 * sum / max / model.ranks.len() as f64);
            let at = (first * 1e9).round() as Ns;
            self.event(at, TrackEvent { kind: Some(COUNTER), track: Some(track), value, ..TrackEvent::default() });
        }
    }

    fn path(&self, region: RegionIdx) -> String {
        let chain = self.chains.get(region as usize).into_iter().flatten();
        chain.filter_map(|&one| self.regions.get(one as usize).cloned()).collect::<Vec<_>>().join("/")
    }

    /// Opens and closes regions on a thread's track, so that the innermost open one is that of an interval.
    fn enter(&mut self, thread: ThreadOf, region: RegionIdx, time: Interval) -> u64 {
        let track = self.thread(thread);
        let wanted = self.chains.get(region as usize).cloned().unwrap_or_default();
        let (open, until) = match self.threads.get_mut(&thread) {
            Some(known) => (std::mem::take(&mut known.regions), std::mem::replace(&mut known.until, time.end)),
            None => (Vec::new(), 0),
        };
        let goes_on = until == time.begin;
        let same = open.iter().zip(&wanted).take_while(|(a, b)| goes_on && a == b).count();
        for _ in same..open.len() {
            self.end(track, until);
        }
        for &inner in &wanted[same..] {
            let name = self.regions.get(inner as usize).cloned().unwrap_or_default();
            self.begin(track, time.begin, &name, Vec::new());
        }
        if let Some(known) = self.threads.get_mut(&thread) {
            known.regions = wanted;
        }
        track
    }

    /// The call that came last has no more messages.
    fn end_call(&mut self) {
        if let Some((thread, call)) = self.call.take() {
            let track = self.thread(thread);
            self.end(track, call.interval.end);
        }
    }
}

/// A rank's number as that of a process; 0 would be the operating system's.
fn pid(rank: u32) -> i32 {
    i32::try_from(rank).unwrap_or(i32::MAX - 1) + 1
}

impl<W: Write + Send> Format for Perfetto<W> {
    fn begins(&mut self, part: &Exported) -> Result<(), SelectionError> {
        let model = part.model;
        let calls = part.calls();
        if self.most_calls.is_some_and(|most| calls > most) {
            return Err(SelectionError::TooManyCalls { calls, most: self.most_calls.unwrap_or(0) });
        }
        self.regions = model.regions.iter().map(|region| clean(&region.name)).collect();
        let chain = |region: RegionIdx| model.chain(region).into_iter().rev().collect();
        self.chains = (0..model.regions.len() as RegionIdx).map(chain).collect();
        self.sites = part.places.iter().map(|place| clean(&place.label())).collect();
        self.ranks = model.ranks.iter().map(|rank| (rank.rank, rank.host.clone())).collect();
        self.write(Packet { sequence: Some(1), flags: Some(1), ..Packet::default() });
        for (place, rank) in (0..).zip(&model.ranks) {
            self.rank(place, rank);
        }
        self.load_balance(model);
        Ok(())
    }
}

impl<W: Write + Send> Perfetto<W> {
    /// After all else.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_call();
        let open: Vec<(u64, usize, Ns)> =
            self.threads.drain().map(|(_, one)| (one.track, one.regions.len(), one.until)).collect();
        for (track, n, until) in open {
            (0..n).for_each(|_| self.end(track, until));
        }
        match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        }
    }
}

impl<W: Write + Send> Watcher for Perfetto<W> {
    fn spends(&mut self, state: &StateInterval) {
        self.end_call();
        let &StateInterval { thread, interval, kind, site, operation, facts: _, wait } = state;
        let track = self.enter(thread, kind.region(), interval);
        if kind.is_computation() {
            return;
        }
        let name = match (kind.activity(), operation) {
            (None, _) => "not recorded".to_owned(),
            // Before the rank's window, or after it.
            (Some(_), 0) => "outside of its window".to_owned(),
            (Some(Activity::Recorder), _) => "lbprof".to_owned(),
            (Some(_), operation) => format!("MPI_{}", operation_name(operation)),
        };
        let label = self.sites.get(site as usize).cloned();
        let facts = label.map(|label| self.names.text("call site", &label)).into_iter().collect();
        self.begin(track, interval.begin, &name, facts);
        if let Some(wait) = wait.filter(|wait| wait.until > interval.begin) {
            let name = match wait.by {
                Some(rank) => format!("{} (rank {rank})", wait.state.name()),
                None => wait.state.name().to_owned(),
            };
            let facts = wait.by.map(|rank| self.names.number("waits for rank", i64::from(rank))).into_iter().collect();
            self.begin(track, interval.begin, &name, facts);
            self.end(track, wait.until.min(interval.end));
        }
        self.call = Some((thread, *state));
    }

    fn receives(&mut self, message: &Message) {
        let Some((thread, _)) = self.call else { return };
        let track = self.thread(thread);
        self.n_flows += 1;
        let sender = self.first_threads.get(&message.from).copied();
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

/// Names that were used before, by number.
#[derive(Default)]
struct Names {
    events: HashMap<String, u64>,
    facts: HashMap<&'static str, u64>,
    texts: HashMap<String, u64>,
    new: Interned,
}

impl Names {
    fn event(&mut self, name: &str) -> u64 {
        number(&mut self.events, name, &mut self.new.events)
    }

    fn fact(&mut self, name: &'static str) -> u64 {
        let next = self.facts.len() as u64 + 1;
        *self.facts.entry(name).or_insert_with(|| {
            self.new.facts.push(Text { id: Some(next), text: Some(name.to_owned()) });
            next
        })
    }

    fn number(&mut self, name: &'static str, number: i64) -> Fact {
        Fact { name: Some(self.fact(name)), number: Some(number), text: None }
    }

    fn text(&mut self, name: &'static str, text: &str) -> Fact {
        let text = number(&mut self.texts, text, &mut self.new.texts);
        Fact { name: Some(self.fact(name)), number: None, text: Some(text) }
    }

    /// Those that were not written yet; `None`: none.
    fn take_new(&mut self) -> Option<Interned> {
        let new = std::mem::take(&mut self.new);
        (new != Interned::default()).then_some(new)
    }
}

/// The number of a text, which is noted where it is new.
fn number(known: &mut HashMap<String, u64>, text: &str, new: &mut Vec<Text>) -> u64 {
    if let Some(&number) = known.get(text) {
        return number;
    }
    let number = known.len() as u64 + 1;
    known.insert(text.to_owned(), number);
    new.push(Text { id: Some(number), text: Some(text.to_owned()) });
    number
}
