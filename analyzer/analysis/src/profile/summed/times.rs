//! Ticks by iteration and activity, by columns: 8 bytes a figure, and only for the activities that occur.

use lbprof_collector::Activity;
use lbprof_collector::fold::IterationTimes;
use lbprof_collector::record::NONE;
use rustc_hash::FxHashMap;

/// Ticks by iteration and activity, a column for each activity that occurs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActivityTicks {
    numbers: Vec<u32>,
    /// At the index of the activity's number. A column may be shorter than `numbers`; missing entries are 0.
    ticks: [Vec<u64>; Activity::COUNT],
}

impl ActivityTicks {
    /// Adds ticks of an activity to an iteration. Iterations may come in any order; in ascending order it is fast.
    #[inline]
    pub fn add(&mut self, iteration: u32, activity: u8, ticks: u64) {
        if self.numbers.last() != Some(&iteration) {
            self.numbers.push(iteration);
        }
        let n = self.numbers.len();
        let column = &mut self.ticks[Activity::from_bits(activity.into()) as usize];
        if column.len() == n {
            column[n - 1] = column[n - 1].saturating_add(ticks);
        } else {
            column.resize(n - 1, 0);
            column.push(ticks);
        }
    }

    /// Adds the times of other iterations, or more of the same.
    pub fn append(&mut self, other: &ActivityTicks) {
        if self.numbers == other.numbers {
            for (own, more) in self.ticks.iter_mut().zip(&other.ticks) {
                own.resize(own.len().max(more.len()), 0);
                for (own, more) in own.iter_mut().zip(more) {
                    *own = own.saturating_add(*more);
                }
            }
            return;
        }
        let n = self.numbers.len();
        self.numbers.extend_from_slice(&other.numbers);
        for (own, more) in self.ticks.iter_mut().zip(&other.ticks).filter(|(_, more)| !more.is_empty()) {
            own.resize(n, 0);
            own.extend_from_slice(more);
        }
    }

    /// Adds iterations without any time.
    pub fn append_numbers(&mut self, numbers: impl Iterator<Item = u32>) {
        let numbers = numbers.collect();
        if self.numbers != numbers {
            self.append(&ActivityTicks { numbers, ..ActivityTicks::default() });
        }
    }

    /// Returns the times under other numbers, without iterations that have no new number or no time.
    pub fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> ActivityTicks {
        let mut numbers: Vec<u32> = Vec::new();
        let mut places: Vec<u32> = Vec::with_capacity(self.numbers.len());
        for (at, &old) in self.numbers.iter().enumerate() {
            let new =
                number(old).filter(|_| self.ticks.iter().any(|column| column.get(at).is_some_and(|&ticks| ticks > 0)));
            if new.is_some() && numbers.last() != new.as_ref() {
                numbers.extend(new);
            }
            places.push(new.map_or(NONE, |_| numbers.len() as u32 - 1));
        }
        self.moved(numbers, &places)
    }

    /// Brings the iterations into ascending order, each once.
    pub fn sort(&mut self) {
        if self.numbers.is_sorted_by(|one, next| one < next) {
            return;
        }
        // A stable sort quickly merges ascending runs, such as the iterations of several regions.
        let mut order: Vec<u64> = (0..).zip(&self.numbers).map(|(at, &one)| u64::from(one) << 32 | at).collect();
        order.sort();
        let mut numbers: Vec<u32> = Vec::new();
        let mut places = vec![NONE; order.len()];
        for entry in order {
            let number = (entry >> 32) as u32;
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
            places[entry as u32 as usize] = numbers.len() as u32 - 1;
        }
        *self = self.moved(numbers, &places);
    }

    /// Returns the times with each iteration added to iteration `numbers[place]`, where `places` has one for each, or [`NONE`] to drop it.
    fn moved(&self, numbers: Vec<u32>, places: &[u32]) -> ActivityTicks {
        let ticks = self.ticks.each_ref().map(|column| {
            let mut moved = if column.is_empty() { Vec::new() } else { vec![0_u64; numbers.len()] };
            for (&ticks, &place) in column.iter().zip(places) {
                if let Some(sum) = moved.get_mut(place as usize) {
                    *sum = sum.saturating_add(ticks);
                }
            }
            moved
        });
        ActivityTicks { numbers, ticks }
    }

    /// Returns the times of one activity alone.
    pub fn only(&self, activity: Activity) -> ActivityTicks {
        let mut ticks: [Vec<u64>; Activity::COUNT] = Default::default();
        ticks[activity as usize].clone_from(&self.ticks[activity as usize]);
        ActivityTicks { numbers: self.numbers.clone(), ticks }
    }

    /// Returns the ticks of an activity in the iterations with these numbers, or 0. Both lists are sorted.
    pub fn aligned(&self, activity: Activity, numbers: &[u32]) -> Vec<u64> {
        let column = self.column(activity);
        let mut own = self.numbers.iter().zip(column.iter().chain(std::iter::repeat(&0))).peekable();
        numbers
            .iter()
            .map(|number| {
                while own.next_if(|(known, _)| *known < number).is_some() {}
                own.next_if(|(known, _)| *known == number).map_or(0, |(_, &ticks)| ticks)
            })
            .collect()
    }

    /// Returns whether it holds no iteration.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the numbers of iterations, in their order.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Returns the ticks of an activity, one entry per iteration. Entries at the end, or all, may be missing: they are 0.
    pub fn column(&self, activity: Activity) -> &[u64] {
        &self.ticks[activity as usize]
    }

    /// Returns the ticks of an activity in all iterations.
    pub fn total(&self, activity: Activity) -> u64 {
        self.column(activity).iter().copied().fold(0, u64::saturating_add)
    }
}

/// Times by region, taken while a thread's records are folded.
#[derive(Default)]
pub struct TimesByRegion {
    /// Each region, its times, and the place of the region that came after it the last time.
    regions: Vec<(u32, ActivityTicks, usize)>,
    places: FxHashMap<u32, usize>,
    /// Index in `regions` that time goes to, or `None` if it belongs to no iteration.
    at: Option<usize>,
    iteration: u32,
    /// The place before this one.
    last: usize,
}

impl TimesByRegion {
    /// Returns each region with its times.
    pub fn into_regions(self) -> impl Iterator<Item = (u32, ActivityTicks)> {
        self.regions.into_iter().map(|(region, times, _)| (region, times))
    }

    #[cold]
    fn place(&mut self, region: u32) -> usize {
        let new = self.regions.len();
        let place = *self.places.entry(region).or_insert(new);
        if place == new {
            self.regions.push((region, ActivityTicks::default(), 0));
        }
        if let Some((.., after)) = self.regions.get_mut(self.last) {
            *after = place;
        }
        place
    }
}

impl IterationTimes for TimesByRegion {
    const APART: bool = true;

    #[inline]
    fn move_to(&mut self, region: u32, iteration: u32) {
        if iteration == NONE {
            self.at = None;
            return;
        }
        // Programs repeat themselves.
        let expected = self.regions.get(self.last).map_or(0, |(.., after)| *after);
        let place = match self.regions.get(expected) {
            Some((known, ..)) if *known == region => expected,
            _ => self.place(region),
        };
        (self.last, self.at, self.iteration) = (place, Some(place), iteration);
    }

    #[inline]
    fn add(&mut self, activity: Activity, ticks: u64) {
        if let Some((_, times, _)) = self.at.and_then(|at| self.regions.get_mut(at)) {
            times.add(self.iteration, activity as u8, ticks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rows: &[(u32, u8, u64)]) -> ActivityTicks {
        let mut times = ActivityTicks::default();
        for &(iteration, activity, ticks) in rows.iter() {
            times.add(iteration, activity, ticks);
        }
        times
    }

    fn row(times: &ActivityTicks, at: usize) -> [u64; Activity::COUNT] {
        Activity::ALL.map(|activity| times.column(activity).get(at).copied().unwrap_or(0))
    }

    fn rows(times: &ActivityTicks) -> Vec<(u32, [u64; Activity::COUNT])> {
        (0..times.numbers.len()).map(|at| (times.numbers[at], row(times, at))).collect()
    }

    #[test]
    fn iterations_in_any_order_become_ascending_and_unique() {
        let mut all = times(&[(3, 0, 10), (3, 1, 1), (5, 0, 20), (3, 0, 5), (1, 2, 7)]);
        all.sort();
        let expected = [(1, [0, 0, 7, 0, 0, 0, 0, 0]), (3, [15, 1, 0, 0, 0, 0, 0, 0]), (5, [20, 0, 0, 0, 0, 0, 0, 0])];
        assert_eq!(rows(&all), expected);
    }

    #[test]
    fn appending_adds_what_both_have_and_keeps_the_rest() {
        let one = times(&[(0, 0, 10), (1, 0, 20)]);
        let mut same = one.clone();
        same.append(&times(&[(0, 1, 1), (1, 0, 2)]));
        assert_eq!(rows(&same), [(0, [10, 1, 0, 0, 0, 0, 0, 0]), (1, [22, 0, 0, 0, 0, 0, 0, 0])]);

        let mut other = one;
        other.append(&times(&[(1, 1, 3), (2, 1, 4)]));
        other.append_numbers([1, 7].into_iter());
        other.sort();
        let expected = [
            (0, [10, 0, 0, 0, 0, 0, 0, 0]),
            (1, [20, 3, 0, 0, 0, 0, 0, 0]),
            (2, [0, 4, 0, 0, 0, 0, 0, 0]),
            (7, [0; Activity::COUNT]),
        ];
        assert_eq!(rows(&other), expected);
    }

    #[test]
    fn iterations_of_an_inner_region_count_in_those_of_the_outer_one() {
        // Iterations 0 and 1 lie in iteration 4 of the outer region, 2 in none.
        let inner = times(&[(0, 0, 10), (1, 0, 20), (2, 0, 30)]);
        let outer = inner.renumbered(|number| (number < 2).then_some(4));
        assert_eq!(rows(&outer), [(4, [30, 0, 0, 0, 0, 0, 0, 0])]);
    }
}
