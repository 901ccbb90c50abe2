//! The table of calls and the collector's table of operations say the same.

use std::collections::BTreeMap;

use lbprof_collector::Operation;

/// The verb of a row, and whether it is given a flag.
type RowVerb = (&'static str, bool);

/// Returns the functions of calls.table, with their arguments and verbs.
fn rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>, RowVerb)> {
    let lines = include_str!("../../../calls.table").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let (head, rest) = line.split_once('(')?;
        let (arguments, verb) = rest.split_once(')')?;
        let (verb, given) = verb.split_once('(')?;
        let verb = (verb.trim(), given.contains("flag"));
        Some((head.split_whitespace().next()?, arguments.split(", ").collect(), verb))
    })
}

#[test]
fn the_table_of_calls_and_that_of_operations_agree_on_what_polls() {
    let (mut polls_of_verb, mut polls) = (BTreeMap::new(), 0);
    for (function, arguments, verb) in rows() {
        let operation = Operation::ALL.iter().find(|one| one.name() == function);
        let is_poll = operation.is_some_and(|one| Operation::polls(*one as u16));
        assert!(operation.is_some(), "{function} is no operation");
        // MPI says by a flag, or by how many were complete, that something has happened; MPI_File_set_atomicity is given one.
        let gives = |name: &str| arguments.contains(&name);
        let asks = gives("flag") && !function.starts_with("File_");
        assert_eq!(is_poll, asks || gives("outcount") && function != "Waitsome", "{function}");
        // A verb that may find nothing, or is given a flag by which it may, serves polls alone. MPI_Waitsome finds something.
        let known = polls_of_verb.insert(verb, is_poll);
        assert!(verb.0 == "complete_some" || known.is_none_or(|known| known == is_poll), "{verb:?} of {function}");
        polls += usize::from(is_poll);
    }
    let all = Operation::ALL.iter().filter(|&&one| Operation::polls(one as u16)).count();
    assert_eq!(polls, all, "each poll has a row");
}
