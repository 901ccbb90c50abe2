//! Equations as readers write them: `T_comp = 1.20 ms + 50.1 ns·#op`, `#op = 2.00·n³`.

use super::linear::LinearLaw;
use super::observations::quantity::CausalQuantity;
use super::polynomial::PolynomialFit;
use lbprof_report::rows::words::escape_name;
use lbprof_thresholds::study::MIN_TERM;

/// Time with three digits and the unit that suits it, from years to what a processor never shows: `50.1 ns`.
fn time_with_unit(seconds: f64) -> String {
    const UNITS: [(f64, &str); 6] =
        [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"), (1e-15, "fs")];
    let size = seconds.abs();
    let unit = UNITS.iter().find(|(scale, _)| size >= 0.9995 * scale).unwrap_or(&UNITS[0]);
    format!("{} {}", three_digits(seconds / unit.0), unit.1)
}

/// A number with three digits: `2.00`, `54.9`, `1.23e9`.
fn three_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(0.0009995..999_500.0).contains(&size) => format!("{value:.2e}"),
        // Half of a last digit more has as many digits as what it is rounded to.
        size => format!("{value:.*}", (2 - (1.0005 * size).log10().floor() as i32).clamp(0, 5) as usize),
    }
    .replace('-', "−")
}

/// The law's equation, with δ in the unit that suits it.
pub fn of_law(law: &LinearLaw, from: &CausalQuantity, to: &CausalQuantity) -> String {
    format!("{} = {}·{}", escape_name(to.symbol()), delta_with_unit(law.delta, from, to), escape_name(from.symbol()))
}

/// A law's δ with its unit: `50.1 ns/operation`.
pub fn delta_with_unit(delta: f64, from: &CausalQuantity, to: &CausalQuantity) -> String {
    if to.is_time() {
        format!("{}/{}", time_with_unit(delta), escape_name(from.unit_phrase()))
    } else {
        three_digits(delta)
    }
}

/// The polynomial's equation, the highest power first.
pub fn of_fit(fit: &PolynomialFit, from: &CausalQuantity, to: &CausalQuantity) -> String {
    let x = escape_name(from.symbol());
    let largest_x = fit.range.0.abs().max(fit.range.1.abs());
    let sizes: Vec<f64> =
        fit.coefficients.iter().zip(0..).map(|(coefficient, k)| (coefficient * largest_x.powi(k)).abs()).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let mut text = format!("{} =", escape_name(to.symbol()));
    let mut is_first = true;
    for (k, &coefficient) in fit.coefficients.iter().enumerate().rev() {
        if sizes[k] < MIN_TERM * largest || (coefficient == 0.0 && k > 0) {
            continue;
        }
        let sign = match (coefficient < 0.0, is_first) {
            (true, true) => " −",
            (true, false) => " − ",
            (false, true) => " ",
            (false, false) => " + ",
        };
        let size = if to.is_time() { time_with_unit(coefficient.abs()) } else { three_digits(coefficient.abs()) };
        let power = ["", "", "²", "³", "⁴"].get(k).copied().unwrap_or("");
        text += &if k == 0 { format!("{sign}{size}") } else { format!("{sign}{size}·{x}{power}") };
        is_first = false;
    }
    if is_first { text + " 0" } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::linear::fit_law;
    use super::super::polynomial::fit_polynomial;
    use super::*;
    use crate::models::observations::phases::TimeClass;

    #[test]
    fn times_and_numbers_have_three_digits() {
        assert_eq!(
            (time_with_unit(0.25e-6), time_with_unit(0.27e-3), time_with_unit(3.2e-13)),
            ("250 ns".into(), "270 µs".into(), "320 fs".into())
        );
        assert_eq!(
            (time_with_unit(0.0), time_with_unit(-0.00123), time_with_unit(0.99999e-6)),
            ("0 s".into(), "−1.23 ms".into(), "1.00 µs".into())
        );
        assert_eq!(
            (three_digits(2.0), three_digits(54.87e9), three_digits(1234.0)),
            ("2.00".into(), "5.49e10".into(), "1234".into())
        );
        assert_eq!((three_digits(0.01234), three_digits(1e-9)), ("0.0123".into(), "1.00e−9".into()));
    }

    #[test]
    fn equations_are_written_from_the_highest_power_down() {
        let (n, op) = (CausalQuantity::Variable("n".into()), CausalQuantity::Operations("main/multiply".into()));
        let time = CausalQuantity::Time("main/multiply".into(), TimeClass::Computation);
        let points = |f: fn(f64) -> f64| (1..=9).map(f64::from).map(|x| (x, f(x))).collect::<Vec<_>>();
        assert_eq!(of_fit(&fit_polynomial(&points(|x| 2.0 * x.powi(3)), 3).unwrap(), &n, &op), "#op = 2.00·n³");
        let curve = fit_polynomial(&points(|x| 1e-3 - 2e-3 * x + 5e-4 * x * x), 2).unwrap();
        assert_eq!(of_fit(&curve, &n, &time), "T_comp = 500 µs·n² − 2.00 ms·n + 1.00 ms");
        assert_eq!(of_fit(&fit_polynomial(&points(|_| -2.0), 0).unwrap(), &n, &op), "#op = −2.00");
        assert_eq!(of_fit(&fit_polynomial(&points(|_| 0.0), 0).unwrap(), &n, &op), "#op = 0");
        let law = fit_law(&points(|x| 0.25e-6 * x)).unwrap();
        assert_eq!(of_law(&law, &op, &time), "T_comp = 250 ns/operation·#op");
    }

    #[test]
    fn names_do_not_reach_the_terminal() {
        let name = CausalQuantity::Variable("n\x1b[31m".into());
        let line = fit_polynomial(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)], 1).unwrap();
        assert_eq!(of_fit(&line, &name, &CausalQuantity::Quanta("main".into())), "#q = 1.00·n\\u{1b}[31m");
    }
}
