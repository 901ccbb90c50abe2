//! The linear law T = δ·#op: what takes as many operations takes as long (Lemeire et al. 2004, eq. 6).

use serde::Serialize;

use super::{FitError, Point, r_squared, sum_of_squares};

/// A law y = δ·x.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinearLaw {
    /// δ: units of y per unit of x, as seconds per operation.
    pub delta: f64,
    /// Standard error of δ, in its unit.
    pub delta_error: f64,
    /// LOOCV error: root of the mean squared residual of points left out, in the unit of y.
    pub error: f64,
    /// Root of the mean squared y: what the error compares to.
    pub size: f64,
    /// Standard deviation of the points from the law, in the unit of y.
    pub deviation: f64,
    /// R²: 1 − Σ residual² / Σ (y − mean)²; negative where the mean of all y predicts better than the law. `None` where y is the same
    /// everywhere.
    pub r_squared: Option<f64>,
    pub n_points: usize,
}

/// The law with the least squared residuals: δ = Σ x·y / Σ x². It needs two points with x above 0.
pub fn fit_law(points: &[Point]) -> Result<LinearLaw, FitError> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return Err(FitError::NotFinite);
    }
    let found = points.iter().filter(|(x, _)| *x > 0.0).count();
    if found < 2 {
        return Err(FitError::TooFewRuns(found));
    }
    let n = points.len() as f64;
    let squares = sum_of_squares(points.iter().map(|(x, _)| *x));
    let delta = points.iter().map(|(x, y)| x * y).sum::<f64>() / squares;
    let residuals: Vec<f64> = points.iter().map(|(x, y)| y - delta * x).collect();
    // The leverage of a point is x² / Σ x².
    let left_out = points.iter().zip(&residuals).map(|((x, _), residual)| residual / (1.0 - x * x / squares));
    let error = (sum_of_squares(left_out) / n).sqrt();
    if !(delta.is_finite() && error.is_finite()) {
        return Err(FitError::NotFinite);
    }
    let deviation = (sum_of_squares(residuals.iter().copied()) / (n - 1.0)).sqrt();
    Ok(LinearLaw {
        delta,
        delta_error: deviation / squares.sqrt(),
        error,
        size: (sum_of_squares(points.iter().map(|(_, y)| *y)) / n).sqrt(),
        deviation,
        r_squared: r_squared(points, &residuals),
        n_points: points.len(),
    })
}

impl LinearLaw {
    pub fn value_at(&self, x: f64) -> f64 {
        self.delta * x
    }

    /// The LOOCV error by the size of y: 0.01 is one per cent. `None` where all y are 0.
    pub fn relative_error(&self) -> Option<f64> {
        (self.size > 0.0).then(|| self.error / self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_by_hand() {
        // Σ xy = 2 + 8 = 10, Σ x² = 5: δ = 2, residuals −1 + … = 0 and 0 at (1, 2), (2, 4).
        let exact = fit_law(&[(1.0, 2.0), (2.0, 4.0)]).unwrap();
        assert_eq!((exact.delta, exact.delta_error, exact.error), (2.0, 0.0, 0.0));
        // Σ xy = 3 + 6 = 9, Σ x² = 5: δ = 1.8, residuals 1.2 and −0.6, Σ 1.8, deviation √1.8.
        let law = fit_law(&[(1.0, 3.0), (2.0, 3.0)]).unwrap();
        assert!((law.delta - 1.8).abs() < 1e-12);
        assert!((law.delta_error - (1.8_f64 / 5.0).sqrt()).abs() < 1e-12);
        // Left out: δ of the other is 1.5 and 3: residuals 1.5 and −3.
        assert!((law.error - (11.25_f64 / 2.0).sqrt()).abs() < 1e-12);
        assert!((law.deviation - 1.8_f64.sqrt()).abs() < 1e-12);
        assert_eq!(law.r_squared, None);
    }

    #[test]
    fn runs_without_operations_give_no_law() {
        assert_eq!(fit_law(&[(0.0, 1.0), (1.0, 1.0)]).unwrap_err(), FitError::TooFewRuns(1));
        assert_eq!(fit_law(&[]).unwrap_err(), FitError::TooFewRuns(0));
        assert_eq!(fit_law(&[(1.0, f64::INFINITY), (2.0, 1.0)]).unwrap_err(), FitError::NotFinite);
        assert_eq!(fit_law(&[(1e300, 1.0), (1e300, 1.0)]).unwrap_err(), FitError::NotFinite, "no overflow");
        // #q of a run on one rank is 0: it has no part in δ.
        assert_eq!(fit_law(&[(0.0, 0.5), (1.0, 2.0), (2.0, 4.0)]).unwrap().delta, 2.0);
    }
}
