//! An archive of OTF2, the trace format of Score-P: for Vampir, Scalasca and ViTE. It is written by OTF2's own library ([`library`]).
//!
//! ```text
//!   replay ─→ Otf2Trace ─→ events by location and time (LineSorter) ─→ one location after the other ─→ traces/0.evt …
//!                └──→ regions, communicators, texts, threads ───────────────────────────────→ traces.def
//! ```
//!
//! Events of a location are written in the order of time, but a send is only known when its message is received. So events are sorted first.

mod comms;
mod definitions;
mod events;
#[expect(unsafe_code, reason = "OTF2 is a library in C; its functions are called here alone")]
pub mod library;
mod operations;
mod regions;
mod requests;
mod texts;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use lbprof_analysis::analyse::exported::{EventExport, ExportSelection};
use lbprof_analysis::codec;
use lbprof_analysis::model::code::region_state::Ns;
use lbprof_analysis::model::ranks::interval::TimeInterval;
use lbprof_analysis::model::replayed::replay_results::ReplayedThread;
use lbprof_analysis::model::replayed::waits::WaitState;
use lbprof_analysis::model::{Model, RegionIdx};
use lbprof_analysis::replay::{
    CancelledMessage, EndedRequest, MatchedMessage, ReplayObserver, RequestOutcome, StateInterval,
};
use lbprof_analysis::select::SelectionError;
use lbprof_collector::Activity;
use lbprof_collector::record::NONE;
use lbprof_report::rows::words::escape_name;

use self::comms::TraceComms;
use self::definitions::{TraceDefinitions, TraceRank};
use self::events::EventOrder;
use self::library::{
    ArchiveFacts, DefinitionWriter, EventWriter, Otf2Archive, Otf2Library, Ref, TraceEvent, WaitAttributes,
};
use self::regions::TraceRegions;
use self::requests::{HalfKnownSends, SendCompletion};
use self::texts::TraceTexts;
use crate::external_sort::LineSorter;
use crate::region_stack::{RegionStack, StackChange, region_chains};

/// Gathers the events of a part of a run.
#[derive(Default)]
pub struct Otf2Trace {
    events: LineSorter,
    ranks: Vec<TraceRank>,
    regions: TraceRegions,
    comms: TraceComms,
    sends: HalfKnownSends,
    texts: TraceTexts,
    call_sites: Vec<Ref>,
    chains: Vec<Vec<RegionIdx>>,
    threads: BTreeMap<u64, OpenLocation>,
    call: Option<OpenCall>,
    started_unix_s: u64,
    description: String,
    end: Ns,
}

#[derive(Default)]
struct OpenLocation {
    regions: RegionStack,
    /// The time of the event that came last, and its order.
    last: (Ns, EventOrder),
}

struct OpenCall {
    location: u64,
    end: Ns,
    region: Ref,
    collective: Option<TraceEvent>,
}

impl Otf2Trace {
    /// Returns an empty trace, which is sorted in files in `folder`.
    pub fn new(folder: PathBuf) -> Otf2Trace {
        Otf2Trace { events: LineSorter::new(folder), ..Otf2Trace::default() }
    }

    /// Writes the archive into the new folder `folder`, after all else.
    ///
    /// Errors: the first that there was.
    pub fn finish(mut self, library: &Otf2Library, folder: &Path) -> io::Result<()> {
        self.end_call();
        let open = self.threads.iter_mut().map(|(&location, open)| (location, open.regions.leave_all()));
        for (location, change) in open.collect::<Vec<_>>() {
            self.leave(location, &change);
        }
        let creator = format!("lbprof {}", env!("CARGO_PKG_VERSION"));
        let archive = Otf2Archive::create(library, folder, &ArchiveFacts { creator, description: self.description })?;
        let mut n_events: BTreeMap<u64, u64> = self.threads.keys().map(|&location| (location, 0)).collect();
        write_events(&archive, self.events, &mut n_events)?;
        archive.end_events(n_events.keys().copied())?;
        let definitions = TraceDefinitions {
            ranks: &self.ranks,
            regions: &self.regions.regions,
            comms: &self.comms.comms,
            n_events: &n_events,
        };
        let started_unix_ns = self.started_unix_s.saturating_mul(1_000_000_000);
        let out = DefinitionWriter::open(&archive)?;
        out.define_clock(self.end.max(0) as u64, started_unix_ns)?;
        definitions.write(self.texts, &out)?;
        archive.close()
    }

    /// Adds an event to a location. Events come in the order of time, except for the ones that are only known later.
    fn add(&mut self, location: u64, time: Ns, order: EventOrder, event: &TraceEvent) {
        self.end = self.end.max(time);
        let mut order = order;
        if order.is_in_order() {
            let last = &mut self.threads.entry(location).or_default().last;
            // An event does not go before an earlier one at the same time.
            order = if last.0 == time { order.max(last.1) } else { order };
            *last = (time, order);
        }
        self.events.add(TraceEvent::key(location, time, order), &codec::encode_value(event));
    }

    fn enter(&mut self, location: u64, region: RegionIdx, time: TimeInterval) {
        let wanted = self.chains.get(region as usize).map_or(&[][..], Vec::as_slice);
        let change = self.threads.entry(location).or_default().regions.move_to(wanted, time);
        self.leave(location, &change);
        for region in change.entered {
            let enter = TraceEvent::Enter { region, call_site: None, wait: None };
            self.add(location, time.begin, EventOrder::Begins, &enter);
        }
    }

    fn leave(&mut self, location: u64, change: &StackChange) {
        for &region in &change.left {
            self.add(location, change.left_at, EventOrder::Ends, &TraceEvent::Leave { region });
        }
    }

    /// Begins the call, or another interval that has a region of its own.
    fn begin_call(&mut self, state: &StateInterval, region: Ref) {
        let &StateInterval { thread, interval, site, .. } = state;
        let wait = state.wait.filter(|wait| wait.until > interval.begin).map(|wait| WaitAttributes {
            state: self.texts.number(wait.state.name()),
            waiting_ns: state.waiting().ns().max(0) as u64,
            source: wait.by,
        });
        let call_site = self.call_sites.get(site as usize).copied();
        let location = location_of(thread);
        self.add(location, interval.begin, EventOrder::Begins, &TraceEvent::Enter { region, call_site, wait });
        if state.facts.tested != NONE && state.kind.activity() == Some(Activity::PointToPoint) {
            let test = TraceEvent::TestRequest { request: state.facts.tested };
            self.add(location, interval.begin, EventOrder::Begins, &test);
        }
        let collective = self.collective(state);
        if collective.is_some() {
            self.add(location, interval.begin, EventOrder::Begins, &TraceEvent::BeginCollective);
        }
        self.call = Some(OpenCall { location, end: interval.end, region, collective });
    }

    fn collective(&self, state: &StateInterval) -> Option<TraceEvent> {
        let &StateInterval { thread, operation: number, facts, .. } = state;
        let operation = operations::collective_operation(number)?;
        let rank = self.ranks.get(thread.rank_idx as usize)?.rank;
        let root = operations::has_root(number).then_some(facts.peer);
        let root = self.comms.find_root(facts.comm, rank, root)?;
        let (comm, sent, received) = (facts.comm, facts.sent, facts.received);
        Some(TraceEvent::EndCollective { operation, comm, root, sent, received })
    }

    fn end_call(&mut self) {
        let Some(OpenCall { location, end, region, collective }) = self.call.take() else { return };
        if let Some(event) = &collective {
            self.add(location, end, EventOrder::Ends, event);
        }
        self.add(location, end, EventOrder::Ends, &TraceEvent::Leave { region });
    }

    fn location(&self, rank: u32, number: u32) -> Option<u64> {
        let place = self.ranks.binary_search_by_key(&rank, |known| known.rank).ok()?;
        Some(location_of(ReplayedThread { rank_idx: place as u32, number }))
    }
}

fn write_events(archive: &Otf2Archive, events: LineSorter, n_events: &mut BTreeMap<u64, u64>) -> io::Result<()> {
    archive.begin_events()?;
    let mut open: Option<(u64, EventWriter)> = None;
    events.finish(|key, bytes| {
        let (location, time) = TraceEvent::place(key);
        if open.as_ref().is_none_or(|&(current, _)| current != location) {
            if let Some((_, writer)) = open.take() {
                writer.close()?;
            }
            open = Some((location, EventWriter::open(archive, location)?));
        }
        *n_events.entry(location).or_default() += 1;
        let event = codec::decode_value(bytes).ok_or_else(|| io::Error::other("a temporary file has changed"))?;
        open.as_mut().map_or(Ok(()), |(_, writer)| writer.write(time, event))
    })?;
    if let Some((_, writer)) = open {
        writer.close()?;
    }
    // Readers want a file of each.
    for (&location, _) in n_events.iter().filter(|&(_, &n)| n == 0) {
        EventWriter::open(archive, location)?.close()?;
    }
    Ok(())
}

fn known_request(request: u32) -> Option<u32> {
    (request != NONE).then_some(request)
}

/// Returns the number of a thread's location: of a rank's first thread, its place.
fn location_of(thread: ReplayedThread) -> u64 {
    u64::from(thread.number) << 32 | u64::from(thread.rank_idx)
}

impl EventExport for Otf2Trace {
    fn on_start(&mut self, part: &ExportSelection) -> Result<(), SelectionError> {
        let model: &Model = part.model;
        self.regions = TraceRegions::new(model);
        self.comms = TraceComms::new(model);
        self.ranks =
            model.ranks.iter().map(|rank| TraceRank { rank: rank.rank, host: escape_name(&rank.host) }).collect();
        self.call_sites = part.places.iter().map(|place| self.texts.number(&escape_name(&place.label()))).collect();
        self.chains = region_chains(model);
        self.started_unix_s = model.facts.started_unix_s;
        self.description = escape_name(&model.facts.command.join(" "));
        // Each rank is there, also if it has no events.
        self.threads = (0..model.ranks.len() as u64).map(|location| (location, OpenLocation::default())).collect();
        Ok(())
    }
}

impl ReplayObserver for Otf2Trace {
    fn on_interval(&mut self, state: &StateInterval) {
        self.end_call();
        let &StateInterval { thread, interval, kind, operation, wait, .. } = state;
        // Outside of its window a rank is in no region.
        if wait.is_some_and(|wait| matches!(wait.state, WaitState::LateBegin | WaitState::EarlyEnd)) {
            return;
        }
        self.enter(location_of(thread), kind.region(), interval);
        let region = match kind.activity() {
            Some(Activity::Computation) => match kind.core_state() {
                Some(core_state) => self.regions.core_state(core_state),
                None => return,
            },
            None => self.regions.artificial("not recorded"),
            Some(Activity::Recorder) => self.regions.artificial("lbprof"),
            Some(_) if operation == 0 => return,
            Some(_) => self.regions.call(operation),
        };
        self.begin_call(state, region);
    }

    fn on_message(&mut self, message: &MatchedMessage) {
        let &MatchedMessage { from, to, from_thread, to_thread, sent, posted, received, bytes, tag, comm, .. } =
            message;
        // One of both may not be selected.
        let Some((sender, receiver)) = self.location(from, from_thread).zip(self.location(to, to_thread)) else {
            return;
        };
        let Some((comm_of_sender, dest)) = self.comms.find_peer(comm, from, to) else { return };
        let Some((comm_of_receiver, source)) = self.comms.find_peer(comm, to, from) else { return };
        let tag = tag as u32;
        let [send_request, request] = [message.send_request, message.request].map(known_request);
        let send = TraceEvent::Send { peer: dest, comm: comm_of_sender, tag, bytes, request: send_request };
        self.add(sender, sent.max(0), EventOrder::Sends, &send);
        if let Some(request) = send_request
            && let Some(SendCompletion { location, time }) = self.sends.receive((from, request, sent))
        {
            self.add(location, time, EventOrder::Completes, &TraceEvent::CompleteSend { request });
        }
        if let Some(request) = request {
            let location = self.location(to, message.posted_thread).unwrap_or(receiver);
            self.add(location, posted.max(0), EventOrder::Sends, &TraceEvent::StartReceive { request });
        }
        let in_call = self.call.as_ref().filter(|call| call.location == receiver).map(|call| call.end);
        let receive = TraceEvent::Receive { peer: source, comm: comm_of_receiver, tag, bytes, request };
        self.add(receiver, in_call.unwrap_or(received), EventOrder::Ends, &receive);
    }

    fn on_request_end(&mut self, ended: &EndedRequest) {
        let &EndedRequest { rank, started_thread, request, started, outcome } = ended;
        let Some(&OpenCall { location, end: time, .. }) = self.call.as_ref() else { return };
        let Some(starter) = self.location(rank, started_thread) else { return };
        let start = match outcome {
            RequestOutcome::Sent => {
                if self.sends.complete((rank, request, started), SendCompletion { location, time }).is_some() {
                    self.add(location, time, EventOrder::Completes, &TraceEvent::CompleteSend { request });
                }
                return;
            }
            RequestOutcome::CancelledReceive => TraceEvent::StartReceive { request },
            RequestOutcome::CancelledSend(CancelledMessage { to, bytes, tag, comm }) => {
                let Some((comm, peer)) = self.comms.find_peer(comm, rank, to) else { return };
                TraceEvent::Send { peer, comm, tag: tag as u32, bytes, request: Some(request) }
            }
        };
        self.add(starter, started.max(0), EventOrder::Sends, &start);
        self.add(location, time, EventOrder::Completes, &TraceEvent::CancelRequest { request });
    }
}
