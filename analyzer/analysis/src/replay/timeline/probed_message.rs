//! The message that a rank has found by probing for one of any source, and receives next.
//!
//! A program that asks which message has come first (MPI_Probe, MPI_Iprobe with MPI_ANY_SOURCE) receives it from the source that
//! the status names: it takes the first message of any source all the same.

use lbprof_collector::Record;
use lbprof_collector::record::Flags;
use lbprof_collector::semantics::Semantics;

/// The last message that was found so, until it is received: its communicator, source and tag.
#[derive(Debug, Default)]
pub struct ProbedMessage(Option<(u32, i32, i32)>);

impl ProbedMessage {
    /// Takes note of a call of these semantics where it is a probe that has found a message.
    #[inline]
    pub fn probes(&mut self, record: &Record, semantics: Semantics) {
        let is_probe = matches!(semantics, Semantics::Probe | Semantics::AskForMessage);
        if is_probe && record.flags.contains(Flags::ANY_SOURCE) && !record.flags.contains(Flags::NOTHING) {
            self.0 = Some((record.comm, record.peer, record.tag));
        }
    }

    /// Whether this receive takes that message.
    pub fn is_received_by(&mut self, record: &Record) -> bool {
        self.0.take_if(|found| *found == (record.comm, record.peer, record.tag)).is_some()
    }
}
