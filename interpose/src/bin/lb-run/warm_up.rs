//! Has the kernel ready for samples before the program asks for them.
//!
//! The first perf event on a host makes the kernel change its own code and wait until every core has seen that: about 10 ms, nearly all of them
//! asleep, which `MPI_Init` would take longer. The effect lasts for a second after the last event was closed. So lb-run opens an event itself, and
//! closes it, before it becomes the program. A process of its own would not delay the program, but a program that adopts orphans, as the first
//! process of a container does, would find a child that it never had.

use std::ffi::OsString;

use crate::launcher_variables::is_zero;
use lbprof_launch::perf_event::{
    EXCLUDE_HYPERVISOR, EXCLUDE_KERNEL, EventAttributes, TASK_CLOCK, TYPE_SOFTWARE, open_event,
};

/// Variables in which launchers say which rank of its host this one is.
const LOCAL_RANK: [&str; 7] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",
    "FLUX_TASK_LOCAL_ID",
    "SLURM_LOCALID",
    "JSM_NAMESPACE_LOCAL_RANK",
];

/// Opens a perf event and closes it, on the first rank of each host, if threads are to be sampled. `settings` are the variables that lb-run sets.
pub fn warm_up(settings: &[(OsString, OsString)]) {
    // A system call filter may end whoever opens an event.
    if is_zero(&LOCAL_RANK) && is_sampling(|name| setting_value(settings, name)) && is_unfiltered() {
        open_and_close_event();
    }
}

/// Returns whether this process may make any system call.
fn is_unfiltered() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter_map(|line| line.strip_prefix("Seccomp:")).any(|mode| mode.trim() == "0")
}

/// Returns a setting's value for the program.
fn setting_value(settings: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let set = settings.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
    set.or_else(|| std::env::var_os(name))
}

/// Returns whether threads are sampled, by the program's settings.
fn is_sampling(value: impl Fn(&str) -> Option<OsString>) -> bool {
    let mut off = [("LBPROF_SAMPLE", "0"), ("LBPROF_MODE", "off")].into_iter();
    !off.any(|(name, off)| value(name).is_some_and(|value| value == off))
}

/// Opens an event like the recorder's, which is closed at once. If that is refused there is nothing to prepare.
fn open_and_close_event() {
    let flags = EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR;
    let event = EventAttributes { kind: TYPE_SOFTWARE, config: TASK_CLOCK, flags, ..EventAttributes::default() };
    let _ = open_event(0, None, event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_nothing_to_do_where_nothing_is_sampled() {
        let with = |set: &'static [(&str, &str)]| {
            is_sampling(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert!(with(&[]));
        assert!(with(&[("LBPROF_SAMPLE", "200"), ("LBPROF_MODE", "profile")]));
        assert!(!with(&[("LBPROF_SAMPLE", "0")]));
        assert!(!with(&[("LBPROF_MODE", "off")]));
    }

    #[test]
    fn what_lb_run_sets_comes_before_what_it_inherits() {
        let settings = [("PATH".into(), "none".into())];
        assert_eq!(setting_value(&settings, "PATH"), Some("none".into()));
        assert_eq!(setting_value(&[], "PATH"), std::env::var_os("PATH"));
    }
}
