//! Loops in the program's machine code, and how often their calls were reached.

pub(super) mod activations;
pub(super) mod control_flow;
pub(super) mod loop_body;
pub(super) mod machine_code;
