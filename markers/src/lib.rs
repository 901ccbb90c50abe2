//! Phase markers for MPI programs in Rust. They do nothing if the program is not recorded by lbprof, and on systems other than Linux.
//!
//! ```
//! use lbprof_markers::{PhaseKind, iteration, phase, phase_of_kind, work};
//!
//! for step in 0..3 {
//!     let _in_step = iteration("step");
//!     {
//!         let _in_force = phase("force");
//!         work(20.0 * f64::from(step), 10.0);
//!     }
//!     let _in_balance = phase_of_kind("balance", PhaseKind::Control);
//! }
//! ```
//!
//! A phase or iteration ends with the scope of its guard, also by `?`, `break` and panics. docs/markers.md says what markers mean in a report.
//! Names are copied. A name ends at its first zero byte.

mod recorder;

use std::marker::PhantomData;

use recorder::{RecorderFunctions, mark};

/// The kind of a phase's computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseKind {
    /// Useful work.
    #[default]
    Useful,
    /// Control of parallelism: partitioning, load balancing and the like.
    Control,
    /// Work that one rank does while the others wait.
    Serial,
}

/// An open phase or iteration, which ends when the guard is dropped. It belongs to the thread that began it.
#[must_use = "the phase ends when its guard is dropped: let _in_phase = phase(…)"]
#[derive(Debug)]
pub struct PhaseGuard<'name> {
    name: &'name str,
    is_iteration: bool,
    // A phase belongs to a thread, so the guard is neither sent nor shared.
    of_thread: PhantomData<*const ()>,
}

impl Drop for PhaseGuard<'_> {
    fn drop(&mut self) {
        mark(self.name, |recorder, name| match self.is_iteration {
            true => recorder.end_iteration(name),
            false => recorder.end_phase(name),
        });
    }
}

/// Begins a phase of useful work.
pub fn phase(name: &str) -> PhaseGuard<'_> {
    phase_of_kind(name, PhaseKind::Useful)
}

/// Begins a phase of a kind.
pub fn phase_of_kind(name: &str, kind: PhaseKind) -> PhaseGuard<'_> {
    mark(name, |recorder, name| recorder.begin_phase(name, kind as i32));
    PhaseGuard { name, is_iteration: false, of_thread: PhantomData }
}

/// Begins the next iteration of a loop. Iterations are numbered from 0 on each rank.
pub fn iteration(name: &str) -> PhaseGuard<'_> {
    mark(name, RecorderFunctions::begin_iteration);
    PhaseGuard { name, is_iteration: true, of_thread: PhantomData }
}

/// Adds work done in the innermost open phase: operations that the program counts, and the quanta of data that they worked on.
pub fn work(operations: f64, quanta: f64) {
    if let Some(recorder) = RecorderFunctions::find() {
        recorder.add_work(operations, quanta);
    }
}

/// Adds a value of a counter in the innermost open phase.
pub fn count(name: &str, value: f64) {
    mark(name, |recorder, name| recorder.add_count(name, value));
}

/// States a parameter of the run, such as the size of the problem.
pub fn param(name: &str, value: f64) {
    mark(name, |recorder, name| recorder.set_param(name, value));
}

/// Stops (false) or resumes (true) recording of this thread.
pub fn record(is_on: bool) {
    if let Some(recorder) = RecorderFunctions::find() {
        recorder.set_recording(is_on);
    }
}

/// Returns whether the program runs under the recorder.
pub fn is_recorded() -> bool {
    RecorderFunctions::find().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_recorder_markers_do_nothing() {
        assert!(!is_recorded());
        param("n", 42.0);
        let _step = iteration("step");
        let _inner = phase_of_kind("a name with a \0 in it", PhaseKind::Serial);
        work(1.0, 2.0);
        count("pairs", -1.0);
        record(false);
        record(true);
    }
}
