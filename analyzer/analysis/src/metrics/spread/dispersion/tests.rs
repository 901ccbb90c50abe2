use lbprof_collector::Activity::{Collective, Computation, PointToPoint, Recorder, Synchronization};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0), "{found} is not {wanted}");
}

#[test]
fn equal_times_have_no_dispersion_and_one_rank_with_all_has_most() {
    assert_eq!(index_of_dispersion(&[2.0, 2.0, 2.0, 2.0]), Some(0.0));
    near(index_of_dispersion(&[5.0, 0.0, 0.0, 0.0]).unwrap(), 0.75_f64.sqrt());
    assert_eq!(index_of_dispersion(&[5.0]), Some(0.0), "one rank is as its mean");
    assert_eq!(index_of_dispersion(&[0.0, 0.0]), None);
    assert_eq!(index_of_dispersion(&[]), None);
}

#[test]
fn the_index_is_the_distance_of_shares_from_equal_ones() {
    // Shares 3/4, 1/4, 0, 0 against 1/4 each: (1/2)² + 0 + (1/4)² + (1/4)² = 3/8.
    near(index_of_dispersion(&[3.0, 1.0, 0.0, 0.0]).unwrap(), 0.375_f64.sqrt());
}

fn region_times(times: impl IntoIterator<Item = (Activity, Vec<f64>)>) -> RegionTimes {
    let mut found = RegionTimes::default();
    for (activity, ranks) in times {
        if activity != Recorder && ranks.iter().any(|&seconds| seconds > 0.0) {
            found.seconds[activity as usize] = ranks;
        }
    }
    found
}

/// Two regions of two ranks, on a scale where the program takes 20 s:
///
/// | region | activity | rank 0 | rank 1 | mean | ID |
/// |---|---|---|---|---|---|
/// | a | computation | 6 | 2 | 4 | √(2/16) |
/// | a | synchronization | 0 | 4 | 2 | √(1/2) |
/// | b | computation | 6 | 6 | 6 | 0 |
fn two_regions() -> [RegionTimes; 2] {
    let a = region_times([(Computation, vec![6.0, 2.0]), (Synchronization, vec![0.0, 4.0])]);
    let b = region_times([(Computation, vec![6.0, 6.0]), (Collective, vec![0.0, 0.0]), (Recorder, vec![1.0, 9.0])]);
    [a, b]
}

#[test]
fn an_activity_that_is_not_performed_is_absent_and_the_recorder_is_none() {
    let found = Dispersion::new(two_regions().into_iter(), 2, 20.0);
    for activity in [Collective, PointToPoint, Recorder] {
        assert_eq!(found.activities[activity as usize], None);
        assert_eq!(found.rows[1][activity as usize], None);
        assert_eq!(region_extremes(&found.rows, activity), None);
    }
    assert_eq!(region_extremes(&found.rows, Synchronization), Some(RegionExtremes { worst: 0, best: 0 }));
    assert_eq!(region_extremes(&found.rows, Computation), Some(RegionExtremes { worst: 1, best: 0 }));
}

#[test]
fn a_rank_deviates_by_how_it_divides_its_time() {
    // Ranks 0 to 2 compute half of their time, whatever that is; rank 3 nine tenths of it. Mean shares: 0.6 and 0.4.
    let times = region_times([
        (Computation, vec![1.0, 10.0, 5.0, 9.0, 0.0]),
        (Synchronization, vec![1.0, 10.0, 5.0, 1.0, 0.0]),
    ]);
    let found = rank_deviations(&times);
    near(found[1].unwrap(), 0.1 * 2.0_f64.sqrt());
    near(found[3].unwrap(), 0.3 * 2.0_f64.sqrt());
    assert_eq!(found[4], None, "it never enters the region");
    let most = most_imbalanced(&times).unwrap();
    assert_eq!((most.rank, most.time_s), (3, 10.0));
    near(most.id, 0.3 * 2.0_f64.sqrt());
}

#[test]
fn with_two_ranks_neither_is_the_imbalanced_one() {
    let times = region_times([(Computation, vec![1.0, 0.3]), (PointToPoint, vec![0.1, 0.7])]);
    let found = rank_deviations(&times);
    near(found[0].unwrap(), found[1].unwrap());
    assert_eq!(most_imbalanced(&times), None);
}

#[test]
fn most_frequent_and_longest_are_different_questions() {
    let imbalanced = |rank, time_s| Some(MostImbalanced { rank, id: 0.5, time_s });
    let mut view = RankView::new(4);
    for found in [imbalanced(1, 2.0), imbalanced(1, 1.0), imbalanced(2, 16.0), None, imbalanced(9, 99.0)] {
        view.add(found.as_ref());
    }
    assert_eq!((view.most_frequent(), view.longest()), (Some(1), Some(2)));
    assert_eq!((view.regions, view.seconds), (vec![0, 2, 1, 0], vec![0.0, 3.0, 16.0, 0.0]));
    assert_eq!((RankView::new(3).most_frequent(), RankView::new(0).longest()), (None, None));
}

#[test]
fn a_pattern_names_the_ends_of_the_range() {
    use TimeLevel::*;
    // The range is 10 to 30, so its lower 15 % end at 13, its upper begin at 27.
    let times = [10.0, 13.0, 13.5, 20.0, 27.0, 30.0, 30.0];
    assert_eq!(rank_pattern(&times), [Minimum, Lower, Middle, Middle, Upper, Maximum, Maximum]);
    assert_eq!(rank_pattern(&[4.0, 4.0]), [Middle, Middle]);
    assert_eq!(rank_pattern(&[]), []);
}

#[test]
fn hostile_models_have_no_dispersion() {
    for (n_ranks, regions) in [(0, vec![]), (0, vec![RegionTimes::default()]), (3, vec![RegionTimes::default()])] {
        let found = Dispersion::new(regions.into_iter(), n_ranks, 0.0);
        assert!(found.activities.iter().all(Option::is_none) && found.regions.iter().all(Option::is_none));
        assert_eq!((found.ranks.most_frequent(), found.ranks.longest()), (None, None));
    }
    let alone = region_times([(Computation, vec![3.0]), (Collective, vec![1.0])]);
    let found = Dispersion::new([alone].into_iter(), 1, 0.0);
    assert_eq!(found.regions[0], Some(DispersionIndex { time_s: 4.0, id: 0.0, sid: None }));
    assert_eq!(found.most_imbalanced, [None]);
}

/// Times of up to 12 ranks in three activities; some are 0.
fn any_region() -> impl Strategy<Value = [Vec<f64>; 3]> {
    let time = prop_oneof![Just(0.0), 1e-6..1e3f64];
    (1..12usize).prop_flat_map(move |n| prop::array::uniform3(prop::collection::vec(time.clone(), n)))
}

fn region(times: &[Vec<f64>; 3], change: impl Fn(&[f64]) -> Vec<f64>) -> RegionTimes {
    region_times([Computation, PointToPoint, Collective].into_iter().zip(times).map(|(of, t)| (of, change(t))))
}

proptest! {
    #[test]
    fn indices_stay_within_their_bounds(times in any_region()) {
        let n = times[0].len() as f64;
        let region = region(&times, |times| times.to_vec());
        for cell in region.row().into_iter().flatten() {
            prop_assert!((0.0..=(1.0 - 1.0 / n).sqrt() + 1e-12).contains(&cell.id), "{cell:?}");
        }
        for id in rank_deviations(&region).into_iter().flatten() {
            prop_assert!((0.0..=2.0_f64.sqrt() * (1.0 - 1.0 / n) + 1e-12).contains(&id), "{id}");
        }
    }

    #[test]
    fn renumbering_ranks_renames_them_and_no_more(times in any_region(), turn in 0..12usize) {
        let n = times[0].len();
        let turned = region(&times, |times| (0..n).map(|at| times[(at + turn) % n]).collect());
        let region = region(&times, |times| times.to_vec());
        for (before, after) in region.row().into_iter().zip(turned.row()) {
            prop_assert_eq!(before.is_some(), after.is_some());
            prop_assert!((before.unwrap_or_default().id - after.unwrap_or_default().id).abs() < 1e-12);
        }
        for (at, after) in rank_deviations(&turned).into_iter().enumerate() {
            let before = rank_deviations(&region)[(at + turn) % n];
            prop_assert!((before.unwrap_or(-1.0) - after.unwrap_or(-1.0)).abs() < 1e-12);
        }
        let most = |found: Option<MostImbalanced>, turn: usize| found.map(|most| (most.rank + turn) % n);
        prop_assert_eq!(most(most_imbalanced(&region), 0), most(most_imbalanced(&turned), turn));
    }
}
