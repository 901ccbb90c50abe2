//! The programs that the ranks of a run execute, by their command lines.

use bincode::{Decode, Encode};
use lbprof_collector::definition::RankList;

use crate::partial_result::PartialResult;

/// Most programs that are listed: ranks may have arguments of their own.
const MAX_PROGRAMS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct RankProgram {
    pub command: Vec<String>,
    pub ranks: RankList,
}

#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct ProgramList {
    /// The first [`MAX_PROGRAMS`] of them.
    pub programs: Vec<RankProgram>,
    pub n_unlisted_ranks: u64,
}

impl PartialResult for ProgramList {
    fn merge(mut self, higher: ProgramList) -> ProgramList {
        self.n_unlisted_ranks += higher.n_unlisted_ranks;
        for program in higher.programs {
            let n_programs = self.programs.len();
            match self.programs.iter_mut().find(|known| known.command == program.command) {
                Some(known) => known.ranks = RankList::from_ranks(known.ranks.iter().chain(program.ranks.iter())),
                None if n_programs < MAX_PROGRAMS => self.programs.push(program),
                None => self.n_unlisted_ranks += program.ranks.len(),
            }
        }
        self
    }
}

impl ProgramList {
    /// Returns the list of one rank, or an empty one if its command line is not known.
    pub fn from_rank(rank: u32, command: Vec<String>) -> ProgramList {
        let program = RankProgram { command, ranks: RankList::from_ranks([rank]) };
        ProgramList {
            programs: [program].into_iter().filter(|one| !one.command.is_empty()).collect(),
            n_unlisted_ranks: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(ranks: &[(u32, &str)]) -> ProgramList {
        let mut list = ProgramList::default();
        for &(rank, command) in ranks {
            list = list.merge(ProgramList::from_rank(rank, vec![command.to_owned()]));
        }
        list
    }

    #[test]
    fn programs_are_listed_by_their_lowest_ranks() {
        let lower = list(&[(0, "ocean"), (1, "ocean"), (2, "air")]);
        let lower = lower.merge(list(&[(3, "air"), (4, "ocean"), (5, "ice")]));
        let found: Vec<(&str, Vec<u32>)> =
            lower.programs.iter().map(|one| (one.command[0].as_str(), one.ranks.iter().collect())).collect();
        assert_eq!(found, [("ocean", vec![0, 1, 4]), ("air", vec![2, 3]), ("ice", vec![5])]);
    }

    #[test]
    fn ranks_of_too_many_programs_are_counted() {
        let names: Vec<String> = (0..150).map(|n| format!("a{n}")).collect();
        let ranks: Vec<(u32, &str)> =
            names.iter().enumerate().map(|(rank, name)| (rank as u32, name.as_str())).collect();
        let all = list(&ranks);
        assert_eq!((all.programs.len(), all.n_unlisted_ranks), (100, 50));
    }
}
