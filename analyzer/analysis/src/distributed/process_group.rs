//! Collective operations between processes, built on point-to-point messages.
//!
//! ```text
//!   process   0     1     2     3     4     5     6     7          a broadcast goes the other way
//!             │←────┘     │←────┘     │←────┘     │←────┘
//!             │←──────────┘           │←──────────┘
//!             │←──────────────────────┘                             each merges its part with higher processes' parts
//! ```
//!
//! A message: | magic u32 | checksum u32 | length u64 | bytes … | and further pieces, where one does not hold all of it. The magic contains the
//! version, so that programs of two versions do not take each other's bytes for theirs.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bincode::{Decode, Encode};

use super::transport::Transport;
use crate::analyse::ProcessFailure;
use crate::codec::{decode_value, encode_value};

/// Maximum number of bytes that are given to a transport at a time.
pub const PIECE: usize = 8 << 20;

/// Maximum number of bytes in a message: more than any state of a pass has.
const MOST_BYTES: u64 = 1 << 36;

const HEAD_BYTES: usize = 16;

/// The processes that analyse a run together, as one of them has them.
pub struct ProcessGroup {
    transport: Box<dyn Transport>,
}

impl ProcessGroup {
    /// Creates the group of the processes that `transport` connects.
    pub fn new(transport: Box<dyn Transport>) -> ProcessGroup {
        ProcessGroup { transport }
    }

    /// Returns the number of this process; 0 leads.
    pub fn process(&self) -> usize {
        self.transport.process()
    }

    /// Returns the number of processes.
    pub fn processes(&self) -> usize {
        self.transport.processes()
    }

    /// Creates a failure of this process.
    pub fn failure(&self, what: impl Into<String>) -> ProcessFailure {
        let on = self.transport.host().map_or(String::new(), |host| format!("on host {host}: "));
        ProcessFailure { process: self.process(), what: format!("{on}{}", what.into()) }
    }

    /// Sends a value from process 0 to all others, where it is called there.
    ///
    /// Errors: a process has ended.
    pub fn broadcast<T: Encode>(&self, value: &T) -> Result<(), ProcessFailure> {
        self.pass_on(&encode_value(value))
    }

    /// Waits for the value that process 0 broadcasts.
    ///
    /// Errors: a process has ended, or the message is no such value.
    pub fn received_broadcast<T: Decode<()>>(&self) -> Result<T, ProcessFailure> {
        let bytes = self.receive(parent_process(self.process()))?;
        self.pass_on(&bytes)?;
        decode_value(&bytes).ok_or_else(|| self.failure("what process 0 sent cannot be read"))
    }

    /// Merges the values of all processes in their order. Returns the result on process 0, `None` on others. `merge` takes a value and the value
    /// of higher processes; it is associative.
    ///
    /// Errors: a process has ended; on process 0 also the failure of the lowest process that failed.
    pub fn reduce<T: Encode + Decode<()>>(
        &self,
        own: Result<T, ProcessFailure>,
        merge: impl Fn(T, T) -> T,
    ) -> Result<Option<T>, ProcessFailure> {
        let mut all = own;
        for child in child_processes(self.process(), self.processes()) {
            let bytes = self.receive(child)?;
            let higher = decode_value::<Result<T, ProcessFailure>>(&bytes)
                .ok_or_else(|| bad_message(child, "cannot be read"))?;
            all = match (all, higher) {
                (Ok(lower), Ok(higher)) => Ok(merge(lower, higher)),
                (Err(failure), _) | (_, Err(failure)) => Err(failure),
            };
        }
        match self.process() {
            0 => all.map(Some),
            own => self.send(parent_process(own), &encode_value(&all)).map(|()| None),
        }
    }

    /// Returns the values of all processes, in their order, on process 0, `None` on others.
    ///
    /// Errors: see [`ProcessGroup::reduce`].
    pub fn gather<T: Encode + Decode<()>>(
        &self,
        own: Result<T, ProcessFailure>,
    ) -> Result<Option<Vec<T>>, ProcessFailure> {
        self.reduce(own.map(|own| vec![own]), |mut lower, mut higher| {
            lower.append(&mut higher);
            lower
        })
    }

    /// Exchanges values: `own` has one for each process. Returns one from each process, in their order.
    ///
    /// Errors: a process has ended; the failure of the lowest process that failed.
    pub fn exchange<T: Encode + Decode<()>>(
        &self,
        own: Result<Vec<T>, ProcessFailure>,
    ) -> Result<Vec<T>, ProcessFailure> {
        let (process, n) = (self.process(), self.processes());
        let mut all: Vec<Option<Result<T, ProcessFailure>>> = match own {
            Ok(own) => own.into_iter().map(|one| Some(Ok(one))).collect(),
            Err(failure) => (0..n).map(|_| Some(Err(failure.clone()))).collect(),
        };
        // Each pair meets in one round, each process has one partner in a round, and the lower sends first, so that no process waits for ever.
        for partner in (1..n.next_power_of_two()).map(|round| process ^ round).filter(|&partner| partner < n) {
            let own = all[partner].take().unwrap_or_else(|| Err(self.failure("it has nothing for a process")));
            let sent = encode_value(&own);
            if process < partner {
                self.send(partner, &sent)?;
            }
            let received = self.receive(partner)?;
            if process > partner {
                self.send(partner, &sent)?;
            }
            // All pairs still meet: others would wait.
            all[partner] = Some(decode_value(&received).unwrap_or_else(|| Err(bad_message(partner, "cannot be read"))));
        }
        all.into_iter().flatten().collect()
    }

    /// Runs `work`, and turns a panic into a failure of this process.
    pub fn guarded<T>(&self, work: impl FnOnce() -> Result<T, ProcessFailure>) -> Result<T, ProcessFailure> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(self.failure(panic_message(panic.as_ref()))))
    }

    /// Sends bytes to the processes below this one in the tree, the one with the most below it first.
    fn pass_on(&self, bytes: &[u8]) -> Result<(), ProcessFailure> {
        child_processes(self.process(), self.processes()).rev().try_for_each(|child| self.send(child, bytes))
    }

    fn send(&self, to: usize, bytes: &[u8]) -> Result<(), ProcessFailure> {
        let (first, rest) = bytes.split_at(bytes.len().min(PIECE - HEAD_BYTES));
        let mut piece = Vec::with_capacity(HEAD_BYTES + first.len());
        piece.extend_from_slice(&message_magic().to_le_bytes());
        piece.extend_from_slice(&crc32fast::hash(bytes).to_le_bytes());
        piece.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        piece.extend_from_slice(first);
        for piece in std::iter::once(piece.as_slice()).chain(rest.chunks(PIECE)) {
            self.transport.send(to, piece)?;
        }
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, ProcessFailure> {
        let mut piece = self.transport.receive(from)?;
        let head: [u8; HEAD_BYTES] =
            piece.first_chunk().copied().ok_or_else(|| bad_message(from, "is shorter than any message"))?;
        let [m0, m1, m2, m3, c0, c1, c2, c3, length @ ..] = head;
        if u32::from_le_bytes([m0, m1, m2, m3]) != message_magic() {
            return Err(bad_message(
                from,
                "is of another version of lbprof: all processes must run the same lb-report-mpi",
            ));
        }
        let length = u64::from_le_bytes(length);
        if length > MOST_BYTES {
            return Err(bad_message(from, &format!("has {length} bytes, more than {MOST_BYTES}")));
        }
        let mut bytes = piece.split_off(HEAD_BYTES);
        while (bytes.len() as u64) < length {
            // Memory grows with the received bytes, whatever the head promises.
            bytes.append(&mut self.transport.receive(from)?);
        }
        if bytes.len() as u64 != length || crc32fast::hash(&bytes) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(bad_message(from, "did not arrive as it was sent"));
        }
        Ok(bytes)
    }
}

fn bad_message(from: usize, what: &str) -> ProcessFailure {
    ProcessFailure { process: from, what: format!("what it sent {what}") }
}

/// Returns the message of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a mistake in lbprof: {}", text.unwrap_or("a panic"))
}

/// First word of a message.
fn message_magic() -> u32 {
    crc32fast::hash(concat!("lbprof ", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// Returns the parent of a process other than 0.
fn parent_process(process: usize) -> usize {
    process & process.wrapping_sub(1)
}

/// Returns the children of one of `n` processes, ascending. The descendants of a child are the processes up to the next child.
fn child_processes(process: usize, n: usize) -> impl DoubleEndedIterator<Item = usize> {
    let levels = if process == 0 { usize::BITS - n.leading_zeros() } else { process.trailing_zeros() };
    (0..levels).map(move |level| process + (1 << level)).filter(move |&child| child < n)
}

#[cfg(test)]
mod tests {
    use super::super::threads::in_threads;
    use super::*;

    #[test]
    fn all_know_of_a_failure_in_an_exchange() {
        let fails = |team: &ProcessGroup| {
            team.exchange(if team.process() == 2 { Err(team.failure("no")) } else { Ok(vec![0; 5]) })
                .is_err_and(|failure| failure.process == 2)
        };
        let all = in_threads(5, |team| team.gather(Ok(fails(&team))), |team| drop(team.gather(Ok(fails(&team)))));
        assert_eq!(all, Ok(Some(vec![true; 5])));
    }

    #[test]
    fn a_broadcast_may_take_several_pieces() {
        let value = "ten bytes.".repeat(PIECE / 10 + 1);
        let sums = in_threads(
            5,
            |team| {
                team.broadcast(&value)?;
                team.gather(Ok(0_u64))
            },
            |team| {
                let received: Result<String, ProcessFailure> = team.received_broadcast();
                let _ = team.gather(received.map(|received| if received == value { team.process() as u64 } else { 0 }));
            },
        );
        assert_eq!(sums, Ok(Some(vec![0, 1, 2, 3, 4])), "a process received something else");
    }

    #[test]
    fn of_several_failures_the_first_process_has_its_say() {
        let own = |team: &ProcessGroup| if team.process() % 3 == 2 { Err(team.failure("no")) } else { Ok(1) };
        let sum = in_threads(
            9,
            |team| team.reduce(own(&team), |a: u64, b| a + b),
            |team| drop(team.reduce(own(&team), |a, b| a + b)),
        );
        assert_eq!(sum, Err(ProcessFailure { process: 2, what: "no".to_owned() }));
    }

    #[test]
    fn a_process_that_is_gone_is_no_hang() {
        let sum = in_threads(
            4,
            |team| team.reduce(Ok(1), |a: u64, b| a + b),
            |team| {
                if team.process() != 3 {
                    let _ = team.reduce(Ok(1), |a, b| a + b);
                }
            },
        );
        let failure = sum.expect_err("process 3 sends nothing");
        assert!(failure.what.contains("ended"), "{failure}");
    }
}
