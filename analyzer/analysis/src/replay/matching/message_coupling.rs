//! Observed waits, which show the messages that wait for the other side to be in MPI.
use lbprof_thresholds::replay::MIN_BYTES_THAT_NEED_PROGRESS;

/// The event at the other side that one side of a message may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedSide {
    ReceivePosted,
    ReceiverInMpi,
    SenderInMpi,
}

/// Observed waits of messages of about one size within a host, or between hosts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WaitCounts {
    /// Calls that ended just after the event, with nothing else to wait for.
    pub(super) waited: u32,
    /// Calls that ended before the event. Calls that fit neither count in neither.
    pub(super) did_not: u32,
}

/// Observed waits of all messages: by what they may wait for, host, and size as a power of two.
#[derive(Debug)]
pub(super) struct MessageCoupling([[[WaitCounts; 64]; 2]; 3]);

/// Messages that are alike in what they wait for.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageClass {
    pub(super) same_host: bool,
    pub(super) bytes: u64,
}

impl Default for MessageCoupling {
    fn default() -> Self {
        MessageCoupling([[[WaitCounts::default(); 64]; 2]; 3])
    }
}

impl MessageCoupling {
    pub(super) fn seen(&mut self, side: AwaitedSide, class: MessageClass) -> &mut WaitCounts {
        let size = (64 - class.bytes.leading_zeros()).min(63) as usize;
        &mut self.0[side as usize][usize::from(class.same_host)][size]
    }

    /// Returns whether such messages wait for it: as was seen of most, else where they are large.
    pub(super) fn is_coupled(&mut self, side: AwaitedSide, class: MessageClass) -> bool {
        let WaitCounts { waited, did_not } = *self.seen(side, class);
        waited > did_not || waited == did_not && class.bytes > MIN_BYTES_THAT_NEED_PROGRESS
    }
}
