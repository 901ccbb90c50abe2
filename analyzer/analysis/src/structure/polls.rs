//! Calls by which a program looks whether something has happened. How often it looks is chance: a poll ([`Operation::polls`]) ends no
//! iteration.

use lbprof_collector::Operation;

/// Whether a program may call an operation again and again until it reads another value in a window: a loop of such calls in which
/// hardly anything is computed is no loop of the program's work. One that computes, as between two numbers that it fetches from
/// a counter, is.
pub(super) fn may_spin(operation: u16) -> bool {
    use Operation::*;
    let reads = [
        Get,
        Rget,
        Get_accumulate,
        Rget_accumulate,
        Fetch_and_op,
        Compare_and_swap,
        Win_sync,
        Win_flush,
        Win_flush_local,
        Win_flush_all,
        Win_flush_local_all,
        Win_lock,
        Win_unlock,
    ];
    Operation::polls(operation) || Operation::from_number(operation).is_some_and(|operation| reads.contains(&operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_ask_may_spin_and_those_that_wait_do_not() {
        for operation in [Operation::Testany, Operation::Iprobe, Operation::Parrived, Operation::Win_test] {
            assert!(may_spin(operation as u16), "{}", operation.name());
        }
        for operation in [Operation::Wait, Operation::Probe, Operation::Win_wait, Operation::Win_fence] {
            assert!(!may_spin(operation as u16), "{}", operation.name());
        }
        assert!(may_spin(Operation::Fetch_and_op as u16) && !Operation::polls(Operation::Fetch_and_op as u16));
    }
}
