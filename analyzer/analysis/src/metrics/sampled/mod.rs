//! Metrics from samples: functions, the call tree, time on and off the cores.

pub mod code_tree;
pub mod core_time;
pub mod functions;
pub mod preemption;
pub mod serial_code;
pub mod sleep_time;
