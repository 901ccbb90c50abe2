//! Sums amounts in slices of half a second, and keeps the last ones, in constant memory.

pub const SLICE_NS: i64 = 500_000_000;

/// Number of kept slices, with a margin because ranks are read up to different times.
const KEPT: usize = 128;

/// Amounts by slice, and their sum since the start.
#[derive(Clone, Debug)]
pub struct TimeSlices {
    total: f64,
    /// The amount of slice `n` is at `n % KEPT`.
    slices: [f64; KEPT],
    newest: i64,
}

impl Default for TimeSlices {
    fn default() -> TimeSlices {
        TimeSlices { total: 0.0, slices: [0.0; KEPT], newest: 0 }
    }
}

impl TimeSlices {
    /// Spreads an amount evenly over the time from `begin_ns` to `end_ns`.
    pub fn add(&mut self, begin_ns: i64, end_ns: i64, amount: f64) {
        self.total += amount;
        let (first, last) = (begin_ns.div_euclid(SLICE_NS), end_ns.max(begin_ns).div_euclid(SLICE_NS));
        self.move_to(last);
        let length = (end_ns - begin_ns) as f64;
        for slice in first.max(self.newest - KEPT as i64 + 1)..=last {
            let (from, to) = (begin_ns.max(slice * SLICE_NS), end_ns.min((slice + 1) * SLICE_NS));
            let share = if length > 0.0 { (to - from).max(0) as f64 / length } else { 1.0 };
            self.slices[index_of(slice)] += amount * share;
        }
    }

    /// Adds the seconds of a period.
    pub fn add_period(&mut self, begin_ns: i64, end_ns: i64) {
        self.add(begin_ns, end_ns, (end_ns - begin_ns).max(0) as f64 / 1e9);
    }

    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns the sum of slices `begin..end`, as far as they are kept.
    pub fn sum(&self, begin: i64, end: i64) -> f64 {
        let oldest = self.newest - KEPT as i64 + 1;
        (begin.max(oldest)..end.min(self.newest + 1)).map(|slice| self.slices[index_of(slice)]).sum()
    }

    /// Clears the slices that replace the oldest ones.
    fn move_to(&mut self, slice: i64) {
        let first = (self.newest + 1).max(slice - KEPT as i64 + 1);
        for new in first..=slice {
            self.slices[index_of(new)] = 0.0;
        }
        self.newest = self.newest.max(slice);
    }
}

fn index_of(slice: i64) -> usize {
    slice.rem_euclid(KEPT as i64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_spread_over_the_slices_that_it_lies_in() {
        let mut slices = TimeSlices::default();
        slices.add_period(SLICE_NS / 2, 2 * SLICE_NS + SLICE_NS / 4);
        let by_slice: Vec<f64> = (0..4).map(|slice| slices.sum(slice, slice + 1)).collect();
        assert_eq!(by_slice, [0.25, 0.5, 0.125, 0.0]);
        assert_eq!(slices.total(), 0.875);
    }

    #[test]
    fn old_slices_are_forgotten_and_the_total_is_not() {
        let mut slices = TimeSlices::default();
        slices.add_period(0, SLICE_NS);
        let late = 1_000_000 * SLICE_NS;
        slices.add_period(late, late + SLICE_NS);
        assert_eq!(slices.sum(0, 10), 0.0);
        assert_eq!(slices.sum(1_000_000, 1_000_001), 0.5);
        assert_eq!(slices.total(), 1.0);
        // What comes late for a slice that is gone counts in the total alone.
        slices.add_period(SLICE_NS, 2 * SLICE_NS);
        assert_eq!((slices.total(), slices.sum(1_000_000, 1_000_001)), (1.5, 0.5));
    }

    #[test]
    fn an_event_without_length_is_in_its_slice() {
        let mut slices = TimeSlices::default();
        slices.add(3 * SLICE_NS, 3 * SLICE_NS, 1.0);
        assert_eq!(slices.sum(3, 4), 1.0);
    }
}
