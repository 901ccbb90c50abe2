//! Signals between ranks: a rank has entered a neighbourhood collective (MPI-4.1 §8.6), exposed its RMA window, or completed its access to the
//! window of another rank (§12.5.2).
//!
//! ```text
//!   a sends:     1   2   3
//!   b awaits:    1   2   3   4          the n-th signal that b awaits is the n-th that a sent to it
//!                └───┘ over, forgotten
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::free_places::put_in_free_place;
use crate::model::code::region_state::Ns;
use crate::replay::what_if::NotedClocks;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalKind {
    Entered,
    Posted,
    Completed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalRoute {
    pub comm: u32,
    /// 0 the communicator itself, else an RMA window.
    pub on: i32,
    /// World rank that signals.
    pub from: u32,
    /// World rank that awaits it.
    pub to: u32,
    pub signal: SignalKind,
}

#[derive(Clone, Copy, Debug)]
pub struct SentSignal {
    pub thread: u32,
    pub at: Ns,
    pub noted: NotedClocks,
}

#[derive(Clone, Debug)]
pub struct AwaitedSignals {
    /// The routes, and the number of the signal on each.
    pub routes: Vec<(SignalRoute, u64)>,
    pub signal: SignalKind,
    /// True if the call cannot end before all were sent.
    pub certain: bool,
    pub bytes: u64,
}

/// [`AwaitedSignals`] that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AwaitedId(u32);

#[derive(Clone, Copy, Debug)]
enum SignalSlot {
    /// Awaited before it was sent.
    Awaited,
    Sent(SentSignal),
    /// The waiting call is over, maybe before the signal was sent.
    Over,
}

#[derive(Debug, Default)]
struct SignalQueue {
    /// Number of the first of `slots`.
    first: u64,
    slots: VecDeque<SignalSlot>,
    n_sent: u64,
    n_awaited: u64,
    /// Threads that cannot go on before more is sent.
    waiters: Vec<u32>,
}

impl SignalQueue {
    /// Returns the slot of a number, or `None` if the signal is over.
    fn slot(&mut self, number: u64) -> Option<&mut SignalSlot> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        if self.slots.len() <= at {
            self.slots.resize(at + 1, SignalSlot::Awaited);
        }
        self.slots.get_mut(at)
    }

    /// Returns whether all signals were sent and awaited, and none is needed any more.
    fn is_empty(&self) -> bool {
        self.n_sent == self.n_awaited && self.first == self.n_sent
    }

    fn drop_over(&mut self) {
        while self.first < self.n_sent && matches!(self.slots.front(), Some(SignalSlot::Over)) {
            self.slots.pop_front();
            self.first += 1;
        }
    }
}

/// Minimum number of routes at which empty ones are dropped.
const FEWEST: usize = 1 << 12;

/// Signals that are sent and not awaited, or awaited and not over.
#[derive(Debug, Default)]
pub struct OpenSignals {
    routes: FxHashMap<SignalRoute, SignalQueue>,
    awaited: Vec<AwaitedSignals>,
    free: Vec<u32>,
    /// Number of routes from which on the empty ones are dropped.
    sweep_at: usize,
}

impl OpenSignals {
    /// Adds a signal. Returns the threads that waited for it, and the note of its clocks if no call needs it any more.
    pub fn send(&mut self, route: SignalRoute, sent: SentSignal) -> (Vec<u32>, Option<NotedClocks>) {
        self.sweep();
        let queue = self.routes.entry(route).or_default();
        let number = queue.n_sent;
        queue.n_sent += 1;
        let unawaited = match queue.slot(number) {
            Some(slot @ SignalSlot::Awaited) => {
                *slot = SignalSlot::Sent(sent);
                None
            }
            _ => Some(sent.noted),
        };
        queue.drop_over();
        (std::mem::take(&mut queue.waiters), unawaited)
    }

    pub fn expect_from(
        &mut self,
        routes: impl Iterator<Item = SignalRoute>,
        signal: SignalKind,
        certain: bool,
        bytes: u64,
    ) -> AwaitedId {
        self.sweep();
        let routes = routes.map(|route| {
            let queue = self.routes.entry(route).or_default();
            queue.n_awaited += 1;
            (route, queue.n_awaited - 1)
        });
        let awaited = AwaitedSignals { routes: routes.collect(), signal, certain, bytes };
        AwaitedId(put_in_free_place(&mut self.awaited, &mut self.free, awaited))
    }

    pub fn awaited(&self, id: AwaitedId) -> &AwaitedSignals {
        &self.awaited[id.0 as usize]
    }

    pub fn sent(&self, route: &SignalRoute, number: u64) -> Option<SentSignal> {
        let queue = self.routes.get(route)?;
        let slot = queue.slots.get(usize::try_from(number.checked_sub(queue.first)?).ok()?)?;
        if let SignalSlot::Sent(sent) = slot { Some(*sent) } else { None }
    }

    pub fn wait(&mut self, route: &SignalRoute, thread: u32) {
        if let Some(queue) = self.routes.get_mut(route) {
            queue.waiters.push(thread);
        }
    }

    /// Ends the wait of a call. Returns the signals, or `None` for each that was not sent.
    pub fn end(&mut self, id: AwaitedId) -> Vec<Option<SentSignal>> {
        let Some(awaited) = self.awaited.get_mut(id.0 as usize) else { return Vec::new() };
        let routes = std::mem::take(&mut awaited.routes);
        self.free.push(id.0);
        routes
            .into_iter()
            .map(|(route, number)| {
                let queue = self.routes.get_mut(&route)?;
                let was = std::mem::replace(queue.slot(number)?, SignalSlot::Over);
                queue.drop_over();
                if let SignalSlot::Sent(sent) = was { Some(sent) } else { None }
            })
            .collect()
    }

    /// Returns the numbers of awaited signals that were never sent: in neighbourhood collectives, and in epochs.
    pub fn left(&self) -> (u64, u64) {
        let (mut neighbours, mut epochs) = (0, 0);
        for (route, queue) in &self.routes {
            let all = if route.signal == SignalKind::Entered { &mut neighbours } else { &mut epochs };
            *all += queue.n_awaited.saturating_sub(queue.n_sent);
        }
        (neighbours, epochs)
    }

    pub fn is_empty(&self) -> bool {
        self.free.len() == self.awaited.len() && self.routes.values().all(SignalQueue::is_empty)
    }

    /// Drops empty routes. Their numbers start again at 0.
    fn sweep(&mut self) {
        if self.routes.len() >= self.sweep_at.max(FEWEST) {
            self.routes.retain(|_, queue| !queue.is_empty());
            self.sweep_at = 2 * self.routes.len();
        }
    }
}
