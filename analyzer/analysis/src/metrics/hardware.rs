//! Evaluates the hardware counters of computation: instructions, how many of them in a cycle (IPC), how many cycles in a second of CPU time
//! (frequency).
//!
//! A rank may compute longer than others because it executes more instructions, which is the program's doing, or because each takes longer, by memory, frequency or
//! neighbours. With Iₚ instructions in tₚ seconds on rank p, Ī and t̄ the means over ranks, and c̄ = t̄ / Ī seconds an instruction:
//!
//! ```text
//!   t_r − t̄ = (I_r − Ī) c̄   +   I_r (t_r / I_r − c̄)
//!             more instructions   slower instructions
//! ```
//!
//! The two add up to the excess of CPU time.

use crate::model::ranks::samples::HardwareCounters;

/// The causes of an excess of CPU time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExcessSplit {
    /// More instructions than the mean, at the mean speed.
    pub more_instructions_s: f64,
    /// The rank's instructions being slower than the mean.
    pub slower_instructions_s: f64,
}

/// Instructions a cycle; `None` without cycles.
pub fn instructions_per_cycle(counted: &HardwareCounters) -> Option<f64> {
    (counted.cycles > 0).then(|| counted.instructions as f64 / counted.cycles as f64)
}

/// Cycles a second of CPU time; `None` without any.
pub fn frequency_hz(counted: &HardwareCounters) -> Option<f64> {
    (counted.seconds > 0.0 && counted.cycles > 0).then(|| counted.cycles as f64 / counted.seconds)
}

/// Splits the excess of a rank over the mean of `ranks` ranks, which count `all` together, or returns `None` if nothing was counted.
pub fn split_excess(all: &HardwareCounters, ranks: usize, own: &HardwareCounters) -> Option<ExcessSplit> {
    let n = ranks.max(1) as f64;
    let (mean, mean_s) = (all.instructions as f64 / n, all.seconds / n);
    let each_s = mean_s / mean;
    let instructions = own.instructions as f64;
    (mean > 0.0).then_some(ExcessSplit {
        more_instructions_s: (instructions - mean) * each_s,
        slower_instructions_s: own.seconds - instructions * each_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_is_counted_there_is_nothing() {
        let none = HardwareCounters { instructions: 0, cycles: 0, seconds: 0.0 };
        assert_eq!(
            (split_excess(&none, 2, &none), instructions_per_cycle(&none), frequency_hz(&none)),
            (None, None, None)
        );
    }
}
