//! K-means: groups of points, each around the mean of its points, with the least sum of squared distances that several attempts find.
//!
//! Sources: Lloyd, "Least Squares Quantization in PCM", IEEE Trans. Inf. Theory 28 (1982); starting centres of Arthur and Vassilvitskii,
//! "k-means++: The Advantages of Careful Seeding", SODA (2007), §2.2.

use crate::metrics::spread::pseudo_random::RandomFractions;

/// Number of attempts from different starting centres.
const N_ATTEMPTS: usize = 10;

/// Maximum number of rounds of an attempt. It ends earlier, when no point changes its group.
const MAX_ROUNDS: usize = 1000;

/// Returns the centres of at most `k` groups of `points`, which all have the same number of coordinates. The result is the same each time.
pub(super) fn k_means(points: &[Vec<f64>], k: usize) -> Vec<Vec<f64>> {
    let mut random = RandomFractions::new(42);
    let attempts = (0..N_ATTEMPTS).map(|_| refine_centres(points, draw_centres(points, k, &mut random)));
    // The first of several that are equal.
    attempts.min_by(|a, b| a.1.total_cmp(&b.1)).map_or_else(Vec::new, |best| best.0)
}

/// Returns the index of the centre nearest to `point`, the first of several, or 0 if there is none.
pub(super) fn nearest_centre(point: &[f64], centres: &[Vec<f64>]) -> usize {
    let distances = centres.iter().map(|centre| squared_distance(point, centre));
    distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(centre, _)| centre)
}

pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

/// Draws points as centres: each next one with a probability that is proportional to its squared distance to the nearest centre so far.
fn draw_centres(points: &[Vec<f64>], k: usize, random: &mut RandomFractions) -> Vec<Vec<f64>> {
    let mut centres: Vec<Vec<f64>> = Vec::with_capacity(k);
    let mut weights = vec![1.0; points.len()];
    while centres.len() < k {
        let mut left = random.next_fraction() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        // Without any weight left, there are fewer different points than centres.
        let Some(centre) = drawn.and_then(|drawn| points.get(drawn)) else { break };
        for (weight, point) in weights.iter_mut().zip(points) {
            let distance = squared_distance(point, centre);
            *weight = if centres.is_empty() { distance } else { distance.min(*weight) };
        }
        centres.push(centre.clone());
    }
    centres
}

/// Moves each centre to the mean of the points that are nearest to it, until no point changes its group. Returns them and the sum of the
/// squared distances of all points to the centres of their groups.
fn refine_centres(points: &[Vec<f64>], mut centres: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let mut groups = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let nearest: Vec<usize> = points.iter().map(|point| nearest_centre(point, &centres)).collect();
        if nearest == groups {
            break;
        }
        groups = nearest;
        for (group, centre) in centres.iter_mut().enumerate() {
            let members: Vec<&Vec<f64>> =
                points.iter().zip(&groups).filter(|(_, of)| **of == group).map(|(point, _)| point).collect();
            for (axis, coordinate) in centre.iter_mut().enumerate().filter(|_| !members.is_empty()) {
                *coordinate = members.iter().map(|member| member[axis]).sum::<f64>() / members.len() as f64;
            }
        }
    }
    let squares = points.iter().zip(&groups).map(|(point, &group)| squared_distance(point, &centres[group])).sum();
    (centres, squares)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn centres_are_the_means_of_points_that_lie_together() {
        let points = [0.0, 1.0, 2.0, 10.0, 12.0].map(|at| vec![at, 3.0]);
        let mut centres = k_means(&points, 2);
        centres.sort_by(|a, b| a[0].total_cmp(&b[0]));
        assert_eq!(centres, [[1.0, 3.0], [11.0, 3.0]]);
    }

    #[test]
    fn there_are_no_more_centres_than_different_points() {
        let points = [1.0, 1.0, 2.0].map(|at| vec![at]);
        assert_eq!(k_means(&points, 9).len(), 2);
        assert_eq!(k_means(&[], 2), Vec::<Vec<f64>>::new());
    }

    proptest! {
        #[test]
        fn each_centre_is_the_mean_of_the_points_nearest_to_it(
            points in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 2), 1..40),
            k in 1..6_usize,
        ) {
            let centres = k_means(&points, k);
            let groups: Vec<usize> = points.iter().map(|point| nearest_centre(point, &centres)).collect();
            for (group, centre) in centres.iter().enumerate() {
                let members: Vec<&Vec<f64>> =
                    points.iter().zip(&groups).filter(|(_, of)| **of == group).map(|(point, _)| point).collect();
                for axis in (0..2).filter(|_| !members.is_empty()) {
                    let mean = members.iter().map(|member| member[axis]).sum::<f64>() / members.len() as f64;
                    prop_assert!((centre[axis] - mean).abs() < 1e-12);
                }
            }
        }

        #[test]
        fn groups_that_lie_far_apart_are_found(
            sizes in prop::collection::vec(1..8_usize, 2..6),
            offsets in prop::collection::vec(0.0..1.0_f64, 40),
        ) {
            let truth: Vec<usize> =
                sizes.iter().enumerate().flat_map(|(group, &size)| std::iter::repeat_n(group, size)).collect();
            let points: Vec<Vec<f64>> =
                truth.iter().zip(&offsets).map(|(&group, offset)| vec![100.0 * group as f64 + offset, *offset]).collect();
            let centres = k_means(&points, sizes.len());
            let groups: Vec<usize> = points.iter().map(|point| nearest_centre(point, &centres)).collect();
            for (a, b) in (0..points.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert_eq!(groups[a] == groups[b], truth[a] == truth[b]);
            }
        }
    }
}
