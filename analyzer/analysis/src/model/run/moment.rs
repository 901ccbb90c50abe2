//! Ends of the window that is looked at, as users give them: `1.5s`, `200ms`, `90`, `iteration=10`.

use bincode::{Decode, Encode};
use std::fmt;
use std::str::FromStr;

/// An end of the window.
#[derive(Clone, Copy, Debug, PartialEq, Encode, Decode)]
pub enum WindowBoundary {
    /// Nanoseconds from the begin of the run.
    Time(i64),
    /// An iteration of the main loop: its begin where the window begins, its end where it ends.
    Iteration(u32),
}

impl WindowBoundary {
    /// Seconds from the begin of the run, where it is a time.
    pub fn seconds(self) -> Option<f64> {
        if let WindowBoundary::Time(ns) = self { Some(ns as f64 / 1e9) } else { None }
    }

    /// The iteration, where it is one.
    pub fn iteration(self) -> Option<u32> {
        if let WindowBoundary::Iteration(number) = self { Some(number) } else { None }
    }
}

impl fmt::Display for WindowBoundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WindowBoundary::Time(ns) => write!(f, "{} s", *ns as f64 / 1e9),
            WindowBoundary::Iteration(number) => write!(f, "iteration {number}"),
        }
    }
}

/// Why a text is no end of a window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time from the begin of the run, as 1.5s, 200ms or 90 (seconds), or iteration=10")]
pub struct BoundaryError;

const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 60e9), ("h", 3600e9), ("s", 1e9), ("", 1e9)];

/// Longest time that makes sense, in seconds: a hundred years.
const LONGEST_S: f64 = 3.2e9;

impl FromStr for WindowBoundary {
    type Err = BoundaryError;

    fn from_str(text: &str) -> Result<Self, BoundaryError> {
        let text = text.trim();
        if let Some(number) = text.strip_prefix("iteration=") {
            return number.trim().parse().map(WindowBoundary::Iteration).map_err(|_| BoundaryError);
        }
        let (number, ns) =
            UNITS.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, ns))).ok_or(BoundaryError)?;
        let number: f64 = number.trim().parse().map_err(|_| BoundaryError)?;
        let ns = number * ns;
        // Also false of what is no number.
        let makes_sense = (0.0..=LONGEST_S * 1e9).contains(&ns);
        if makes_sense { Ok(WindowBoundary::Time(ns.round() as i64)) } else { Err(BoundaryError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_are_seconds() {
        let all = [
            ("1.5s", 1_500_000_000),
            ("200ms", 200_000_000),
            ("90", 90_000_000_000),
            ("0", 0),
            ("3 us", 3_000),
            ("3µs", 3_000),
            ("7ns", 7),
            ("2min", 120_000_000_000),
            ("1h", 3_600_000_000_000),
            ("1e-3", 1_000_000),
        ];
        for (text, ns) in all {
            assert_eq!(text.parse(), Ok(WindowBoundary::Time(ns)), "{text}");
        }
    }

    #[test]
    fn iterations_are_named_by_number() {
        assert_eq!("iteration=10".parse(), Ok(WindowBoundary::Iteration(10)));
        assert_eq!(WindowBoundary::Iteration(10).to_string(), "iteration 10");
        assert_eq!("250ms".parse::<WindowBoundary>().unwrap().to_string(), "0.25 s");
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in "|s|-1s|NaN|inf|1e300|1.5 x|iteration=|iteration=-1|iteration=1.5|#10|1:30".split('|') {
            assert!(text.parse::<WindowBoundary>().is_err(), "{text:?}");
        }
    }
}
