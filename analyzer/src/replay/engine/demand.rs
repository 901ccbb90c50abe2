//! Work that is handed out on demand: a rank receives from any source and answers whoever it was, which computes and asks again.
//!
//! ```text
//!   master   |recv any|send 1|recv any|send 2| …          who is ready first gets the next piece
//!   rank 1   |send 0|recv|== compute ==|send 0|recv| …
//! ```
//!
//! Who does what follows from who is ready first. A replay keeps the order that was recorded, so that it cannot tell what would be
//! done by whom if ranks computed longer or shorter. Ranks that deal with others between an answer and the next question, in a collective
//! operation or by messages, do not get their work that way: they have a server, as for output.

use super::Engine;
use crate::model::kind::Ns;
use crate::replay::thread::Demand;

/// Less than one part in so many of the computation is no considerable one.
const SMALL: Ns = 20;

impl Engine<'_, '_> {
    /// A thread has received a message of any source, from another thread: it may be asked for work.
    pub(super) fn is_asked(&mut self, thread: u32, by: u32) {
        if let Some(Demand { answered: Some((last, since)), computed, .. }) =
            self.threads.get(by as usize).map(|one| one.demand)
            && last == thread
        {
            self.on_demand += computed - since;
            self.threads[by as usize].demand.answered = None;
        }
        self.threads[thread as usize].demand.asked_by = Some(by);
    }

    /// A thread sends to a rank: an answer where that asked it last.
    pub(super) fn answers(&mut self, thread: u32, to: u32) {
        let Some(by) = self.threads[thread as usize].demand.asked_by else { return };
        if self.threads.get(by as usize).is_some_and(|one| one.world == to) {
            let demand = &mut self.threads[by as usize].demand;
            demand.answered = Some((thread, demand.computed));
            self.threads[thread as usize].demand.asked_by = None;
        }
    }

    /// A thread has received a message of another, or taken part in a collective operation: `by` is whose message it was.
    pub(super) fn has_dealt_with(&mut self, thread: u32, by: Option<u32>) {
        let answered = &mut self.threads[thread as usize].demand.answered;
        if answered.is_some_and(|(last, _)| by != Some(last)) {
            *answered = None;
        }
    }

    /// A thread has computed.
    pub(super) fn has_computed(&mut self, thread: u32, ns: Ns) {
        self.threads[thread as usize].demand.computed += ns;
    }

    /// Whether that is a considerable part of the work.
    pub(super) fn hands_out_work(&self) -> bool {
        let computed: Ns = self.threads.iter().map(|one| one.demand.computed).sum();
        self.on_demand > 0 && SMALL * self.on_demand >= computed
    }
}
