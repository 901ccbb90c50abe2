//! Values by numbers that logs give to what they define: mostly small ones, counted from 0.

use rustc_hash::FxHashMap;

/// Numbers from here on are rare, and looked up: those of a log may be as large as they like.
const MOST: u64 = 1 << 16;

/// Values by number.
pub struct DenseMap<T> {
    small: Vec<Option<T>>,
    large: FxHashMap<u64, T>,
}

impl<T> Default for DenseMap<T> {
    fn default() -> Self {
        DenseMap { small: Vec::new(), large: FxHashMap::default() }
    }
}

impl<T> DenseMap<T> {
    /// The value of a number; the first time `find` makes it.
    #[inline]
    pub fn get_or_insert_with(&mut self, number: u64, find: impl FnOnce() -> T) -> &T {
        if number >= MOST {
            return self.large.entry(number).or_insert_with(find);
        }
        let at = number as usize;
        if at >= self.small.len() {
            self.small.resize_with(at + 1, || None);
        }
        self.small[at].get_or_insert_with(find)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_the_value_that_it_was_given_first() {
        let mut dense: DenseMap<u64> = DenseMap::default();
        for number in [3, 0, MOST - 1, MOST, u64::MAX] {
            assert_eq!(*dense.get_or_insert_with(number, || number / 2), number / 2);
            assert_eq!(*dense.get_or_insert_with(number, || 7), number / 2);
        }
        assert_eq!(*dense.get_or_insert_with(1, || 5), 5);
    }
}
