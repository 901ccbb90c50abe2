//! Groups by number: all locations of MPI, the members of each communicator, then the groups of epochs on windows.

use std::collections::HashMap;

use super::library::Ref;

/// The group of all locations of MPI.
pub const LOCATIONS_GROUP: Ref = 0;

/// Returns the number of the group of a communicator's members.
pub fn number_of_comm(comm: Ref) -> Ref {
    LOCATIONS_GROUP + 1 + comm
}

/// The groups of epochs, each once.
#[derive(Default)]
pub struct TraceGroups {
    numbers: HashMap<Vec<u64>, Ref>,
    first: Ref,
    /// Their numbers, with the places of their members.
    pub groups: Vec<(Ref, Vec<u64>)>,
}

impl TraceGroups {
    /// Returns no groups yet, beside those of `n_comms` communicators.
    pub fn new(n_comms: usize) -> TraceGroups {
        TraceGroups { first: number_of_comm(n_comms as Ref), ..TraceGroups::default() }
    }

    /// Returns the number of the group of these places.
    pub fn number(&mut self, places: Vec<u64>) -> Ref {
        let next = self.first + self.groups.len() as Ref;
        *self.numbers.entry(places).or_insert_with_key(|places| {
            self.groups.push((next, places.clone()));
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_groups_have_one_number_after_those_of_communicators() {
        let mut groups = TraceGroups::new(2);
        assert_eq!([vec![1, 3], vec![0], vec![1, 3], vec![]].map(|places| groups.number(places)), [3, 4, 3, 5]);
        assert_eq!(groups.groups, [(3, vec![1, 3]), (4, vec![0]), (5, vec![])]);
    }
}
