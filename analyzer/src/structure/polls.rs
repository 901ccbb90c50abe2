//! Calls by which a program looks whether something has happened. How often it looks is chance: a poll ends no iteration.

use lbprof_collector::Operation;

/// Whether calls of an operation only ask: whether a request is complete, a message has come, an epoch has ended.
pub(super) fn is_poll(operation: u16) -> bool {
    Operation::from_number(operation).is_some_and(|operation| {
        let name = operation.name();
        matches!(operation, Operation::Iprobe | Operation::Improbe | Operation::Parrived | Operation::Win_test)
            || name.starts_with("Test")
            || name.starts_with("Request_get_status")
    })
}

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
    is_poll(operation) || Operation::from_number(operation).is_some_and(|operation| reads.contains(&operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_ask_are_polls_and_those_that_wait_are_none() {
        for operation in [Operation::Testany, Operation::Iprobe, Operation::Parrived, Operation::Win_test] {
            assert!(is_poll(operation as u16) && may_spin(operation as u16), "{}", operation.name());
        }
        for operation in [Operation::Wait, Operation::Probe, Operation::Win_wait, Operation::Win_fence] {
            assert!(!is_poll(operation as u16) && !may_spin(operation as u16), "{}", operation.name());
        }
        assert!(may_spin(Operation::Fetch_and_op as u16) && !is_poll(Operation::Fetch_and_op as u16));
    }
}
