//! Sends that were started under requests: the message is known when it is received, before or after the send is complete.

use std::collections::{HashMap, HashSet};

use lbprof_analysis::model::code::region_state::Ns;

/// A send that was started under a request: the sender's world rank, the request, and when it was started.
pub type StartedSend = (u32, u32, Ns);

/// The completion of a send: thread and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendCompletion {
    /// The location of the thread that completed the request.
    pub location: u64,
    /// The end of its call.
    pub time: Ns,
}

/// Sends of which either the receipt or the completion is known so far. A send whose message is never received stays.
#[derive(Default)]
pub struct HalfKnownSends {
    received: HashSet<StartedSend>,
    complete: HashMap<StartedSend, SendCompletion>,
}

impl HalfKnownSends {
    /// Takes note that the message of a send was received. Returns its completion, if that is known already.
    pub fn receive(&mut self, send: StartedSend) -> Option<SendCompletion> {
        let completion = self.complete.remove(&send);
        if completion.is_none() {
            self.received.insert(send);
        }
        completion
    }

    /// Takes note of the completion of a send, and returns it if the message was received already.
    pub fn complete(&mut self, send: StartedSend, completion: SendCompletion) -> Option<SendCompletion> {
        if self.received.remove(&send) {
            return Some(completion);
        }
        self.complete.insert(send, completion);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_completion_is_returned_once_both_are_known_whichever_comes_first() {
        let mut sends = HalfKnownSends::default();
        let completion = SendCompletion { location: 3, time: 50 };
        assert_eq!(sends.complete((0, 7, 10), completion), None);
        assert_eq!(sends.receive((0, 7, 20)), None, "the request was started again");
        assert_eq!(sends.receive((0, 7, 10)), Some(completion));
        assert_eq!(sends.complete((0, 7, 20), completion), Some(completion));
        assert!(sends.received.is_empty() && sends.complete.is_empty());
    }
}
