//! A value that was not measured, and how uncertain it is.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::FitError;
use super::linear::LinearLaw;
use super::polynomial::PolynomialFit;
use lbprof_thresholds::study::CONFIDENCE_OF_INTERVAL;

/// The predicted result of a measurement at x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PredictionInterval {
    /// The x.
    pub x: f64,
    /// Expected value.
    pub value: f64,
    /// The interval in which 95 of 100 new measurements lie, where the model holds and deviations are normal: from here …
    pub low: f64,
    /// … to here.
    pub high: f64,
    /// The smallest and largest x that were measured.
    pub range: (f64, f64),
}

impl PredictionInterval {
    /// The value of `fit` at `x`, with its interval.
    ///
    /// Outside of what was measured it needs one different x more than the fit itself: a curve through all points but one could go
    /// anywhere there. Source of the interval: Student's t times [`PolynomialFit::deviation_at`].
    pub fn of_fit(fit: &PolynomialFit, x: f64) -> Result<PredictionInterval, FitError> {
        let needed = fit.degree + 3;
        beyond(x, fit.range, fit.degree, needed, fit.n_different)?;
        PredictionInterval::around(x, fit.value_at(x), fit.deviation_at(x), fit.freedom(), fit.range)
    }

    /// The value of `law` at `x`, with its interval; outside of the measured range it needs three points.
    pub fn of_law(law: &LinearLaw, x: f64) -> Result<PredictionInterval, FitError> {
        // From the origin on all is inside: the law goes through it.
        let range = (law.range.0.min(0.0), law.range.1);
        beyond(x, range, 1, 3, law.n_points)?;
        PredictionInterval::around(x, law.value_at(x), law.deviation_at(x), law.n_points - 1, law.range)
    }

    fn around(
        x: f64,
        value: f64,
        deviation: f64,
        freedom: usize,
        range: (f64, f64),
    ) -> Result<PredictionInterval, FitError> {
        let half = deviation * students_t(freedom);
        let prediction = PredictionInterval { x, value, low: value - half, high: value + half, range };
        if prediction.low.is_finite() && prediction.high.is_finite() {
            Ok(prediction)
        } else {
            Err(FitError::NotFinite)
        }
    }

    /// Half the interval's width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The distance of `x` from the measured range, in widths of that range; 0 inside.
    pub fn widths_outside(&self) -> f64 {
        let (least, most) = self.range;
        (self.x - most).max(least - self.x).max(0.0) / (most - least)
    }
}

fn beyond(x: f64, range: (f64, f64), degree: usize, needed: usize, found: usize) -> Result<(), FitError> {
    let is_inside = (range.0..=range.1).contains(&x);
    if is_inside || found >= needed { Ok(()) } else { Err(FitError::TooFewBeyond { degree, needed, found }) }
}

/// The number of standard deviations by which the interval of [`CONFIDENCE_OF_INTERVAL`] extends to each side with so many degrees of freedom; infinite with
/// none.
fn students_t(freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64);
    t.map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + CONFIDENCE_OF_INTERVAL / 2.0))
}

#[cfg(test)]
mod tests {
    use super::super::linear::law;
    use super::super::polynomial::fit;
    use super::super::pseudo_random::NoiseGenerator;
    use super::*;

    #[test]
    fn a_line_and_its_interval_by_hand() {
        // The line 1.5 x with deviation √1.5 and one degree of freedom (polynomial.rs); t = 12.706.
        let line = fit(&[(1.0, 2.0), (2.0, 2.0), (3.0, 5.0)], 1).unwrap();
        let inside = PredictionInterval::of_fit(&line, 2.0).unwrap();
        assert!((inside.value - 3.0).abs() < 1e-12);
        assert!((inside.half_width() - 12.706 * (1.5_f64 * 4.0 / 3.0).sqrt()).abs() < 1e-3, "{inside:?}");
        assert_eq!(inside.widths_outside(), 0.0);
    }

    #[test]
    fn beyond_the_points_one_more_is_needed() {
        let line = fit(&[(1.0, 2.0), (2.0, 2.0), (3.0, 5.0)], 1).unwrap();
        let refused = PredictionInterval::of_fit(&line, 4.0).unwrap_err();
        assert_eq!(refused, FitError::TooFewBeyond { degree: 1, needed: 4, found: 3 });
        let line = fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)], 1).unwrap();
        let far = PredictionInterval::of_fit(&line, 10.0).unwrap();
        assert!((far.value - 10.0).abs() < 1e-9 && far.widths_outside() == 2.0);
    }

    #[test]
    fn a_law_reaches_down_to_the_origin() {
        let two = law(&[(10.0, 20.0), (20.0, 40.0)]).unwrap();
        assert_eq!(PredictionInterval::of_law(&two, 1.0).unwrap().value, 2.0);
        assert_eq!(
            PredictionInterval::of_law(&two, 21.0).unwrap_err(),
            FitError::TooFewBeyond { degree: 1, needed: 3, found: 2 }
        );
    }

    #[test]
    fn the_interval_holds_as_often_as_it_says() {
        // 1 + 2x + noise at ten x, then a new measurement at 15: outside by two thirds of the range.
        let held = (0..1000).filter(|&seed| {
            let mut noise = NoiseGenerator::new(seed);
            let points: Vec<_> = (0..10).map(f64::from).map(|x| (x, 1.0 + 2.0 * x + noise.normal())).collect();
            let said = PredictionInterval::of_fit(&fit(&points, 1).unwrap(), 15.0).unwrap();
            (said.low..=said.high).contains(&(31.0 + noise.normal()))
        });
        let held = held.count();
        // Binomial: 950 ± 3·6.9.
        assert!((929..=971).contains(&held), "{held}");
    }
}
