//! What rows of ranks do in each bin of time.

use super::STATES;
use crate::model::region_state::Ns;

/// Nanoseconds by state, row and bin.
pub(super) struct Shares {
    rows: usize,
    bins: usize,
    end: Ns,
    bin_ns: f64,
    /// By state; empty for those that were not seen.
    ns: [Vec<f32>; STATES],
}

/// Cells of a segment of the run: it has few of the bins.
pub(super) type Cells = [Vec<(u32, f32)>; STATES];

impl Shares {
    /// Bins of equal length up to `end`, which is more than 0.
    pub(super) fn new(rows: usize, bins: usize, end: Ns) -> Shares {
        Shares { rows, bins, end, bin_ns: end as f64 / bins as f64, ns: Default::default() }
    }

    /// Some time in a state; what lies outside of the window is left out.
    pub(super) fn add(&mut self, row: usize, state: u8, begin: Ns, end: Ns) {
        let (begin, end) = (begin.max(0), end.min(self.end));
        let Some(all) = self.ns.get_mut(usize::from(state)).filter(|_| begin < end && row < self.rows) else { return };
        if all.is_empty() {
            all.resize(self.rows * self.bins, 0.0);
        }
        let bins = &mut all[row * self.bins..(row + 1) * self.bins];
        let bin = |at: Ns| ((at as f64 / self.bin_ns) as usize).min(self.bins - 1);
        let (first, last) = (bin(begin), bin(end));
        if first == last {
            bins[first] += (end - begin) as f32;
            return;
        }
        bins[first] += ((first + 1) as f64 * self.bin_ns - begin as f64) as f32;
        bins[first + 1..last].iter_mut().for_each(|ns| *ns += self.bin_ns as f32);
        bins[last] += (end as f64 - last as f64 * self.bin_ns) as f32;
    }

    /// What is not 0, by state: the number of the row's bin, and its nanoseconds.
    pub(super) fn cells(&self) -> Cells {
        let cells = |all: &Vec<f32>| (0..).zip(all.iter().copied()).filter(|&(_, ns)| ns != 0.0).collect();
        self.ns.each_ref().map(cells)
    }

    /// Adds those of other time.
    pub(super) fn join(&mut self, other: Cells) {
        for (all, more) in self.ns.iter_mut().zip(other) {
            if all.is_empty() && !more.is_empty() {
                all.resize(self.rows * self.bins, 0.0);
            }
            more.into_iter().for_each(|(at, ns)| all.get_mut(at as usize).into_iter().for_each(|all| *all += ns));
        }
    }

    /// The shares in 255ths, of rows that have so many ranks. What is rounded off in a bin counts in the next, so that the sum of a row
    /// is right.
    pub(super) fn finish(self, sizes: &[usize]) -> Vec<(u8, Vec<u8>)> {
        let whole = |row: usize| 255.0 / (self.bin_ns * sizes.get(row).copied().unwrap_or(1).max(1) as f64);
        let bytes = |all: &Vec<f32>| {
            let mut bytes = Vec::with_capacity(all.len());
            for (row, bins) in all.chunks(self.bins).enumerate() {
                let mut rest = 0.0;
                for &ns in bins {
                    let share = f64::from(ns) * whole(row) + rest;
                    let byte = share.round().clamp(0.0, 255.0);
                    rest = share - byte;
                    bytes.push(byte as u8);
                }
            }
            bytes
        };
        let seen = (0..).zip(&self.ns).filter(|(_, all)| !all.is_empty());
        seen.map(|(state, all)| (state, bytes(all))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_out_to_the_bins_that_it_lies_in() {
        let mut shares = Shares::new(2, 4, 400);
        shares.add(0, 1, 60, 340);
        shares.add(0, 0, 0, 60);
        shares.add(1, 0, 110, 130);
        // Outside of the window there are no bins.
        shares.add(1, 2, -100, 100);
        shares.add(1, 2, 300, 900);
        shares.add(1, 3, 400, 900);
        let found = shares.finish(&[1, 1]);
        // A hundredth of a bin is 2.55.
        assert_eq!(found[0], (0, vec![153, 0, 0, 0, 0, 51, 0, 0]));
        assert_eq!(found[1], (1, vec![102, 255, 255, 102, 0, 0, 0, 0]));
        assert_eq!(found[2], (2, vec![0, 0, 0, 0, 255, 0, 0, 255]));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn little_time_in_many_bins_is_not_lost() {
        let mut shares = Shares::new(1, 1000, 1_000_000);
        (0..1000).for_each(|bin| shares.add(0, 0, bin * 1000, bin * 1000 + 1));
        let sum: u32 = shares.finish(&[1])[0].1.iter().map(|&byte| u32::from(byte)).sum();
        assert_eq!(sum, 255, "as much as one full bin");
    }

    #[test]
    fn the_ranks_of_a_row_share_its_bins() {
        let mut shares = Shares::new(1, 1, 10);
        shares.add(0, 0, 0, 10);
        assert_eq!(shares.finish(&[5])[0].1, [51]);
    }
}
