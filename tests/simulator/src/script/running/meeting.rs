//! Collectives: which calls of which ranks meet, and when each is complete.

use super::state::{Done, Entry, Meeting, Stream, Window};
use super::world::World;
use crate::script::error::ScriptError;
use crate::script::program::Comm;
use crate::script::step::{Collective, On, Shape};
use lbprof_collector::operation::Operation;

impl<'s> World<'s> {
    pub fn enter(
        &mut self,
        rank: usize,
        collective: &'s Collective,
        prepared: Option<Stream>,
    ) -> Result<usize, ScriptError> {
        let (mut stream, comm) = match &collective.on {
            On::Comm(comm) | On::NewWindow(comm, _) => (Stream::Comm(*comm), *comm),
            On::Window(name, _) => match self.ranks[rank].windows.get(name.as_str()) {
                Some(window) => (window.stream, window.comm),
                None => return Err(self.wrong(rank, format!("there is no window `{name}`"))),
            },
        };
        stream = prepared.unwrap_or(stream);
        let number = self.next_number(rank, stream);
        if let On::NewWindow(_, name) = &collective.on {
            let windows = &mut self.ranks[rank].windows;
            let id = windows.len() as u32;
            windows.insert(name, Window { id, comm, stream: Stream::Window(comm, number) });
        }
        let pending = self.start_pending(rank, None);
        self.join(rank, collective, comm, (stream, number), pending)?;
        Ok(pending)
    }

    pub fn next_number(&mut self, rank: usize, stream: Stream) -> u32 {
        let next = self.ranks[rank].begun.entry(stream).or_default();
        *next += 1;
        *next - 1
    }

    fn join(
        &mut self,
        rank: usize,
        collective: &Collective,
        comm: usize,
        key: (Stream, u32),
        pending: usize,
    ) -> Result<(), ScriptError> {
        let (at, own) = (self.ranks[rank].now, self.rank_in(comm, rank) as usize);
        let members = &self.script.comms[comm];
        let size = members.group.len();
        let wait = match collective.shape {
            Shape::Neighbours => self.network.transfer_ns(collective.bytes),
            _ => self.latency,
        };
        let meeting = self.meetings.entry(key).or_insert_with(|| Meeting {
            operation: collective.operation,
            shape: collective.shape,
            root: collective.root as usize,
            entries: vec![None; size],
            missing: size,
            first: rank,
        });
        if meeting.operation != collective.operation || meeting.root != collective.root as usize {
            let name = |operation: Operation, root: usize| match meeting.shape {
                Shape::FromRoot | Shape::ToRoot => format!("{} with root {root}", operation.name()),
                Shape::All | Shape::Prefix | Shape::Neighbours => operation.name().to_owned(),
            };
            let (this, that) =
                (name(collective.operation, collective.root as usize), name(meeting.operation, meeting.root));
            let what = format!(
                "calls {this} where rank {} called {that} on `{}`",
                meeting.first, self.script.comms[comm].name
            );
            return Err(self.wrong(rank, what));
        }
        meeting.entries[own] = Some(Entry { at, rank, pending });
        meeting.missing -= 1;
        let done = meeting.completed_by(own, wait, members);
        if meeting.missing == 0 {
            self.meetings.remove(&key);
        }
        for (pending, done) in done {
            self.complete(pending, done);
        }
        Ok(())
    }
}

impl Meeting {
    fn completed_by(&self, own: usize, latency: u64, comm: &Comm) -> Vec<(usize, Done)> {
        let n = self.entries.len();
        match self.shape {
            Shape::All if self.missing > 0 => Vec::new(),
            Shape::All => {
                let last = self.last(0..n);
                let wait = if n > 1 { latency } else { 0 };
                (0..n).filter_map(|i| self.after(i, last, wait)).collect()
            }
            Shape::FromRoot => {
                let root = self.entries[self.root];
                let others = if own == self.root { 0..n } else { own..own + 1 };
                others
                    .filter_map(|i| if i == self.root { self.alone(i) } else { self.after(i, root, latency) })
                    .collect()
            }
            Shape::ToRoot => {
                let mut done: Vec<_> = if own == self.root { None } else { self.alone(own) }.into_iter().collect();
                if self.missing == 0 {
                    let last = self.last((0..n).filter(|&i| i != self.root));
                    done.extend(if n == 1 { self.alone(0) } else { self.after(self.root, last, latency) });
                }
                done
            }
            Shape::Prefix => {
                // Those before `own` lack none that it could complete; those after the first gap wait on.
                let entered = self.entries.iter().take_while(|entry| entry.is_some()).count();
                let completed = if own < entered { own..entered } else { 0..0 };
                completed
                    .filter_map(|i| if i == 0 { self.alone(i) } else { self.after(i, self.last(0..i), latency) })
                    .collect()
            }
            Shape::Neighbours => {
                let mut concerned: Vec<_> = comm.destinations(own as u32).chain([own as u32]).collect();
                concerned.sort_unstable();
                concerned.dedup();
                concerned.into_iter().filter_map(|i| self.after_sources(i as usize, latency, comm)).collect()
            }
        }
    }

    fn after_sources(&self, i: usize, transfer: u64, comm: &Comm) -> Option<(usize, Done)> {
        let sources = || comm.sources(i as u32).map(|source| source as usize);
        let all = sources().all(|source| self.entries[source].is_some());
        match self.last(sources()) {
            None if all => self.alone(i),
            last => self.after(i, last.filter(|_| all), transfer),
        }
    }

    /// The last entry of these; of several at once, that of the lowest rank.
    fn last(&self, ranks: impl Iterator<Item = usize>) -> Option<Entry> {
        let entries = ranks.filter_map(|i| self.entries[i]);
        entries.reduce(|last, next| if (next.at, last.rank) > (last.at, next.rank) { next } else { last })
    }

    fn after(&self, i: usize, other: Option<Entry>, latency: u64) -> Option<(usize, Done)> {
        let (own, other) = (self.entries[i]?, other?);
        let at = own.at.max(other.at + latency);
        Some((own.pending, Done { at, by: other.rank as u32, did: other.at }))
    }

    fn alone(&self, i: usize) -> Option<(usize, Done)> {
        let own = self.entries[i]?;
        Some((own.pending, Done { at: own.at, by: own.rank as u32, did: own.at }))
    }
}
