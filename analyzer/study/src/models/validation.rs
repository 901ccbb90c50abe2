//! The degree of a polynomial, by leave-one-out cross validation (LOOCV): each point is predicted by a fit to the others. More
//! coefficients always come closer to the points that they are fitted to; what they predict gets worse once they follow the noise.
//!
//! ```text
//!   degree           0      1      2      3      4
//!   LOOCV error   71 s   23 s  4.0 s  1.1 s  1.0 s       4 is the best; 3 is as good within the error of the error
//!                                      ^ chosen
//! ```

use serde::Serialize;

use super::polynomial::{PolynomialFit, fit_polynomial};
use super::{FitError, Point};
use lbprof_thresholds::study::{MAX_DEGREE, ROUNDING_OF_VALUES};

/// The error of polynomials of a degree at points that they were not fitted to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, crate::JsonSchema)]
pub struct DegreeError {
    /// The degree.
    pub degree: usize,
    /// The LOOCV error: root of the mean squared residual of points left out, in the unit of y.
    pub error: f64,
    /// The mean squared residual's standard error over the points, in the unit of y squared.
    pub squared_error_deviation: f64,
}

impl DegreeError {
    fn squared_error(&self) -> f64 {
        self.error * self.error
    }
}

/// A polynomial, and those that it was chosen from.
#[derive(Clone, Debug, Serialize)]
pub struct SelectedFit {
    /// The polynomial.
    pub fit: PolynomialFit,
    /// Errors of the degrees that there are enough points for, from 0.
    pub errors: Vec<DegreeError>,
    /// Root of the mean squared y: what an error compares to.
    pub size: f64,
}

impl SelectedFit {
    /// The LOOCV error of the polynomial, in the unit of y.
    pub fn error(&self) -> f64 {
        self.errors.iter().find(|one| one.degree == self.fit.degree).map_or(f64::NAN, |one| one.error)
    }

    /// The error by the size of y: 0.01 is one per cent. `None` where all y are 0.
    pub fn relative_error(&self) -> Option<f64> {
        (self.size > 0.0).then(|| self.error() / self.size)
    }
}

/// The polynomial that predicts points best which it was not fitted to.
///
/// That with the smallest mean squared residual of points left out; and of those whose mean is within one standard error of the smallest,
/// the lowest degree, for a difference that small is chance. Errors below a billionth of the values are rounding, and all the same.
/// Degrees for which there are too few points are not tried: if there are too few for all, the result is the error of degree 0.
///
/// Source: docs/metrics.md §5; the one-standard-error rule: Breiman et al., "Classification and Regression Trees" (1984), §3.4.3.
pub fn choose_degree(points: &[Point]) -> Result<SelectedFit, FitError> {
    let mut fits = vec![fit_polynomial(points, 0)?];
    fits.extend((1..=MAX_DEGREE).map_while(|degree| fit_polynomial(points, degree).ok()));
    let errors: Vec<DegreeError> = fits.iter().map(degree_error).collect();
    let size = (points.iter().map(|(_, y)| y * y).sum::<f64>() / points.len() as f64).sqrt();
    let best = errors.iter().min_by(|a, b| a.squared_error().total_cmp(&b.squared_error()));
    let limit = best.map_or(0.0, |best| best.squared_error() + best.squared_error_deviation);
    let limit = limit.max((ROUNDING_OF_VALUES * size).powi(2));
    let at = errors.iter().position(|one| one.squared_error() <= limit).unwrap_or(0);
    Ok(SelectedFit { fit: fits.swap_remove(at), errors, size })
}

fn degree_error(fit: &PolynomialFit) -> DegreeError {
    let squares: Vec<f64> = fit.left_out_residuals.iter().map(|residual| residual * residual).collect();
    let n = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / n;
    let variance = squares.iter().map(|square| (square - mean).powi(2)).sum::<f64>() / (n - 1.0);
    DegreeError { degree: fit.degree, error: mean.sqrt(), squared_error_deviation: (variance / n).sqrt() }
}

#[cfg(test)]
mod tests {
    use lbprof_analysis::metrics::spread::pseudo_random::RandomFractions;

    use super::*;

    /// Σ x^k for k to `degree`, x in 1..=2 at `n` points, with noise of deviation `sigma`.
    fn noisy(degree: usize, n: usize, sigma: f64, seed: u64) -> Vec<Point> {
        let mut random = RandomFractions::new(seed);
        // Normally distributed (Box and Muller).
        let mut noise = move || {
            let (u, v) = (1.0 - random.next_fraction(), random.next_fraction());
            (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
        };
        let xs = (0..n).map(|i| 1.0 + i as f64 / (n - 1) as f64);
        xs.map(|x| (x, (0..=degree).map(|k| x.powi(k as i32)).sum::<f64>() + sigma * noise())).collect()
    }

    #[test]
    fn the_degree_of_a_noisy_polynomial_is_found() {
        for degree in 0..=MAX_DEGREE {
            // The least that the highest power bends the curve beyond what lower ones can follow is 2⁻⁷ for degree 4.
            let found = (0..50).map(|seed| choose_degree(&noisy(degree, 20, 1e-3, seed)).unwrap().fit.degree);
            let mut wrong: Vec<usize> = found.filter(|&found| found != degree).collect();
            wrong.sort_unstable();
            assert!(wrong.iter().all(|&found| found > degree), "never too low: {degree} {wrong:?}");
            assert!(wrong.len() <= 7, "degree {degree}: {wrong:?}");
        }
    }

    #[test]
    fn noise_alone_has_no_degree() {
        let degrees: Vec<usize> =
            (0..100).map(|seed| choose_degree(&noisy(0, 8, 0.1, seed)).unwrap().fit.degree).collect();
        let zero = degrees.iter().filter(|&&degree| degree == 0).count();
        assert!(zero >= 85, "{degrees:?}");
    }

    #[test]
    fn errors_of_degrees_by_hand() {
        // Left out, each is predicted by the mean of the others: 3.5, 2, 1.5. Residuals −3.5... of 0, 3, 4: −3.5, 1, 2.5.
        let chosen = choose_degree(&[(1.0, 0.0), (2.0, 3.0), (3.0, 4.0)]).unwrap();
        let squares = [12.25, 1.0, 6.25];
        assert!((chosen.errors[0].error - (squares.iter().sum::<f64>() / 3.0).sqrt()).abs() < 1e-12);
        // The lines through two of them: 2 at 1, 2 at 2, 6 at 3. Residuals −2, 1, −2.
        assert!((chosen.errors[1].error - 3.0_f64.sqrt()).abs() < 1e-12, "{:?}", chosen.errors);
        assert_eq!(chosen.fit.degree, 1);
    }

    #[test]
    fn too_few_points_are_said() {
        assert_eq!(choose_degree(&[(1.0, 1.0)]).unwrap_err(), FitError::TooFewPoints { degree: 0, found: 1 });
    }
}
