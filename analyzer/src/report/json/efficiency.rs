//! Efficiencies, of the run or of a region.

use serde_json::{Value, json};

use crate::report::EfficiencyRow;

pub(super) fn object(row: &EfficiencyRow) -> Value {
    let times = &row.times;
    json!({
        "load_balance": times.load_balance(),
        "micro_load_balance": times.micro_load_balance(),
        "transfer": times.transfer(),
        "communication": times.communication(),
        "parallel": times.parallel(),
        "elapsed_s": times.elapsed_s,
        "t_ideal_s": times.t_ideal_s,
        "t_ideal_certain": row.certain_ideal().is_some(),
        "t_ideal_phase_profile_s": row.phase_profile.map(|ideal| ideal.seconds),
        "t_ideal_phase_profile_error_s": row.phase_profile.map(|ideal| ideal.error_s),
        "t_ideal_phase_profile_bound_s": row.phase_profile.map(|ideal| ideal.bound_s),
        "t_ideal_replay_s": row.replay_s,
        "max_computation_s": times.max_computation_s,
        "avg_computation_s": times.avg_computation_s,
    })
}
