//! DBSCAN: clusters of points that neighbours connect.
//!
//! ```text
//!   a   b  c    d          e    radius 3, at least 2 points: each of a, b, c and d is near the next one,
//!   0   2  3    5         11    so that they are one cluster; e is noise
//! ```
//!
//! Source: Ester, Kriegel, Sander and Xu, "A Density-Based Algorithm for Discovering Clusters in Large Spatial Databases with Noise",
//! KDD-96 (1996).

/// Returns the cluster of each point, numbered from 0 in the order of their first core points, or `None` if it is noise.
///
/// `distances[a][b]` is the distance between two points. They are neighbours if it is below `radius`. A core point has at least `min_points`
/// neighbours, itself included. Clusters are the core points that neighbours connect, and the other neighbours of these.
pub(super) fn cluster_points(distances: &[Vec<f64>], radius: f64, min_points: usize) -> Vec<Option<usize>> {
    let neighbours: Vec<Vec<usize>> = distances.iter().map(|row| list_neighbours(row, radius)).collect();
    let mut clusters = vec![None; distances.len()];
    let mut n_clusters = 0;
    for first in 0..distances.len() {
        if clusters[first].is_some() || neighbours[first].len() < min_points {
            continue;
        }
        let mut pending = vec![first];
        while let Some(point) = pending.pop() {
            if clusters[point].is_none() {
                clusters[point] = Some(n_clusters);
                if neighbours[point].len() >= min_points {
                    pending.extend(&neighbours[point]);
                }
            }
        }
        n_clusters += 1;
    }
    clusters
}

fn list_neighbours(row: &[f64], radius: f64) -> Vec<usize> {
    row.iter().enumerate().filter(|(_, distance)| **distance < radius).map(|(point, _)| point).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distances_on_line(points: &[f64]) -> Vec<Vec<f64>> {
        points.iter().map(|a| points.iter().map(|b| (a - b).abs()).collect()).collect()
    }

    #[test]
    fn neighbours_connect_points_that_are_far_apart() {
        let distances = distances_on_line(&[0.0, 2.0, 3.0, 5.0, 11.0]);
        assert_eq!(cluster_points(&distances, 3.0, 2), [Some(0), Some(0), Some(0), Some(0), None]);
        assert_eq!(cluster_points(&distances, 2.0, 2), [None, Some(0), Some(0), None, None], "a radius is exclusive");
    }

    #[test]
    fn a_border_point_joins_but_does_not_connect() {
        // Core points are 2 and 6, which have four neighbours. 4 is near both, but has only three.
        let distances = distances_on_line(&[0.0, 1.0, 2.0, 4.0, 6.0, 7.0, 8.0]);
        assert_eq!(cluster_points(&distances, 2.5, 4), [0, 0, 0, 0, 1, 1, 1].map(Some));
    }

    proptest! {
        #[test]
        fn clusters_are_as_defined(
            points in prop::collection::vec(0..60_u32, 0..30),
            radius in 1..6_u32,
            min_points in 1..5_usize,
        ) {
            let points: Vec<f64> = points.into_iter().map(f64::from).collect();
            let distances = distances_on_line(&points);
            let clusters = cluster_points(&distances, f64::from(radius), min_points);
            let near = |a: usize, b: usize| distances[a][b] < f64::from(radius);
            let is_core: Vec<bool> =
                (0..points.len()).map(|a| (0..points.len()).filter(|&b| near(a, b)).count() >= min_points).collect();
            for a in 0..points.len() {
                let mut core_neighbours = (0..points.len()).filter(|&b| is_core[b] && near(a, b));
                match clusters[a] {
                    None => prop_assert!(core_neighbours.next().is_none()),
                    Some(_) => prop_assert!(core_neighbours.any(|b| clusters[b] == clusters[a])),
                }
                for b in (0..points.len()).filter(|&b| is_core[a] && is_core[b] && near(a, b)) {
                    prop_assert_eq!(clusters[a], clusters[b]);
                }
            }
            // On a line, core points of one cluster have no gap as large as the radius between them.
            let mut core: Vec<(f64, Option<usize>)> =
                points.iter().copied().zip(clusters).zip(&is_core).filter(|(_, core)| **core).map(|(point, _)| point).collect();
            core.sort_by(|a, b| a.0.total_cmp(&b.0));
            let n_gaps = core.windows(2).filter(|pair| pair[1].0 - pair[0].0 >= f64::from(radius)).count();
            let n_changes = core.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
            prop_assert_eq!(n_gaps, n_changes);
        }
    }
}
