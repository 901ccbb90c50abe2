//! The period of samples in a run of any length.
//!
//! Up to [`FULL_RATE_NS`] it is the requested one. From then on it grows with the time since the begin, up to [`LONGEST_NS`], so that the number of
//! samples grows with the logarithm of time. Each sample states its period, by which it counts.
//!
//! ```text
//!   since the begin    1 min    10 min    1 h      24 h
//!   period             5 ms     50 ms     0.3 s    7.2 s
//!   samples so far     12,000   40,000    61,000   99,000      of a thread that computes all the time
//! ```

/// Time with samples at the requested rate, in nanoseconds.
const FULL_RATE_NS: u64 = 60_000_000_000;

/// The longest period, in nanoseconds.
const LONGEST_NS: u64 = 10_000_000_000;

/// Returns the period at a time since the begin, in nanoseconds, where one was requested for the begin.
pub fn growing_period(requested_ns: u64, elapsed_ns: u64) -> u64 {
    let grown = u128::from(requested_ns) * u128::from(elapsed_ns.max(FULL_RATE_NS)) / u128::from(FULL_RATE_NS);
    u64::try_from(grown).unwrap_or(u64::MAX).min(requested_ns.max(LONGEST_NS))
}

/// Returns how long a period is kept: some seconds, or a hundred periods, for each change loses half of one.
pub fn kept_for_ns(period_ns: u64) -> u64 {
    const AT_LEAST_NS: u64 = 2_000_000_000;
    AT_LEAST_NS.max(period_ns.saturating_mul(100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_grow_with_the_logarithm_of_time() {
        const SECOND: u64 = 1_000_000_000;
        let of = |seconds: u64| growing_period(5_000_000, seconds * SECOND);
        assert_eq!((of(0), of(60), of(600), of(3600)), (5_000_000, 5_000_000, 50_000_000, 300_000_000));
        assert_eq!((of(86_400), of(7 * 86_400)), (7_200_000_000, LONGEST_NS));
        let samples: f64 = (0..86_400).map(|second| SECOND as f64 / of(second) as f64).sum();
        assert!((98_000.0..101_000.0).contains(&samples), "{samples}");
    }

    #[test]
    fn a_requested_period_is_never_shortened() {
        assert_eq!(growing_period(20_000_000_000, 90_000_000_000), 20_000_000_000);
        assert_eq!(growing_period(u64::MAX, u64::MAX), u64::MAX);
    }
}
