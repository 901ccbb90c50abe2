//! Amounts by two ranks: who waits for whom, who sends to whom, in a bounded number of blocks of ranks.

use std::collections::BTreeMap;

use super::RankRows;

/// Most blocks of ranks: as many rows and columns a matrix has.
const MOST_BLOCKS: usize = 192;

/// Sums over pairs of blocks of successive ranks, and the largest of a pair of ranks in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairView {
    /// Ranks in a block, at least 1; the last may have fewer.
    pub per_block: usize,
    /// Number of blocks.
    pub blocks: usize,
    /// The pairs of blocks with an amount: place of the first × `blocks` + place of the second, ascending.
    pub cells: Vec<u32>,
    /// By cell the sum.
    pub sums: Vec<f64>,
    /// By cell the largest.
    pub largest: Vec<f64>,
}

impl PairView {
    /// Sums up amounts by two ranks of `rows`; others are left out.
    pub fn new(rows: &RankRows, pairs: impl Iterator<Item = (u32, u32, f64)>) -> PairView {
        PairView::at_most(MOST_BLOCKS, rows, pairs)
    }

    fn at_most(most: usize, rows: &RankRows, pairs: impl Iterator<Item = (u32, u32, f64)>) -> PairView {
        let per_block = rows.ranks().div_ceil(most).max(1);
        let blocks = rows.ranks().div_ceil(per_block);
        let mut cells: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (one, other, amount) in pairs {
            if let (Some(row), Some(column)) = (rows.place(one), rows.place(other)) {
                let cell = cells.entry((row / per_block * blocks + column / per_block) as u32).or_default();
                *cell = (cell.0 + amount, cell.1.max(amount));
            }
        }
        PairView {
            per_block,
            blocks,
            cells: cells.keys().copied().collect(),
            sums: cells.values().map(|cell| cell.0).collect(),
            largest: cells.values().map(|cell| cell.1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_sum_and_the_largest_of_its_pairs() {
        let rows = RankRows::new(vec![0, 1, 4, 5, 9]);
        let pairs = [(0, 9, 1.0), (1, 9, 4.0), (4, 0, 2.0), (9, 9, 3.0), (2, 0, 100.0)];
        let view = PairView::at_most(3, &rows, pairs.into_iter());
        // Ranks 0 and 1, 4 and 5, 9.
        assert_eq!((view.per_block, view.blocks), (2, 3));
        assert_eq!(view.cells, [2, 3, 8]);
        assert_eq!((view.sums, view.largest), (vec![5.0, 2.0, 3.0], vec![4.0, 2.0, 3.0]));
        let each = PairView::new(&rows, pairs.into_iter());
        assert_eq!((each.per_block, each.blocks, each.cells), (1, 5, vec![4, 9, 10, 24]));
    }
}
