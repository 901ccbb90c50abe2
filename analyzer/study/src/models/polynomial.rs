//! Polynomials of degree 0 to 4 by least squares.
//!
//! Powers of x differ by many orders of magnitude, so the fit is made in u = (x − middle) / half the range, which lies in −1..=1, by QR;
//! the equation is then written in x.

use serde::Serialize;

use super::{FitError, Point, distinct_values, r_squared};
use lbprof_thresholds::study::MIN_FREEDOM_OF_POINT;

#[derive(Clone, Debug, Serialize)]
pub struct PolynomialFit {
    pub degree: usize,
    /// y = Σ coefficients\[k\]·x^k: in units of y per unit of x to the power of k; degree + 1 of them.
    pub coefficients: Vec<f64>,
    pub n_points: usize,
    pub range: (f64, f64),
    /// Standard deviation of the points from the curve, in the unit of y: √(Σ residual² / (n − degree − 1)).
    pub deviation: f64,
    /// R², see [`r_squared`]; `None` where y is the same everywhere.
    pub r_squared: Option<f64>,
    /// y less the curve, a point an entry, in their order.
    pub residuals: Vec<f64>,
    /// Residuals of points that were left out of the fit that predicts them.
    pub left_out_residuals: Vec<f64>,
    #[serde(skip)]
    scale: UnitScale,
    /// Coefficients in u.
    #[serde(skip)]
    scaled: Vec<f64>,
}

/// u = (x − middle) / half.
#[derive(Clone, Copy, Debug)]
struct UnitScale {
    middle: f64,
    half: f64,
}

impl UnitScale {
    fn powers(&self, x: f64, n: usize) -> impl Iterator<Item = f64> {
        let u = (x - self.middle) / self.half;
        std::iter::successors(Some(1.0), move |power| Some(power * u)).take(n)
    }

    /// Coefficients in x of the polynomial whose coefficients in u are `scaled`: Horner's scheme on polynomials.
    fn unscale(&self, scaled: &[f64]) -> Vec<f64> {
        let (slope, constant) = (1.0 / self.half, -self.middle / self.half);
        let mut result = vec![0.0; scaled.len()];
        for &coefficient in scaled.iter().rev() {
            let mut carried = 0.0;
            for entry in &mut result {
                let next = *entry * slope;
                *entry = *entry * constant + carried;
                carried = next;
            }
            if let Some(first) = result.first_mut() {
                *first += coefficient;
            }
        }
        result
    }
}

/// The polynomial of `degree` with the least squared residuals.
///
/// It needs `degree` + 2 different x: with one less it goes through all points, and no point can be left out.
pub fn fit_polynomial(points: &[Point], degree: usize) -> Result<PolynomialFit, FitError> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return Err(FitError::NotFinite);
    }
    let values = distinct_values(points);
    if values.len() < degree + 2 {
        return Err(FitError::TooFewPoints { degree, found: values.len() });
    }
    let (first, last) = (values[0], values[values.len() - 1]);
    let scale = UnitScale { middle: first / 2.0 + last / 2.0, half: last / 2.0 - first / 2.0 };
    let n = degree + 1;
    let powers: Vec<Vec<f64>> = points.iter().map(|&(x, _)| scale.powers(x, n).collect()).collect();
    let design = QrDecomposition::new(&powers).ok_or(FitError::TooClose(degree))?;
    let measured: Vec<f64> = points.iter().map(|point| point.1).collect();
    let scaled = design.least_squares(&measured);
    let residuals: Vec<f64> = points.iter().map(|&(x, y)| y - evaluate_polynomial(&scale, &scaled, x)).collect();
    let left_out_residuals = left_out(&design, &powers, &residuals).ok_or(FitError::TooClose(degree))?;
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    Ok(PolynomialFit {
        degree,
        coefficients: scale.unscale(&scaled),
        n_points: points.len(),
        range: (first, last),
        deviation: (squares / (points.len() - n) as f64).sqrt(),
        r_squared: r_squared(points, &residuals),
        residuals,
        left_out_residuals,
        scale,
        scaled,
    })
}

fn evaluate_polynomial(scale: &UnitScale, scaled: &[f64], x: f64) -> f64 {
    scale.powers(x, scaled.len()).zip(scaled.iter()).map(|(power, coefficient)| power * coefficient).sum()
}

/// Residuals of points that are left out of the fit, without fitting again: residual / (1 − h), where h, the point's leverage, is the
/// diagonal of A·(AᵀA)⁻¹·Aᵀ. `None` where a point is determined by itself alone.
///
/// Source: Allen, "The Relationship Between Variable Selection and Data Augmentation and a Method for Prediction" (1974): PRESS.
fn left_out(design: &QrDecomposition, powers: &[Vec<f64>], residuals: &[f64]) -> Option<Vec<f64>> {
    let free = powers.iter().map(|row| 1.0 - design.leverage(row));
    residuals.iter().zip(free).map(|(residual, free)| (free > MIN_FREEDOM_OF_POINT).then(|| residual / free)).collect()
}

/// A design matrix A with a row for each point, as the product of Q, whose columns are orthonormal, and R, an upper triangle.
///
/// Source: modified Gram-Schmidt, made twice, after which the columns are orthogonal up to rounding: Giraud et al., "Rounding error
/// analysis of the classical Gram-Schmidt orthogonalization process", Numer. Math. 101 (2005).
struct QrDecomposition {
    /// Columns of Q.
    q: Vec<Vec<f64>>,
    /// Columns of R, each down to the diagonal.
    r: Vec<Vec<f64>>,
}

impl QrDecomposition {
    /// Decomposes the matrix of `rows`, or returns `None` if a column is a combination of those before it.
    fn new(rows: &[Vec<f64>]) -> Option<QrDecomposition> {
        let n_columns = rows.first().map_or(0, Vec::len);
        let mut decomposition = QrDecomposition { q: Vec::new(), r: Vec::new() };
        for idx in 0..n_columns {
            let mut column: Vec<f64> = rows.iter().map(|row| row[idx]).collect();
            let mut r = vec![0.0; idx + 1];
            for _ in 0..2 {
                for (q, r) in decomposition.q.iter().zip(&mut r) {
                    let part = dot_product(q, &column);
                    *r += part;
                    for (entry, q) in column.iter_mut().zip(q) {
                        *entry -= part * q;
                    }
                }
            }
            let norm = dot_product(&column, &column).sqrt();
            if norm == 0.0 {
                return None;
            }
            r[idx] = norm;
            for entry in &mut column {
                *entry /= norm;
            }
            decomposition.q.push(column);
            decomposition.r.push(r);
        }
        Some(decomposition)
    }

    /// Returns the x with the least |A·x − y|², which solves R·x = Qᵀ·y.
    fn least_squares(&self, y: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.q.iter().map(|q| dot_product(q, y)).collect();
        for idx in (0..x.len()).rev() {
            x[idx] /= self.r[idx][idx];
            let (above, solved) = x.split_at_mut(idx);
            for (entry, r) in above.iter_mut().zip(&self.r[idx]) {
                *entry -= r * solved[0];
            }
        }
        x
    }

    /// Returns v·(AᵀA)⁻¹·vᵀ for the row `v`: the square of w, which solves w·R = v.
    fn leverage(&self, v: &[f64]) -> f64 {
        let mut w: Vec<f64> = Vec::with_capacity(v.len());
        for (v, r) in v.iter().zip(&self.r) {
            w.push((v - dot_product(r, &w)) / r[w.len()]);
        }
        dot_product(&w, &w)
    }
}

/// Returns the inner product of two vectors, up to the end of the shorter one.
fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl PolynomialFit {
    pub fn value_at(&self, x: f64) -> f64 {
        evaluate_polynomial(&self.scale, &self.scaled, x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(coefficients: &[f64], x: f64) -> f64 {
        coefficients.iter().rev().fold(0.0, |value, coefficient| value * x + coefficient)
    }

    fn points(coefficients: &[f64], xs: &[f64]) -> Vec<Point> {
        xs.iter().map(|&x| (x, of(coefficients, x))).collect()
    }

    #[test]
    fn a_line_by_hand() {
        // Mean x 2, mean y 3; Σ(x−2)(y−3) = 3, Σ(x−2)² = 2: slope 1.5, intercept 0. Residuals 0.5, −1, 0.5: Σ 1.5, one degree of freedom.
        let line = fit_polynomial(&[(1.0, 2.0), (2.0, 2.0), (3.0, 5.0)], 1).unwrap();
        assert!((line.coefficients[0]).abs() < 1e-12 && (line.coefficients[1] - 1.5).abs() < 1e-12, "{line:?}");
        assert!((line.deviation - 1.5_f64.sqrt()).abs() < 1e-12);
        assert!((line.r_squared.unwrap() - 0.75).abs() < 1e-12, "1 − 1.5 / 6");
    }

    #[test]
    fn rounding_is_no_variance_to_explain() {
        let tenth = 0.1 + 0.2 - 0.2;
        let flat = fit_polynomial(&[(1.0, 0.1), (2.0, tenth), (3.0, 0.1), (4.0, tenth)], 0).unwrap();
        assert_eq!(flat.r_squared, None, "0.1 and {tenth:e}");
    }

    #[test]
    fn coefficients_are_in_the_users_units() {
        // 2 n³ operations, n in thousands: powers from 1 to 1e16.
        let cube =
            fit_polynomial(&points(&[0.0, 0.0, 0.0, 2.0], &[1000.0, 2000.0, 3000.0, 4000.0, 6000.0]), 3).unwrap();
        assert!((cube.coefficients[3] - 2.0).abs() < 1e-9, "{cube:?}");
        assert!((cube.value_at(5000.0) / 2.5e11 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_points_are_said() {
        let two = [(1.0, 1.0), (2.0, 2.0), (2.0, 2.5)];
        assert_eq!(fit_polynomial(&two, 1).unwrap_err(), FitError::TooFewPoints { degree: 1, found: 2 });
        let said = fit_polynomial(&two, 1).unwrap_err().to_string();
        assert_eq!(said, "too few points: degree 1 needs 3 different values, there are 2");
        assert!(fit_polynomial(&[], 0).is_err() && fit_polynomial(&[(1.0, 1.0); 9], 0).is_err());
        assert_eq!(fit_polynomial(&[(1.0, f64::NAN), (2.0, 1.0)], 0).unwrap_err(), FitError::NotFinite);
    }

    #[test]
    fn values_that_only_rounding_distinguishes_are_one() {
        let close = [(1.0, 1.0), (1.0 + 1e-15, 1.1), (2.0, 2.0)];
        assert_eq!(fit_polynomial(&close, 1).unwrap_err(), FitError::TooFewPoints { degree: 1, found: 2 });
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::with_cases(200) })]

        #[test]
        fn a_polynomial_is_found_again(
            coefficients in prop::collection::vec(-10.0..10.0_f64, 1..=5),
            from in -100.0..100.0_f64,
            step in 0.1..10.0_f64,
        ) {
            let degree = coefficients.len() - 1;
            let xs: Vec<f64> = (0..8).map(|i| from + step * f64::from(i)).collect();
            let points = points(&coefficients, &xs);
            let size = points.iter().fold(1e-300_f64, |size, point| size.max(point.1.abs()));
            let fit = fit_polynomial(&points, degree).unwrap();
            for (x, y) in &points {
                prop_assert!((fit.value_at(*x) - y).abs() < 1e-9 * size);
                prop_assert!((of(&fit.coefficients, *x) - y).abs() < 1e-6 * size, "the equation is the curve");
            }
        }

        #[test]
        fn leaving_out_is_fitting_again_without(
            ys in prop::collection::vec(-1.0..1.0_f64, 8),
            degree in 0..=4_usize,
        ) {
            let points: Vec<Point> = ys.iter().enumerate().map(|(i, &y)| ((i as f64).powi(2), y)).collect();
            let whole = fit_polynomial(&points, degree).unwrap();
            for i in 0..points.len() {
                let mut others = points.clone();
                let (x, y) = others.remove(i);
                let again = y - fit_polynomial(&others, degree).unwrap().value_at(x);
                prop_assert!((whole.left_out_residuals[i] - again).abs() < 1e-6 * (1.0 + again.abs()));
            }
        }
    }
}
