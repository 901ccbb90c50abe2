//! Ranks in a bounded number of rows.

use lbprof_collector::words::GroupedNumber;

/// Most rows of a matrix.
pub const MOST_ROWS: usize = 1024;

/// The ranks whose logs could be read, a row each, or of very many several successive ones in each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankRows {
    /// Numbers of the ranks, ascending.
    numbers: Vec<u32>,
    /// Ranks in a row, at least 1; the last may have fewer.
    per_row: usize,
}

impl RankRows {
    /// Rows of the ranks with these numbers.
    pub fn new(numbers: Vec<u32>) -> RankRows {
        RankRows::at_most(MOST_ROWS, numbers)
    }

    pub(super) fn at_most(most: usize, numbers: Vec<u32>) -> RankRows {
        let per_row = numbers.len().div_ceil(most).max(1);
        RankRows { numbers, per_row }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.numbers.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.numbers.len().div_ceil(self.per_row.max(1))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Ranks in a row; the last may have fewer.
    pub fn per_row(&self) -> usize {
        self.per_row
    }

    /// The place in the model of the rank with a number; `None`: it has none.
    pub fn place(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// Numbers of all ranks as runs of equal distance, in the order of the ranks: the first, how far the next is, how many they are.
    pub fn runs(&self) -> Vec<[u32; 3]> {
        let mut runs: Vec<[u32; 3]> = Vec::new();
        for &number in &self.numbers {
            match runs.last_mut() {
                Some([first, step, count]) if *count == 1 || *first + *step * *count == number => {
                    *step = (number - *first) / *count;
                    *count += 1;
                }
                _ => runs.push([number, 1, 1]),
            }
        }
        runs
    }

    /// The row of the rank at a place in the model.
    pub fn row_of(&self, place: usize) -> usize {
        place / self.per_row.max(1)
    }

    /// The places in the model of the first rank of each row.
    pub fn firsts(&self) -> impl Iterator<Item = usize> {
        (0..self.numbers.len()).step_by(self.per_row.max(1))
    }

    /// The number of the first rank of each row.
    pub fn first_numbers(&self) -> Vec<u32> {
        self.firsts().map(|at| self.numbers[at]).collect()
    }

    /// By row how many ranks it has.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.numbers.chunks(self.per_row.max(1)).map(<[u32]>::len)
    }

    /// Describes what was reduced, if anything.
    pub fn reduced(&self) -> Option<String> {
        let (per_row, ranks) = (GroupedNumber(self.per_row as u64), GroupedNumber(self.numbers.len() as u64));
        (self.per_row > 1).then(|| format!("rows are means of {per_row} successive ranks, of {ranks}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_ranks_have_a_row_each() {
        let rows = RankRows::new(vec![0, 1, 3]);
        assert_eq!((rows.len(), rows.row_of(2), rows.first_numbers()), (3, 2, vec![0, 1, 3]));
        assert_eq!(rows.reduced(), None);
        assert_eq!(RankRows::new(Vec::new()).len(), 0);
    }

    #[test]
    fn numbers_are_runs() {
        let runs = |numbers: &[u32]| RankRows::new(numbers.to_vec()).runs();
        assert_eq!(runs(&[0, 1, 2, 3]), [[0, 1, 4]]);
        assert_eq!(runs(&[0, 4, 8, 9, 10, 20]), [[0, 4, 3], [9, 1, 2], [20, 1, 1]]);
        assert!(runs(&[]).is_empty());
        assert_eq!((RankRows::new(vec![3, 5]).place(5), RankRows::new(vec![3, 5]).place(4)), (Some(1), None));
    }

    #[test]
    fn of_many_ranks_successive_ones_share_a_row() {
        let rows = RankRows::at_most(2, vec![0, 1, 3, 4, 6]);
        assert_eq!((rows.len(), rows.per_row(), rows.first_numbers()), (2, 3, vec![0, 4]));
        assert_eq!((0..5).map(|place| rows.row_of(place)).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        assert_eq!(rows.sizes().collect::<Vec<_>>(), [3, 2]);
        assert_eq!(rows.reduced().unwrap(), "rows are means of 3 successive ranks, of 5");
        let many = RankRows::new((0..10_000).collect());
        assert_eq!((many.per_row(), many.len()), (10, 1000));
    }
}
