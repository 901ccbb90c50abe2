//! Ticks → seconds on the run's common clock, which is rank 0's CLOCK_MONOTONIC.
//!
//! ```text
//! ticks of the rank ──(first and last instant)──→ its host's CLOCK_MONOTONIC ──(clock offsets)──→ rank 0's
//! ```
//!
//! The rate of ticks comes from the first and the last [`ClockPair`] of the log. Between the first and the last
//! [`ClockOffset`] the offset changes linearly, as the clocks of hosts drift; before and after it stays as it was measured.

use crate::definition::{ClockOffset, ClockPair};
use crate::record::heads::log_header::{ClockSource, LogHeader};
use bincode::{Decode, Encode};

/// A rank's clock.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct RankClock {
    origin: ClockPair,
    ns_per_tick: f64,
    offsets: Option<(ClockOffset, ClockOffset)>,
    known: bool,
}

impl RankClock {
    /// Creates the clock of the rank with `header`. `instants` and `offsets` are all definitions of their kind in its log, in any order.
    pub fn new(header: &LogHeader, instants: &[ClockPair], offsets: &[ClockOffset]) -> Self {
        let noted = header.instants.iter().chain(instants).filter(|instant| instant.ticks != 0);
        let first = noted.clone().min_by_key(|instant| instant.ticks).copied();
        let last = noted.max_by_key(|instant| instant.ticks).copied();
        let rate = first.zip(last).and_then(|(first, last)| tick_rate(first, last));
        let rate = if header.clock == ClockSource::Monotonic { Some(1.0) } else { rate };
        let origin = match header.clock {
            // Its ticks are the nanoseconds themselves, whatever pairs were noted.
            ClockSource::Monotonic => ClockPair { ticks: 0, monotonic_ns: 0 },
            ClockSource::Tsc => first.unwrap_or(ClockPair { ticks: 0, monotonic_ns: 0 }),
        };
        let first = offsets.iter().min_by_key(|offset| offset.ticks).copied();
        let last = offsets.iter().max_by_key(|offset| offset.ticks).copied();
        let compared = header.rank == 0 || header.n_ranks == 1 || first.is_some();
        RankClock {
            origin,
            ns_per_tick: rate.unwrap_or(1.0),
            offsets: first.zip(last),
            known: rate.is_some() && compared,
        }
    }

    /// Returns nanoseconds on the common clock at `ticks` of the rank's clock.
    pub fn nanoseconds(&self, ticks: u64) -> i64 {
        let since = ticks.wrapping_sub(self.origin.ticks) as i64;
        let own = (self.origin.monotonic_ns as i64).saturating_add(self.ns(since));
        own.saturating_sub(self.offset_ns(ticks))
    }

    /// Returns the first tick at or after `ns` nanoseconds on the common clock: the inverse of [`RankClock::nanoseconds`].
    pub fn first_tick_at(&self, ns: i64) -> u64 {
        // Ticks beyond this range from the origin have no time of their own.
        let (mut low, mut high) =
            (self.origin.ticks.saturating_sub(1 << 62), self.origin.ticks.saturating_add(1 << 62));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.nanoseconds(middle) < ns { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the length of a tick in seconds of the common clock between the first and the last offset, or a nanosecond if it is not known.
    ///
    /// Lengths of calls and of the window then agree with times on the common clock, although clocks drift by up to 10 µs a second.
    pub fn tick_s(&self) -> f64 {
        let drift = self.offsets.map_or(0.0, |(first, last)| {
            let ns = last.offset_ns.saturating_sub(first.offset_ns);
            if ns == 0 { 0.0 } else { ns as f64 / (last.ticks - first.ticks).max(1) as f64 }
        });
        // A clock does not lose or gain a second a second.
        let drift = if drift.abs() < self.ns_per_tick { drift } else { 0.0 };
        (self.ns_per_tick - drift) / 1e9
    }

    /// Returns whether the length of a tick is known and the clock was compared with rank 0's (it is rank 0's, or there is no other).
    pub fn is_calibrated(&self) -> bool {
        self.known
    }

    /// Converts `ticks` to nanoseconds, without rounding if a tick is a nanosecond.
    fn ns(&self, ticks: i64) -> i64 {
        if self.ns_per_tick == 1.0 { ticks } else { round_to_integer(ticks as f64 * self.ns_per_tick) }
    }

    fn offset_ns(&self, ticks: u64) -> i64 {
        let Some((first, last)) = self.offsets else { return 0 };
        let drift = last.offset_ns.saturating_sub(first.offset_ns);
        if drift == 0 {
            return first.offset_ns;
        }
        let (span, since) = (last.ticks - first.ticks, ticks.clamp(first.ticks, last.ticks) - first.ticks);
        let part = if span == 0 { 0.0 } else { since as f64 / span as f64 };
        first.offset_ns.saturating_add(round_to_integer(drift as f64 * part))
    }
}

/// The nearest whole number, halves away from zero. The same as `f64::round`, which is a call where the processor's generation is not
/// known, and there are two for each record.
fn round_to_integer(value: f64) -> i64 {
    let whole = value as i64;
    let rest = value - whole as f64;
    whole.saturating_add(i64::from(rest >= 0.5)).saturating_sub(i64::from(rest <= -0.5))
}

/// Returns the nanoseconds of a tick by two instants, or `None` if these are the same or make no sense.
fn tick_rate(first: ClockPair, last: ClockPair) -> Option<f64> {
    let ticks = last.ticks.checked_sub(first.ticks).filter(|&ticks| ticks > 0)?;
    let ns = last.monotonic_ns.checked_sub(first.monotonic_ns).filter(|&ns| ns > 0)?;
    Some(ns as f64 / ticks as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(ticks: u64, monotonic_ns: u64) -> ClockPair {
        ClockPair { ticks, monotonic_ns }
    }

    fn offset(ticks: u64, offset_ns: i64) -> ClockOffset {
        ClockOffset { ticks, offset_ns, error_ns: 10 }
    }

    fn tsc(rank: u32) -> LogHeader {
        let instants = [instant(3_000, 10_000), instant(6_000, 11_000)];
        LogHeader { rank, n_ranks: 2, clock: ClockSource::Tsc, instants, ..LogHeader::default() }
    }

    fn monotonic() -> LogHeader {
        LogHeader { rank: 1, n_ranks: 2, clock: ClockSource::Monotonic, ..LogHeader::default() }
    }

    #[test]
    fn ticks_of_a_counter_are_counted_from_the_first_instant_at_the_rate_of_the_last() {
        // The header's instants say 1/3 ns a tick; over the whole log 6,000 ticks last 2,400 ns, so 0.4 ns each.
        let clock = RankClock::new(&tsc(0), &[instant(9_000, 12_400)], &[]);
        assert_eq!((clock.tick_s() * 1e12).round(), 400.0);
        assert_eq!(clock.nanoseconds(3_000), 10_000);
        assert_eq!(clock.nanoseconds(9_000), 12_400);
        assert_eq!(clock.nanoseconds(4_000), 10_400);
        assert_eq!(clock.nanoseconds(2_000), 9_600, "before the first instant");
        assert!(clock.is_calibrated());
    }

    #[test]
    fn offsets_are_interpolated_between_the_first_and_the_last_and_constant_outside() {
        // One tick is a third of a nanosecond; the rank is 500 ns ahead at first and 800 ns at last.
        let clock = RankClock::new(&tsc(1), &[], &[offset(9_000, 800), offset(3_000, 500)]);
        assert_eq!(clock.nanoseconds(3_000), 10_000 - 500);
        assert_eq!(clock.nanoseconds(6_000), 11_000 - 650);
        assert_eq!(clock.nanoseconds(9_000), 12_000 - 800);
        assert_eq!(clock.nanoseconds(12_000), 13_000 - 800);
        assert_eq!(clock.nanoseconds(0), 9_000 - 500);
    }

    #[test]
    fn ticks_are_as_long_as_the_time_between_them() {
        // 6,000 ticks are 2,000 ns of its own, in which it gains 300 ns on the common clock, or loses as much.
        for (last_ns, expected_ns) in [(800, 1_700), (200, 2_300), (500, 2_000)] {
            let clock = RankClock::new(&tsc(1), &[], &[offset(3_000, 500), offset(9_000, last_ns)]);
            assert_eq!(clock.nanoseconds(9_000) - clock.nanoseconds(3_000), expected_ns);
            assert_eq!((clock.tick_s() * 6_000.0 * 1e9).round() as i64, expected_ns);
        }
        let absurd = RankClock::new(&tsc(1), &[], &[offset(3_000, i64::MIN), offset(3_000, i64::MAX)]);
        assert!(absurd.tick_s() > 0.0);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let odd = ((1_i64 << 52) + 1) as f64;
        for value in [0.0, 0.49999999999999994, 0.5, 1.5, 2.5, 1e9 + 0.5, odd, f64::MAX, f64::INFINITY, f64::NAN] {
            assert_eq!(round_to_integer(value), value.round() as i64, "{value}");
            assert_eq!(round_to_integer(-value), (-value).round() as i64, "-{value}");
        }
    }

    #[test]
    fn the_system_clock_needs_no_instants() {
        let clock = RankClock::new(&monotonic(), &[], &[offset(50, -7)]);
        assert_eq!(clock.nanoseconds(1_000), 1_007);
        assert_eq!(clock.tick_s(), 1e-9);
        assert!(clock.is_calibrated());
    }

    #[test]
    fn the_first_tick_at_a_time_is_found() {
        // 0.4 ns a tick: 10,000 ns are tick 3,000 and, rounded, the one before it.
        let counter = RankClock::new(&tsc(0), &[instant(9_000, 12_400)], &[]);
        assert_eq!(counter.first_tick_at(10_000), 2_999);
        assert_eq!(counter.first_tick_at(10_400), 3_999);
        let drifting = RankClock::new(&tsc(1), &[], &[offset(9_000, 800), offset(3_000, 500)]);
        let system = RankClock::new(&monotonic(), &[], &[]);
        for clock in [counter, drifting, system] {
            for ns in [9_000, 9_999, 10_000, 10_123, 11_500, 12_399, 20_000] {
                let tick = clock.first_tick_at(ns);
                assert!(clock.nanoseconds(tick) >= ns && clock.nanoseconds(tick - 1) < ns, "{clock:?} at {ns}");
            }
        }
    }

    #[test]
    fn a_clock_is_not_known_without_a_rate_or_a_comparison() {
        let same = LogHeader { instants: [instant(5, 5); 2], ..tsc(0) };
        assert!(!RankClock::new(&same, &[], &[]).is_calibrated(), "no rate");
        assert!(!RankClock::new(&tsc(1), &[], &[]).is_calibrated(), "not compared");
        assert!(
            RankClock::new(&LogHeader { n_ranks: 1, ..tsc(0) }, &[], &[]).is_calibrated(),
            "nothing to compare with"
        );
    }

    #[test]
    fn hostile_numbers_give_some_time_and_no_panic() {
        let header = LogHeader { instants: [instant(u64::MAX, 0), instant(1, u64::MAX)], ..tsc(1) };
        let clock = RankClock::new(&header, &[], &[offset(0, i64::MIN), offset(u64::MAX, i64::MAX)]);
        for ticks in [0, 1, u64::MAX / 2, u64::MAX] {
            let _ = clock.nanoseconds(ticks);
        }
    }
}
