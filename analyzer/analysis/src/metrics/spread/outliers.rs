//! Ranks that are far slower than the others: few of many, which means and load balance hardly show (docs/metrics.md §7).

use super::median::median_of;
use lbprof_thresholds::metrics::{MIN_DEVIATIONS_OF_OUTLIER, MIN_DISTANCE_OF_OUTLIER};

/// The standard deviation of a normal distribution over the median distance of its values to their median.
const OF_MEDIAN_DISTANCE: f64 = 1.4826;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HighOutliers {
    pub median: f64,
    /// Outliers are above this: the larger of 4 robust standard deviations (1.4826 times the median distance to the median) and 1 % above
    /// the median.
    pub limit: f64,
    /// Places of the outliers, the largest value first.
    pub places: Vec<usize>,
}

/// The outliers upwards of `values`, one for each rank; NaN where it is not known, which is left out. `None` if no value is known.
pub fn find_high_outliers(values: &[f64]) -> Option<HighOutliers> {
    let known: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    let middle = median_of(&known)?;
    let distances: Vec<f64> = known.iter().map(|value| (value - middle).abs()).collect();
    let deviation = OF_MEDIAN_DISTANCE * median_of(&distances)?;
    let limit = middle + (MIN_DEVIATIONS_OF_OUTLIER * deviation).max(MIN_DISTANCE_OF_OUTLIER * middle.abs());
    let mut places: Vec<usize> = (0..values.len()).filter(|&at| values[at] > limit).collect();
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    Some(HighOutliers { median: middle, limit, places })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_alike_the_slow_ones_are_outliers_the_slowest_first() {
        // 98, 99, 100, 101, 102, 98, …: half of them are 1 or less away from 100, so that the deviation is 1.4826.
        let mut values: Vec<f64> = (0..1000).map(|rank| 98.0 + f64::from(rank % 5)).collect();
        assert_eq!(find_high_outliers(&values).unwrap().places.len(), 0);
        (values[7], values[700], values[30]) = (110.0, 120.0, 50.0);
        let found = find_high_outliers(&values).unwrap();
        assert_eq!((found.median, found.places), (100.0, vec![700, 7]), "a fast rank makes nobody wait");
        assert!((found.limit - (100.0 + 4.0 * 1.4826)).abs() < 1e-9);
    }

    #[test]
    fn where_all_are_equal_the_least_excess_is_one_percent() {
        let mut values = vec![100.0; 50];
        values[3] = 100.9;
        assert_eq!(find_high_outliers(&values).unwrap().places.len(), 0);
        values[3] = 101.1;
        assert_eq!(find_high_outliers(&values).unwrap().places, [3]);
    }

    #[test]
    fn a_half_that_is_slower_has_no_outliers_and_nothing_known_none() {
        let values: Vec<f64> = (0..100).map(|rank| if rank < 50 { 1.0 } else { 2.0 }).collect();
        assert_eq!(find_high_outliers(&values).unwrap().places.len(), 0);
        assert_eq!(find_high_outliers(&[f64::NAN, 1.0, 1.0, 3.0]).unwrap().places, [3]);
        assert_eq!(find_high_outliers(&[f64::NAN]), None);
    }
}
