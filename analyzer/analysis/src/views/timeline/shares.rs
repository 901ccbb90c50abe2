//! Adds up the states of rows of ranks in each bin of time.

use super::STATES;
use crate::model::code::region_state::Ns;

/// Nanoseconds by state, row and bin. Whole numbers: in whatever groups segments of the run are joined, the sums are the same.
pub(super) struct StateShares {
    rows: usize,
    bins: usize,
    end: Ns,
    bin_ns: f64,
    /// By state; empty for those that were not seen.
    ns: [Vec<u64>; STATES],
}

pub(super) fn add_times(all: &mut [u64], more: &[u64]) {
    for (sum, more) in all.iter_mut().zip(more) {
        *sum += more;
    }
}

fn bin_edge(bin: usize, bin_ns: f64) -> Ns {
    (bin as f64 * bin_ns).round() as Ns
}

impl StateShares {
    pub(super) fn new(rows: usize, bins: usize, end: Ns) -> StateShares {
        StateShares { rows, bins, end, bin_ns: end as f64 / bins as f64, ns: Default::default() }
    }

    /// Adds time in a state; what lies outside of the window is left out.
    pub(super) fn add(&mut self, row: usize, state: u8, begin: Ns, end: Ns) {
        let (begin, end) = (begin.max(0), end.min(self.end));
        let (rows, bins, bin_ns) = (self.rows, self.bins, self.bin_ns);
        let Some(all) = self.ns.get_mut(usize::from(state)).filter(|_| begin < end && row < rows) else { return };
        if all.is_empty() {
            all.resize(rows * bins, 0);
        }
        let [first, last] = [begin, end].map(|at| ((at as f64 / bin_ns) as usize).min(bins - 1));
        // Rounded edges may lie in the bin before or after.
        let (first, last) = (first.saturating_sub(1), (last + 1).min(bins - 1));
        let all = &mut all[row * bins + first..=row * bins + last];
        let mut from = bin_edge(first, bin_ns);
        for (bin, ns) in (first..).zip(all) {
            let until = bin_edge(bin + 1, bin_ns);
            *ns += (end.min(until) - begin.max(from)).max(0) as u64;
            from = until;
        }
    }

    pub(super) fn into_times(self) -> [Vec<u64>; STATES] {
        self.ns
    }

    /// Adds the times of a later segment.
    pub(super) fn join(&mut self, later: [Vec<u64>; STATES]) {
        for (all, more) in self.ns.iter_mut().zip(later) {
            if all.is_empty() {
                *all = more;
            } else {
                add_times(all, &more);
            }
        }
    }

    /// Returns the shares in 255ths. `sizes` has the number of ranks by row. Rounding errors of a bin are carried to the next, so that the sum of a
    /// row is right.
    pub(super) fn finish(self, sizes: &[usize]) -> Vec<(u8, Vec<u8>)> {
        let mut by_state = Vec::new();
        for (state, all) in (0..).zip(&self.ns).filter(|(_, all)| !all.is_empty()) {
            let mut bytes = Vec::with_capacity(all.len());
            for (row, bins) in all.chunks(self.bins).enumerate() {
                let mut rest = 0.0;
                for &ns in bins {
                    let share =
                        ns as f64 * (255.0 / (self.bin_ns * sizes.get(row).copied().unwrap_or(1).max(1) as f64)) + rest;
                    let byte = share.round().clamp(0.0, 255.0);
                    rest = share - byte;
                    bytes.push(byte as u8);
                }
            }
            by_state.push((state, bytes));
        }
        by_state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_time_in_many_bins_is_not_lost() {
        let mut shares = StateShares::new(1, 1000, 1_000_000);
        for bin in 0..1000 {
            shares.add(0, 0, bin * 1000, bin * 1000 + 1);
        }
        let sum: u32 = shares.finish(&[1])[0].1.iter().map(|&byte| u32::from(byte)).sum();
        assert_eq!(sum, 255, "as much as one full bin");
    }

    #[test]
    fn the_ranks_of_a_row_share_its_bins() {
        let mut shares = StateShares::new(1, 1, 10);
        shares.add(0, 0, 0, 10);
        assert_eq!(shares.finish(&[5])[0].1, [51]);
    }
}
