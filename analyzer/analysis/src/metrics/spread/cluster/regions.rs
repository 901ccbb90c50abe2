//! Groups of regions that spend their time alike: k-means on the vectors (t_i1 … t_iK) (docs/metrics.md §2; §2 of "Load Imbalance in
//! Parallel Programs" (2003)).
//!
//! Each activity is measured by the largest time that a region spends in it, so that all count alike, as in the paper's
//! grouping: in seconds the paper's loops {1, 2} and {3 … 7} would not be the tightest two groups, for computation alone would
//! decide. Times that hardly differ stay close together by this, as they would not if divided by their spread. An activity of
//! less than 1 % of the time is left out.

use lbprof_thresholds::metrics::{MAX_GROUPS_OF_REGIONS, MIN_TIME_OF_CLUSTERED_ACTIVITY};

use super::k_means::{k_means, nearest_centre, squared_distance};

/// Most regions from which groups are formed; all others, which take less time, join the nearest group. The silhouette needs
/// the distances of all pairs.
pub const MOST_REGIONS: usize = 500;

/// Groups of regions.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionGroups {
    /// The group of each vector given; group 0 has the region with most time, and so on.
    pub of: Vec<usize>,
    /// Number of groups.
    pub n: usize,
    /// Mean silhouette, in −1..=1: 1 where groups are tight and far apart, 0 where regions lie between groups. A group of one
    /// region counts as 0.
    pub silhouette: f64,
}

/// Groups of regions from their times by activity: `vectors[i][j]` is t_ij in seconds, all equally long, none negative.
///
/// `k`: how many groups; by default the number, from 2 up, with the largest silhouette. There are never more than there are
/// different vectors. The result is the same each time. `None` where there are fewer than 3 regions, or no two differ.
pub fn group_regions(vectors: &[Vec<f64>], k: Option<usize>) -> Option<RegionGroups> {
    const LEAST_REGIONS: usize = 3;
    let scales = activity_scales(vectors);
    if vectors.len() < LEAST_REGIONS || scales.is_empty() {
        return None;
    }
    let mut heaviest: Vec<usize> = (0..vectors.len()).collect();
    heaviest.sort_by(|&a, &b| total_seconds(&vectors[b]).total_cmp(&total_seconds(&vectors[a])).then(a.cmp(&b)));
    let points: Vec<Vec<f64>> = heaviest.iter().map(|&region| scaled_times(&vectors[region], &scales)).collect();
    let head = &points[..points.len().min(MOST_REGIONS)];
    let n_different = count_different(head);
    let most = k.unwrap_or_else(|| MAX_GROUPS_OF_REGIONS.min(head.len() - 1)).min(n_different);
    let least = if k.is_some() { most } else { 2 };
    let tried = (least.max(1)..=most).map(|k| attempt_groups(k, head, &points)).filter(|_| n_different >= 2);
    let best = tried.reduce(|best, next| if next.silhouette > best.silhouette + 1e-9 { next } else { best })?;
    let mut of = vec![0; vectors.len()];
    for (&at, &group) in heaviest.iter().zip(&best.of) {
        of[at] = group;
    }
    Some(RegionGroups { of, ..best })
}

/// The activities that count, each with the largest time of a region in it.
fn activity_scales(vectors: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let n_activities = vectors.iter().map(Vec::len).max().unwrap_or(0);
    let all: f64 = vectors.iter().map(|vector| total_seconds(vector)).sum();
    let mut scales = Vec::new();
    for activity in 0..n_activities {
        let times = vectors.iter().filter_map(|vector| vector.get(activity)).copied();
        if all > 0.0 && times.clone().sum::<f64>() >= MIN_TIME_OF_CLUSTERED_ACTIVITY * all {
            scales.push((activity, times.fold(0.0, f64::max)));
        }
    }
    scales
}

/// Returns a region's times in the activities of `scales`, each as a share of the largest.
fn scaled_times(vector: &[f64], scales: &[(usize, f64)]) -> Vec<f64> {
    scales.iter().map(|&(activity, largest)| vector.get(activity).map_or(0.0, |time| time / largest)).collect()
}

fn total_seconds(vector: &[f64]) -> f64 {
    vector.iter().sum()
}

fn count_different(points: &[Vec<f64>]) -> usize {
    let mut bits: Vec<Vec<u64>> =
        points.iter().map(|point| point.iter().map(|value| value.to_bits()).collect()).collect();
    bits.sort_unstable();
    bits.dedup();
    bits.len()
}

/// `k` groups of the points of `head`, which all `points` join; the groups in the order of their first points.
fn attempt_groups(k: usize, head: &[Vec<f64>], points: &[Vec<f64>]) -> RegionGroups {
    let centres = k_means(head, k);
    let mut order: Vec<usize> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(points.len());
    for point in points {
        let centre = nearest_centre(point, &centres);
        of.push(order.iter().position(|&known| known == centre).unwrap_or(order.len()));
        if of.last() == Some(&order.len()) {
            order.push(centre);
        }
    }
    let silhouette = mean_silhouette(head, &of, order.len());
    RegionGroups { of, n: order.len(), silhouette }
}

/// Mean silhouette of the points: (b − a) / max(a, b), a being a point's mean distance to the others of its group, b that to
/// the nearest other group; 0 for a point alone in its group, or where there is but one group.
fn mean_silhouette(points: &[Vec<f64>], of: &[usize], n_groups: usize) -> f64 {
    let n = points.len();
    let mut sizes = vec![0_usize; n_groups];
    for &group in of.iter().take(n) {
        sizes[group] += 1;
    }
    let mut sum = 0.0;
    for (point, &own) in points.iter().zip(of) {
        let mut sums = vec![0.0; n_groups];
        for (other, &group) in points.iter().zip(of) {
            sums[group] += squared_distance(point, other).sqrt();
        }
        let others = (0..n_groups).filter(|&group| group != own && sizes[group] > 0);
        let nearest = others.map(|group| sums[group] / sizes[group] as f64).fold(f64::INFINITY, f64::min);
        let within = sums[own] / (sizes[own].max(2) - 1) as f64;
        let largest = within.max(nearest);
        let is_defined = sizes[own] > 1 && nearest.is_finite() && largest > 0.0;
        if is_defined {
            sum += (nearest - within) / largest;
        }
    }
    sum / n.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vectors: &[[f64; 2]], k: Option<usize>) -> Option<RegionGroups> {
        let vectors: Vec<Vec<f64>> = vectors.iter().map(|vector| vector.to_vec()).collect();
        group_regions(&vectors, k)
    }

    /// Two small regions, two that compute long, three that communicate long.
    const SEVEN: [[f64; 2]; 7] = [[0.1, 0.0], [0.1, 5.0], [9.0, 0.1], [9.1, 0.0], [0.0, 5.1], [0.1, 5.2], [0.0, 0.1]];

    #[test]
    fn the_number_of_groups_follows_from_the_silhouette() {
        let found = of(&SEVEN, None).unwrap();
        assert_eq!((found.n, found.of.as_slice()), (3, [2, 1, 0, 0, 1, 1, 2].as_slice()));
        assert!((0.95..1.0).contains(&found.silhouette), "{}", found.silhouette);
    }

    #[test]
    fn the_silhouette_compares_the_own_group_with_the_nearest_other() {
        // On a line 0, 2 | 10: the first has a = 2, b = 10, the second a = 2, b = 8, the third is alone.
        let points = [0.0, 2.0, 10.0].map(|at| vec![at]);
        assert!((mean_silhouette(&points, &[0, 0, 1], 2) - (0.8 + 0.75 + 0.0) / 3.0).abs() < 1e-12);
        assert_eq!(mean_silhouette(&points, &[0, 0, 0], 1), 0.0);
    }

    #[test]
    fn the_number_of_groups_can_be_given() {
        // The small ones join the two that compute, for that disturbs fewer.
        assert_eq!(of(&SEVEN, Some(2)).unwrap().of, [0, 1, 0, 0, 1, 1, 0]);
        assert_eq!(of(&SEVEN, Some(7)).unwrap().n, 7);
        assert_eq!(of(&SEVEN, Some(99)).unwrap().n, 7, "no more than there are regions");
        assert_eq!(of(&SEVEN, Some(1)).unwrap(), RegionGroups { of: vec![0; 7], n: 1, silhouette: 0.0 });
    }

    #[test]
    fn times_on_any_scale_give_the_same_groups() {
        let found = of(&SEVEN, None);
        for scale in [1e-9, 1e6] {
            let scaled = SEVEN.map(|vector| vector.map(|time| time * scale));
            assert_eq!(of(&scaled, None).map(|found| found.of), found.as_ref().map(|found| found.of.clone()));
        }
    }

    #[test]
    fn an_activity_of_hardly_any_time_does_not_count() {
        let groups_of = |short: f64| of(&[[9.0, 0.0], [9.1, short], [1.0, 0.0], [1.1, short]], Some(2)).unwrap().of;
        assert_eq!(groups_of(1e-3), [0, 0, 1, 1]);
        assert_eq!(groups_of(9.0), [1, 0, 1, 0], "it does where it takes long");
    }

    #[test]
    fn few_or_equal_regions_have_no_groups() {
        assert_eq!(of(&[], None), None);
        assert_eq!(of(&[[1.0, 2.0], [8.0, 0.0]], None), None);
        assert_eq!(of(&[[1.0, 2.0]; 5], None), None);
        assert_eq!(of(&[[0.0, 0.0]; 5], Some(2)), None);
        assert_eq!(of(&[[1.0, 2.0], [1.0, 2.0], [8.0, 0.0]], None).unwrap().of, [1, 1, 0]);
    }

    #[test]
    fn of_very_many_regions_the_smallest_join_the_nearest_group() {
        let vectors: Vec<Vec<f64>> =
            (0..MOST_REGIONS + 100).map(|at| vec![if at % 2 == 0 { 9.0 } else { 1.0 }, 1e-4 * at as f64]).collect();
        let found = group_regions(&vectors, Some(2)).unwrap();
        assert!(found.of.iter().enumerate().all(|(at, &group)| group == at % 2));
    }
}
