//! The threads' steps in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lbprof_collector::record::NONE;
use lbprof_collector::{Activity, Operation};
use rustc_hash::FxHashMap;

use super::result::{Counts, Followed, ThreadOf};
use super::synchronised::Synchronised;
use super::thread::{Next, Pending, Started, Thread};
use crate::blocking::{Blocking, Causer, Causes, EndedBy, History, Part, WaitKey, WaitState, WaitSums};
use crate::critical_path::CriticalPath;
use crate::matching::{Channel, Channels, Entry, Gathering, Gatherings, MeetingId, Side, Transfer, TransferId};
use crate::model::Model;
use crate::open::Run;
use crate::pass::Progress;
use crate::replay::{Clocks, Condition, Noted, Question};
use crate::structure::{Placer, Structure};
use crate::survey::Survey;
use crate::timeline::{Batch, Deed, Ids, Kind, Meeting, Ns, Places, RankSteps, RegionTable, Role, Source, Step};

/// Stretches and causes of all histories together from which on old ones are forgotten, and how many each thread may have.
const MOST_STRETCHES: usize = 1 << 22;
const MOST_OF_A_THREAD: usize = 1 << 10;

/// Steps after which the histories' size is looked at.
const LOOK_AFTER: u64 = 1 << 14;

/// Batches of each rank that are read when nothing can go on, in search of what other threads of it did.
const READ_ON: usize = 16;

/// Follows the ranks of `run`, of which `survey`, `structure` and `model` were made, and replays it to answer `questions`.
pub fn follow(
    run: &Run,
    survey: &Survey,
    structure: &Structure,
    model: &Model,
    questions: Vec<Question>,
    progress: impl Fn(Progress) + Sync,
) -> Followed {
    let regions = RegionTable::new(model);
    let ids = Ids { communicators: &model.communicators, places: Places::new(&survey.sites, structure, &regions) };
    let conditions: Vec<Condition> = questions.iter().map(|question| question.condition(model)).collect();
    rayon::in_place_scope(|scope| {
        let open = |rank: &crate::model::RankModel| {
            let header = run.headers.iter().find(|header| header.rank == rank.rank)?;
            let clock = survey.rank(rank.rank)?.clock.clone()?;
            let zero = rank.begin_ns.saturating_sub((rank.begin_s * 1e9).round() as Ns);
            let placer = Placer::new(structure, &survey.sites, rank.rank);
            Some(RankSteps::new(ids, run.log(header).ok()?, clock, zero, placer))
        };
        let source = Source::new(scope, model.ranks.iter().map(open).collect());
        Engine::new(source, model, &conditions).run(questions, progress)
    })
}

/// Something that a call waits for.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// Who does it, and when.
    by: EndedBy,
    clocks: At,
    bytes: u64,
    /// Steps of the network until it is there.
    hops: u32,
    state: WaitState,
    /// The delay of the message behind it.
    delay: Option<Kind>,
    /// Whether the call can't have ended before: clocks that say so are wrong.
    certain: bool,
    /// Whether it was waited for, not only found.
    waits: bool,
}

/// The clocks of who does what is needed.
#[derive(Clone, Copy, Debug)]
enum At {
    /// Those noted.
    Noted(Noted),
    /// Those of a thread when it entered its last call.
    Entered(u32),
}

/// Bytes up to which all MPIs known send a message at once; larger ones may need both sides in MPI.
const SENT_AT_ONCE: u64 = 4096;

/// What is known of a rank, whatever its threads do.
#[derive(Default)]
struct Rank {
    /// What was started under requests, by their number.
    requests: FxHashMap<u32, Pending>,
    /// Its threads by number.
    threads: FxHashMap<u32, u32>,
    /// Whether records are missing: what follows can't be counted on to match.
    broken: bool,
    exhausted: bool,
}

struct Engine<'a, 'scope> {
    source: Source<'a, 'scope>,
    model: &'a Model,
    /// Places in the model by world rank.
    places: FxHashMap<u32, u32>,
    ranks: Vec<Rank>,
    threads: Vec<Thread>,
    /// Threads by when they go on; at the same time what begins is before what ends, which may need it.
    order: BinaryHeap<Reverse<(Next, u32)>>,
    channels: Channels,
    gatherings: Gatherings,
    /// How many members of a communicator will enter its collectives.
    expected: FxHashMap<u32, u32>,
    clocks: Clocks,
    histories: Vec<History>,
    synchronised: Synchronised,
    causes: Causes,
    path: CriticalPath,
    blocking: Blocking,
    counts: Counts,
    needs: Vec<Need>,
}

impl<'a, 'scope> Engine<'a, 'scope> {
    fn new(source: Source<'a, 'scope>, model: &'a Model, conditions: &[Condition]) -> Self {
        let places = model.ranks.iter().zip(0..).map(|(rank, at)| (rank.rank, at)).collect();
        let n_ranks = model.facts.n_ranks.max(model.ranks.last().map_or(0, |rank| rank.rank.saturating_add(1)));
        Engine {
            source,
            model,
            places,
            ranks: model.ranks.iter().map(|_| Rank::default()).collect(),
            threads: Vec::new(),
            order: BinaryHeap::new(),
            channels: Channels::default(),
            gatherings: Gatherings::default(),
            expected: FxHashMap::default(),
            clocks: Clocks::new(conditions),
            histories: Vec::new(),
            synchronised: Synchronised::new(&model.communicators, n_ranks),
            causes: Causes::default(),
            path: CriticalPath::default(),
            blocking: Blocking::default(),
            counts: Counts::default(),
            needs: Vec::new(),
        }
    }

    fn run(mut self, questions: Vec<Question>, progress: impl Fn(Progress)) -> Followed {
        for rank in 0..self.ranks.len() as u32 {
            let begin = ((self.model.ranks[rank as usize].begin_s) * 1e9).round() as Ns;
            let thread = self.add_thread(rank, 0, begin);
            self.begins_late(thread, begin);
            self.queue(thread);
        }
        let mut told = 0;
        loop {
            while let Some(Reverse((_, thread))) = self.order.pop() {
                let until = self.order.peek().map_or(Next::NEVER, |Reverse((next, _))| *next);
                self.threads[thread as usize].queued = false;
                self.go_on(thread, until);
                if self.counts.steps - told >= LOOK_AFTER {
                    progress(Progress::Records(self.counts.steps - told));
                    told = self.counts.steps;
                    self.forget();
                }
            }
            if !self.read_on() && !self.give_up() {
                break;
            }
        }
        progress(Progress::Records(self.counts.steps - told));
        self.finish(questions)
    }

    fn add_thread(&mut self, rank: u32, number: u32, begin: Ns) -> u32 {
        let thread = self.threads.len() as u32;
        let world = self.model.ranks.get(rank as usize).map_or(NONE, |rank| rank.rank);
        self.threads.push(Thread::new(rank, world, number, begin));
        self.ranks[rank as usize].threads.insert(number, thread);
        self.clocks.add_thread(rank, begin);
        self.histories.push(History::new(if number == 0 { 0 } else { begin }));
        thread
    }

    /// A rank's window begins behind that of the first.
    fn begins_late(&mut self, thread: u32, begin: Ns) {
        let kind = Kind::new(0, Activity::Management);
        let causes = [Part { thread, kind, ns: begin as f64 }];
        if begin > 0 {
            let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::LateBegin };
            self.blocking.add(key, WaitSums { count: 1, waiting: begin, delay: 0 }, &causes);
            self.histories[thread as usize].wait(begin, kind, None, &causes);
        }
    }

    /// Puts a thread where its next step belongs in the order of time, with what its rank's log has next where there is none.
    fn queue(&mut self, thread: u32) {
        let at = thread as usize;
        while self.threads[at].step().is_none() && self.threads[at].number == 0 && !self.threads[at].ended {
            let rank = self.threads[at].rank;
            if !self.read(rank) {
                self.threads[at].ended = true;
            }
        }
        let one = &mut self.threads[at];
        if let Some(next) = one.next()
            && !one.parked
            && !one.queued
        {
            one.queued = true;
            self.order.push(Reverse((next, thread)));
        }
    }

    /// Reads a rank's next batch, of whatever thread; whether there was one.
    fn read(&mut self, rank: u32) -> bool {
        let Some(batch) = self.source.next(rank as usize) else {
            self.ranks[rank as usize].exhausted = true;
            return false;
        };
        if batch.gap && !self.ranks[rank as usize].broken {
            self.ranks[rank as usize].broken = true;
            self.expected.clear();
        }
        self.give(rank, batch);
        true
    }

    fn give(&mut self, rank: u32, batch: Batch) {
        let number = batch.thread;
        let known = self.ranks[rank as usize].threads.get(&number).copied();
        let thread = known.unwrap_or_else(|| {
            let begin = batch.steps.first().map_or(0, |step| step.begin);
            self.add_thread(rank, number, begin)
        });
        self.threads[thread as usize].add(batch);
        if number != 0 {
            self.queue(thread);
        }
    }

    /// Does what a thread does until `until`, or until it waits for others to be followed.
    fn go_on(&mut self, thread: u32, until: Next) {
        loop {
            let one = &self.threads[thread as usize];
            match one.next() {
                Some(next) if next > until => break,
                Some(_) if one.in_call => {
                    if !self.end(thread) {
                        return;
                    }
                }
                Some(_) => self.begin(thread),
                None if one.number == 0 && !one.ended => break,
                None => return,
            }
        }
        self.queue(thread);
    }

    /// The thread computes up to its next call and enters it.
    fn begin(&mut self, thread: u32) {
        let at = thread as usize;
        let Some(&step) = self.threads[at].step() else { return };
        let begin = step.begin.saturating_add(self.threads[at].shift).max(self.threads[at].now);
        let computed = begin - self.threads[at].now;
        if computed > 0 {
            self.clocks.compute(thread, step.before, computed);
            self.histories[at].spend(begin, step.before);
        }
        self.threads[at].computed = computed;
        self.threads[at].now = begin;
        self.threads[at].begun = begin;
        self.clocks.enter(thread);
        self.counts.steps += 1;
        let mut ends = false;
        for i in 0..self.threads[at].deeds().len() {
            let deed = self.threads[at].deeds()[i];
            ends |= self.starts(thread, &step, &deed);
        }
        if ends {
            self.threads[at].in_call = true;
        } else {
            self.end_without(thread, &step);
        }
    }

    /// Starts a deed; whether the call's end matters to it.
    fn starts(&mut self, thread: u32, step: &Step, deed: &Deed) -> bool {
        let started = match deed.role {
            Role::Send | Role::StartSend => self.send(thread, step, deed),
            Role::Recv | Role::StartRecv => self.post(thread, step, deed),
            Role::Meet(meeting) | Role::StartMeet(meeting) => self.enter(thread, step, deed, meeting),
            Role::StartRecvAny => Started::Any(self.side(thread, step, 0)),
            Role::Done | Role::Found | Role::Cancelled | Role::Probe => Started::Nothing,
        };
        match deed.role {
            Role::StartSend | Role::StartRecv | Role::StartRecvAny | Role::StartMeet(_) => {
                self.request(thread, deed.request, started);
                false
            }
            _ => {
                self.threads[thread as usize].started.push(started);
                true
            }
        }
    }

    fn request(&mut self, thread: u32, request: u32, started: Started) {
        let rank = self.threads[thread as usize].rank;
        if request != NONE {
            let none = [Started::Nothing; 2];
            let [first, second] = self.ranks[rank as usize].requests.entry(request).or_insert(none);
            *(if matches!(first, Started::Nothing) { first } else { second }) = started;
        }
    }

    fn side(&mut self, thread: u32, step: &Step, bytes: u64) -> Side {
        let at = self.threads[thread as usize].begun;
        Side { thread, at, kind: step.kind, noted: self.clocks.note(thread), bytes }
    }

    /// The channel of a message to or from a rank that is followed.
    fn channel(&mut self, thread: u32, deed: &Deed, sends: bool) -> Option<Channel> {
        let own = &self.threads[thread as usize];
        let (rank, world) = (own.rank, own.world);
        let other = self.places.get(&deed.peer).copied();
        let broken = |place: u32| self.ranks.get(place as usize).is_none_or(|rank| rank.broken);
        if deed.comm == NONE || other.is_none() {
            *(if sends { &mut self.counts.lone_sends } else { &mut self.counts.lone_receives }) += 1;
            return None;
        }
        if broken(rank) || other.is_some_and(broken) {
            self.counts.behind_gaps += 1;
            return None;
        }
        let (from, to) = if sends { (world, deed.peer) } else { (deed.peer, world) };
        Some(Channel { comm: deed.comm, from, to, tag: deed.tag })
    }

    fn send(&mut self, thread: u32, step: &Step, deed: &Deed) -> Started {
        let Some(channel) = self.channel(thread, deed, true) else { return Started::Nothing };
        let side = self.side(thread, step, deed.bytes);
        let (id, woken) = self.channels.send(channel, side);
        woken.into_iter().for_each(|thread| self.wake(thread));
        Started::Transfer { id, sends: true }
    }

    fn post(&mut self, thread: u32, step: &Step, deed: &Deed) -> Started {
        let Some(channel) = self.channel(thread, deed, false) else { return Started::Nothing };
        let side = self.side(thread, step, 0);
        Started::Transfer { id: self.channels.post(channel, side), sends: false }
    }

    fn enter(&mut self, thread: u32, step: &Step, deed: &Deed, meeting: Meeting) -> Started {
        let own = &self.threads[thread as usize];
        let (world, at) = (own.world, own.begun);
        if deed.comm == NONE || deed.tag < 0 {
            self.counts.lone_collectives += 1;
            return Started::Nothing;
        }
        if self.ranks[own.rank as usize].broken {
            self.counts.behind_gaps += 1;
            return Started::Nothing;
        }
        // Persistent collectives of members that start one or several at once are the same.
        let several = step.operation == Operation::Startall as u16;
        let operation = if several { Operation::Start as u16 } else { step.operation };
        let member = self.member(deed.comm, world, meeting);
        let entry = Entry { rank: world, member, thread, at };
        let expected = self.expected(deed.comm);
        let clocks = &mut self.clocks;
        let entered = self.gatherings.enter(world, (deed.comm, deed.tag), || {
            Gathering::new(entry, operation, meeting, deed.comm, expected, clocks.note(thread))
        });
        let Some(id) = entered else { return Started::Nothing };
        let root = Some(deed.peer).filter(|&root| root != NONE);
        let gathering = self.gatherings.get_mut(id);
        gathering.add(entry, operation, root);
        self.clocks.note_later(gathering.noted, thread);
        if root == Some(world) && gathering.root_noted.is_none() {
            gathering.root_noted = Some(self.clocks.note(thread));
        }
        let woken = std::mem::take(&mut gathering.waiters);
        if gathering.entered == gathering.expected {
            self.counts.collectives += 1;
            self.counts.mixed_collectives += u64::from(gathering.mixed);
            if gathering.meeting == Meeting::All && !gathering.mixed {
                let (comm, last) = (gathering.comm, gathering.last.at);
                self.synchronised.all(comm, last);
            }
        }
        woken.into_iter().for_each(|thread| self.wake(thread));
        Started::Meeting(id)
    }

    /// A rank's number in a communicator; only where each waits for those before it does it matter.
    fn member(&self, comm: u32, world: u32, meeting: Meeting) -> u32 {
        let group = self.model.communicators.get(comm as usize).map(|comm| &comm.group);
        match (meeting, group) {
            (Meeting::Prefix, Some(group)) => group.iter().position(|rank| rank == world).map_or(NONE, |at| at as u32),
            _ => NONE,
        }
    }

    /// How many members of a communicator are followed and lack no records.
    fn expected(&mut self, comm: u32) -> u32 {
        let (ranks, places) = (&self.ranks, &self.places);
        let follows =
            |world: &u32| places.get(world).and_then(|&at| ranks.get(at as usize)).is_some_and(|rank| !rank.broken);
        let members = self.synchronised.members(comm);
        *self.expected.entry(comm).or_insert_with(|| match members {
            Some(members) => members.iter().filter(|world| follows(world)).count() as u32,
            None => places.keys().filter(|world| follows(world)).count() as u32,
        })
    }

    fn wake(&mut self, thread: u32) {
        let one = &mut self.threads[thread as usize];
        if one.parked {
            one.parked = false;
            self.queue(thread);
        }
    }

    /// The call ends that does nothing with others at its end.
    fn end_without(&mut self, thread: u32, step: &Step) {
        let at = thread as usize;
        let one = &mut self.threads[at];
        let end = step.end.max(one.begun);
        if end > one.begun {
            self.clocks.communicate(thread, end - one.begun);
            self.histories[at].spend(end, step.kind);
        }
        one.now = end;
        one.shift = end - step.end;
        one.advance();
    }

    /// The thread's call ends, unless others have to be followed first.
    fn end(&mut self, thread: u32) -> bool {
        let at = thread as usize;
        let Some(&step) = self.threads[at].step() else { return true };
        self.needs.clear();
        for i in 0..self.threads[at].deeds().len() {
            let deed = self.threads[at].deeds()[i];
            if !self.needs_of(thread, &step, &deed, i) {
                self.threads[at].parked = true;
                return false;
            }
        }
        let begin = self.threads[at].begun;
        let earliest = step.end.max(begin);
        let certain = self.needs.iter().filter(|need| need.certain).map(|need| need.by.at).max().unwrap_or(begin);
        if certain > earliest {
            self.counts.violations += 1;
            self.counts.largest_violation = self.counts.largest_violation.max(certain - earliest);
        }
        let end = earliest.max(certain);
        self.needs_progress((begin, end));
        self.waits(thread, &step, (begin, end));
        for i in 0..self.threads[at].deeds().len() {
            let deed = self.threads[at].deeds()[i];
            self.is_over(thread, &deed, i, (begin, end));
        }
        let one = &mut self.threads[at];
        one.now = end;
        one.shift = end - step.end;
        one.advance();
        true
    }

    /// Finds what a deed needs; `false`: others have to be followed first.
    fn needs_of(&mut self, thread: u32, step: &Step, deed: &Deed, i: usize) -> bool {
        let waits = deed.role != Role::Found;
        match deed.role {
            Role::Cancelled => true,
            Role::Probe => self.needs_any(thread, deed),
            Role::Done | Role::Found => {
                let rank = self.threads[thread as usize].rank as usize;
                let Some(mut pending) = self.ranks[rank].requests.get(&deed.request).copied() else { return true };
                if pending.iter().any(|started| matches!(started, Started::Any(_))) {
                    pending = pending.map(|started| self.find_what_any_received(thread, deed, started));
                    self.ranks[rank].requests.insert(deed.request, pending);
                }
                pending.into_iter().all(|started| self.needs_of_started(thread, step, started, waits))
            }
            _ => {
                let started = self.threads[thread as usize].started.get(i).copied();
                started.is_none_or(|started| self.needs_of_started(thread, step, started, waits))
            }
        }
    }

    /// A receive from any source has received: now it is known from whom.
    fn find_what_any_received(&mut self, thread: u32, deed: &Deed, started: Started) -> Started {
        let Started::Any(side) = started else { return started };
        match self.channel(thread, deed, false) {
            Some(channel) => Started::Transfer { id: self.channels.post(channel, side), sends: false },
            None => Started::Nothing,
        }
    }

    fn needs_of_started(&mut self, thread: u32, step: &Step, started: Started, waits: bool) -> bool {
        match started {
            Started::Transfer { id, sends: true } => {
                self.needs_receiver(thread, step, id, waits);
                true
            }
            Started::Transfer { id, sends: false } => self.needs_sender(thread, id, waits),
            Started::Meeting(id) => self.needs_members(thread, step, id, waits),
            Started::Any(_) | Started::Nothing => true,
        }
    }

    /// A send that ended behind the post of its receive, and began before it, waited for it.
    fn needs_receiver(&mut self, thread: u32, step: &Step, id: TransferId, waits: bool) {
        let one = &self.threads[thread as usize];
        let Some(posted) = self.channels.get(id).posted else { return };
        if posted.at > one.begun && posted.at <= step.end.saturating_add(one.shift) {
            let bytes = self.channels.get(id).sent.map_or(0, |sent| sent.bytes);
            self.needs.push(Need {
                by: EndedBy { thread: posted.thread, at: posted.at },
                clocks: At::Noted(posted.noted),
                bytes,
                hops: 1,
                state: WaitState::LateReceiver,
                delay: Some(Kind::delay(posted.kind.region())),
                certain: false,
                waits,
            });
        }
    }

    fn needs_sender(&mut self, thread: u32, id: TransferId, waits: bool) -> bool {
        let gives_up = self.threads[thread as usize].gives_up;
        let transfer = self.channels.get_mut(id);
        match transfer.sent {
            Some(sent) => {
                self.needs.push(needs_message(&sent, waits));
                true
            }
            None if gives_up => true,
            None => {
                transfer.set_waiter(thread);
                false
            }
        }
    }

    /// A probe needs the first message that nobody receives yet.
    fn needs_any(&mut self, thread: u32, deed: &Deed) -> bool {
        let Some(channel) = self.channel(thread, deed, false) else { return true };
        match self.channels.peek(channel) {
            Some(sent) => {
                self.needs.push(needs_message(&sent, true));
                true
            }
            None if self.threads[thread as usize].gives_up => true,
            None => {
                self.channels.wait_for_any(channel, thread);
                false
            }
        }
    }

    /// A large message moves while both sides are in MPI. Where the other side was outside, and the call ended when it had come back, it
    /// was waited for until then.
    fn needs_progress(&mut self, (begin, end): (Ns, Ns)) {
        for need in self.needs.iter_mut().filter(|need| need.delay.is_some() && need.bytes > SENT_AT_ONCE) {
            let Some(other) = self.threads.get(need.by.thread as usize) else { continue };
            let since = need.by.at.max(begin);
            if other.begun > since && other.begun <= end && 2 * other.computed >= other.begun - since {
                need.by.at = other.begun;
                need.clocks = At::Entered(need.by.thread);
            }
        }
    }

    fn needs_members(&mut self, thread: u32, step: &Step, id: MeetingId, waits: bool) -> bool {
        let one = &self.threads[thread as usize];
        let (world, gives_up, ends) = (one.world, one.gives_up, step.end.saturating_add(one.shift));
        let gathering = self.gatherings.get(id);
        if gathering.mixed {
            return true;
        }
        let complete = gathering.entered >= gathering.expected;
        let certain = synchronises(gathering.operation);
        let is_root = gathering.root == Some(world);
        let own = gathering.entries.iter().find(|entry| entry.rank == world).map_or(NONE, |entry| entry.member);
        let (needed, there) = match gathering.meeting {
            Meeting::All => (Some(gathering.last), complete),
            Meeting::FromRoot if is_root => return true,
            Meeting::FromRoot => {
                let root = gathering.entries.iter().find(|entry| Some(entry.rank) == gathering.root);
                (root.copied(), root.is_some() || gathering.root.is_none_or(|root| !self.places.contains_key(&root)))
            }
            Meeting::ToRoot if !is_root => return true,
            Meeting::ToRoot => (latest(&gathering.entries, |entry| entry.rank != world), complete),
            Meeting::Prefix => {
                let before = |entry: &Entry| entry.member < own;
                let n = gathering.entries.iter().filter(|entry| before(entry)).count() as u32;
                (latest(&gathering.entries, before), complete || n >= own)
            }
        };
        if !there {
            // What did not need the others may have ended before they came.
            if gives_up || !certain {
                return true;
            }
            self.gatherings.get_mut(id).waiters.push(thread);
            return false;
        }
        let noted = match gathering.meeting {
            Meeting::FromRoot => gathering.root_noted.unwrap_or(gathering.noted),
            _ => gathering.noted,
        };
        let late = needed.filter(|needed| needed.thread != thread && (certain || needed.at <= ends));
        if let Some(needed) = late {
            let hops = gathering.expected.max(2).next_power_of_two().trailing_zeros();
            self.needs.push(Need {
                by: EndedBy { thread: needed.thread, at: needed.at },
                clocks: At::Noted(noted),
                bytes: 0,
                hops,
                state: state_of(gathering, step.kind),
                delay: None,
                certain,
                waits,
            });
        }
        true
    }

    /// Sums up how long the call waited, for whom and why, and how long it did not.
    fn waits(&mut self, thread: u32, step: &Step, (begin, end): (Ns, Ns)) {
        let at = thread as usize;
        let last = self.needs.iter().map(|need| need.by.at).max().unwrap_or(begin).clamp(begin, end);
        for need in &self.needs {
            match need.clocks {
                At::Noted(noted) => self.clocks.wait_for(thread, noted, need.bytes, need.hops),
                At::Entered(other) => self.clocks.wait_for_entry(thread, other, need.bytes),
            }
        }
        self.clocks.communicate(thread, end - last);
        let waited = self.waited(thread, step, (begin, end));
        if let Some((until, need)) = waited {
            self.blame(thread, step, (begin, until, end), need);
        }
        self.histories[at].spend(end, step.kind);
    }

    /// Until when the call waited, and for whom last; keeps those needs that it waited for. `None`: it did not wait.
    fn waited(&mut self, thread: u32, step: &Step, (begin, end): (Ns, Ns)) -> Option<(Ns, Need)> {
        let some = step.operation == Operation::Waitsome as u16;
        if some
            && (self.needs.len() < self.threads[thread as usize].deeds().len()
                || self.needs.iter().any(|need| need.by.at <= begin))
        {
            // One of those that it completed was there already.
            return None;
        }
        self.needs.retain(|need| need.waits && need.by.at > begin && need.by.thread != thread);
        let need = match some {
            true => *self.needs.iter().min_by_key(|need| need.by.at)?,
            false => *self.needs.iter().max_by_key(|need| need.by.at)?,
        };
        if some {
            self.needs.retain(|one| one.by == need.by);
            self.needs.truncate(1);
        }
        Some((if need.delay.is_some() { end } else { need.by.at.min(end) }, need))
    }

    /// Finds the causes of a wait from `begin` to `until`, of a call that ends at `end`, that `need` ended last.
    fn blame(&mut self, thread: u32, step: &Step, (begin, until, end): (Ns, Ns, Ns), need: Need) {
        let world = self.threads[thread as usize].world;
        let all: f64 = self.needs.iter().map(|need| (need.by.at.min(end) - begin) as f64).sum();
        let causers: Vec<Causer> = self
            .needs
            .iter()
            .map(|one| {
                let other = self.threads.get(one.by.thread as usize).map_or(NONE, |other| other.world);
                Causer {
                    by: one.by,
                    since: self.synchronised.last((thread, world), (one.by.thread, other), one.by.at).min(begin),
                    share: (one.by.at.min(end) - begin) as f64 / all,
                    // Messages of the others may have come long before.
                    delay: one.delay.filter(|_| one.by.at == need.by.at),
                }
            })
            .collect();
        let causes = self.causes.of(&self.histories, thread, (begin, until), &causers);
        let key = WaitKey { thread, kind: step.kind, site: step.site, operation: step.operation, state: need.state };
        let waiting = need.by.at.min(until) - begin;
        let sums = WaitSums { count: 1, waiting, delay: until - begin - waiting };
        self.blocking.add(key, sums, causes);
        self.histories[thread as usize].wait(until, step.kind, Some(need.by), causes);
    }

    /// A deed's part of the call is over.
    fn is_over(&mut self, thread: u32, deed: &Deed, i: usize, (begin, end): (Ns, Ns)) {
        match deed.role {
            Role::Send | Role::Recv | Role::Meet(_) => {
                let started = self.threads[thread as usize].started.get(i).copied();
                started.into_iter().for_each(|started| self.started_is_over(thread, deed, started, (begin, end)));
            }
            Role::Done | Role::Found | Role::Cancelled => {
                let rank = self.threads[thread as usize].rank as usize;
                for started in self.ranks[rank].requests.remove(&deed.request).into_iter().flatten() {
                    if let (Role::Cancelled, Started::Transfer { id, sends: false }) = (deed.role, started)
                        && let Some(channel) = self.channel(thread, deed, false)
                    {
                        self.channels.cancel_receive(channel, id);
                    }
                    self.started_is_over(thread, deed, started, (begin, end));
                }
            }
            _ => {}
        }
    }

    fn started_is_over(&mut self, thread: u32, deed: &Deed, started: Started, (begin, end): (Ns, Ns)) {
        match started {
            Started::Transfer { id, sends } => {
                let &Transfer { sent, posted, .. } = self.channels.get(id);
                if let (false, Some(sent)) = (sends, sent) {
                    self.counts.messages += 1;
                    self.counts.sizes_differ += u64::from(sent.bytes != deed.bytes);
                    self.synchronised.pair(thread, sent.thread, end);
                }
                if let (true, Some(posted)) = (sends, posted.filter(|posted| posted.at > begin && posted.at <= end)) {
                    self.synchronised.pair(thread, posted.thread, end);
                }
                if let Some((sent, posted)) = self.channels.end(id) {
                    sent.into_iter().chain(posted).for_each(|side| self.clocks.forget(side.noted));
                }
            }
            Started::Meeting(id) => {
                self.meets(thread, id, begin);
                if let Some((noted, root)) = self.gatherings.leave(id) {
                    self.clocks.forget(noted);
                    root.into_iter().for_each(|root| self.clocks.forget(root));
                }
            }
            Started::Any(side) => self.clocks.forget(side.noted),
            Started::Nothing => {}
        }
    }

    /// A collective with a root synchronises the root with each of the others.
    fn meets(&mut self, thread: u32, id: MeetingId, begin: Ns) {
        let world = self.threads[thread as usize].world;
        let gathering = self.gatherings.get(id);
        let is_root = gathering.root == Some(world);
        let with = |entry: &&Entry| match gathering.meeting {
            Meeting::All => false,
            Meeting::FromRoot => !is_root && Some(entry.rank) == gathering.root,
            Meeting::ToRoot => is_root && entry.rank != world,
            Meeting::Prefix => entry.rank != world && entry.at <= begin.max(gathering.last.at),
        };
        for entry in gathering.entries.iter().filter(with) {
            self.synchronised.pair(thread, entry.thread, entry.at.max(begin));
        }
    }

    /// Where nothing can go on: reads on, for other threads of the ranks may have done what is waited for. Whether that helped.
    fn read_on(&mut self) -> bool {
        if !self.threads.iter().any(|thread| thread.parked) {
            return false;
        }
        for _ in 0..READ_ON {
            for rank in 0..self.ranks.len() as u32 {
                let has_others = self.model.ranks[rank as usize].other_threads > 0;
                if has_others && !self.ranks[rank as usize].exhausted {
                    self.read(rank);
                }
            }
            if !self.order.is_empty() {
                return true;
            }
        }
        false
    }

    /// Lets the first thread that waits for others go on without: what it waits for is not known. Whether there was one.
    fn give_up(&mut self) -> bool {
        let parked = (0..).zip(&self.threads).filter(|(_, thread)| thread.parked);
        let Some((thread, _)) = parked.min_by_key(|(_, thread)| thread.next()) else { return false };
        self.threads[thread as usize].gives_up = true;
        self.wake(thread);
        true
    }

    /// Forgets old history where there is too much of it.
    fn forget(&mut self) {
        let all: usize = self.histories.iter().map(History::size).sum();
        let most = MOST_STRETCHES.max(MOST_OF_A_THREAD * self.histories.len());
        if all < most {
            return;
        }
        let now = self.threads.iter().filter(|thread| !thread.ended).map(|thread| thread.now).min().unwrap_or(0);
        let begin = self.histories.iter().map(History::begin).min().unwrap_or(0);
        let middle = begin + (now - begin).max(0) / 2;
        self.path.sum_up(&self.histories, middle);
        self.histories.iter_mut().for_each(|history| history.forget_before(middle));
    }

    fn finish(mut self, questions: Vec<Question>) -> Followed {
        let firsts: Vec<u32> =
            (0..).zip(&self.threads).filter(|(_, thread)| thread.number == 0).map(|(at, _)| at).collect();
        let last = firsts.iter().copied().max_by_key(|&at| (self.threads[at as usize].now, Reverse(at)));
        let elapsed = last.map_or(0, |at| self.threads[at as usize].now);
        let critical_path = last.map_or_else(Vec::new, |last| self.path.to(&self.histories, last, elapsed));
        for &thread in firsts.iter().filter(|&&thread| Some(thread) != last) {
            self.ends_early(thread, last.unwrap_or(thread), elapsed);
        }
        let (sends, receives) = self.channels.left();
        self.counts.lone_sends += sends;
        self.counts.lone_receives += receives;
        self.counts.lone_collectives += self.gatherings.left();
        Followed {
            threads: self.threads.iter().map(|one| ThreadOf { rank: one.rank, number: one.number }).collect(),
            blocking: self.blocking,
            replays: questions.into_iter().zip(self.clocks.times_s(firsts.into_iter())).collect(),
            critical_path,
            elapsed,
            counts: self.counts,
        }
    }

    /// A rank's window ends before that of the last.
    fn ends_early(&mut self, thread: u32, last: u32, end: Ns) {
        let begin = self.threads[thread as usize].now;
        if begin >= end {
            return;
        }
        let worlds = [thread, last].map(|one| (one, self.threads[one as usize].world));
        let since = self.synchronised.last(worlds[0], worlds[1], end).min(begin);
        let by = EndedBy { thread: last, at: end };
        let causes =
            self.causes.of(&self.histories, thread, (begin, end), &[Causer { by, since, share: 1.0, delay: None }]);
        let kind = Kind::new(0, Activity::Management);
        let key = WaitKey { thread, kind, site: NONE, operation: 0, state: WaitState::EarlyEnd };
        self.blocking.add(key, WaitSums { count: 1, waiting: end - begin, delay: 0 }, causes);
    }
}

fn needs_message(sent: &Side, waits: bool) -> Need {
    Need {
        by: EndedBy { thread: sent.thread, at: sent.at },
        clocks: At::Noted(sent.noted),
        bytes: sent.bytes,
        hops: 1,
        state: WaitState::LateSender,
        delay: Some(Kind::delay(sent.kind.region())),
        certain: true,
        waits,
    }
}

fn latest(entries: &[Entry], which: impl Fn(&Entry) -> bool) -> Option<Entry> {
    entries.iter().filter(|entry| which(entry)).max_by_key(|entry| entry.at).copied()
}

/// Whether no member can end such a call before those that it waits for have entered it, whatever it transfers.
fn synchronises(operation: u16) -> bool {
    const ALWAYS: [Operation; 6] = [
        Operation::Barrier,
        Operation::Ibarrier,
        Operation::Barrier_init,
        Operation::Allreduce,
        Operation::Iallreduce,
        Operation::Allreduce_init,
    ];
    ALWAYS.iter().any(|&one| one as u16 == operation)
}

/// Why a call of a kind waits in `gathering`; what a persistent one is only the kind tells.
fn state_of(gathering: &Gathering, kind: Kind) -> WaitState {
    let is_barrier = [Operation::Barrier, Operation::Ibarrier].iter().any(|&one| one as u16 == gathering.operation);
    let is_started = gathering.operation == Operation::Start as u16;
    let is_barrier = is_barrier || is_started && kind.activity() == Some(Activity::Synchronization);
    let activity = Operation::from_number(gathering.operation).map(Operation::activity);
    match gathering.meeting {
        Meeting::All if is_barrier => WaitState::Barrier,
        Meeting::All if matches!(activity, Some(Activity::OneSided | Activity::Io)) => WaitState::Epoch,
        Meeting::All => WaitState::AllToAll,
        Meeting::FromRoot => WaitState::ForRoot,
        Meeting::ToRoot => WaitState::AtRoot,
        Meeting::Prefix => WaitState::Prefix,
    }
}
