//! The message that a rank has found by probing for one of any source, and receives next.
//!
//! A program that asks which message has come first (MPI_Probe, MPI_Iprobe with MPI_ANY_SOURCE) receives it from the source that
//! the status names: it takes the first message of any source all the same.

use lbprof_collector::Record;
use lbprof_collector::record::CallFlags;
use lbprof_collector::semantics::OperationSemantics;

/// The last message that was found so, until it is received: its communicator, source and tag.
#[derive(Debug, Default)]
pub struct ProbedMessage(Option<(u32, i32, i32)>);

impl ProbedMessage {
    /// Takes note of a call of these semantics where it is a probe that has found a message.
    #[inline]
    pub fn probes(&mut self, record: &Record, semantics: OperationSemantics) {
        let is_probe = matches!(semantics, OperationSemantics::Probe | OperationSemantics::AskForMessage);
        if is_probe && record.flags.contains(CallFlags::ANY_SOURCE) && !record.flags.contains(CallFlags::NOTHING) {
            self.0 = Some((record.comm, record.peer, record.tag));
        }
    }

    /// Returns whether this receive takes that message.
    pub fn is_received_by(&mut self, record: &Record) -> bool {
        self.0.take_if(|found| *found == (record.comm, record.peer, record.tag)).is_some()
    }
}
