//! Why ranks wait, how long the run would take otherwise, and what set its time.

use serde_json::{Value, json};

use crate::metrics::blocking::StateTimes;
use crate::model::what_if::WhatIf;
use crate::report::Report;
use crate::report::blocking::{CauseRow, PhaseRow, WaitRow};
use crate::report::what_if::{PathRow, Prediction};

/// Most pairs of ranks that are told: of a thousand ranks there may be a million.
const MOST_PAIRS: usize = 10_000;

/// Most ranks that are told of each place where ranks wait.
const MOST_RANKS: usize = 16;

pub(super) fn object(report: &Report) -> Value {
    let Some(table) = &report.blocking else { return Value::Null };
    let sums = &table.sums;
    let class = &sums.by_class;
    let counts = &table.counts;
    json!({
        "total_s": sums.total_s,
        "by_class": {
            "communication": class.communication_s,
            "message_delay": class.message_delay_s,
            "control": class.control_s,
            "imbalance_amdahl": class.amdahl_s,
            "imbalance_global": class.global_s,
            "imbalance_temporal": class.temporal_s,
            "imbalance_chains": class.chains_s,
            "imbalance_unsplit": class.unsplit_s,
            "recorder": class.recorder_s,
        },
        "causes": table.causes.iter().map(cause).collect::<Vec<_>>(),
        "phases": table.phases.iter().map(phase).collect::<Vec<_>>(),
        "states": sums.states.iter().map(|(state, times)| with_times(json!({ "state": state.name() }), times)).collect::<Vec<_>>(),
        "waits": table.places.iter().map(wait).collect::<Vec<_>>(),
        "pairs": sums.pairs.iter().take(MOST_PAIRS).map(|&(waits, causes, seconds)| json!({
            "waits": waits,
            "causes": causes,
            "time_s": seconds,
        })).collect::<Vec<_>>(),
        "matching": {
            "messages": counts.messages,
            "sizes_differ": counts.sizes_differ,
            "lone_sends": counts.lone_sends,
            "lone_receives": counts.lone_receives,
            "collectives": counts.collectives,
            "lone_collectives": counts.lone_collectives,
            "mixed_collectives": counts.mixed_collectives,
            "neighbourhoods": counts.neighbourhoods,
            "lone_neighbours": counts.lone_neighbours,
            "epochs": counts.epochs,
            "lone_epochs": counts.lone_epochs,
            "behind_gaps": counts.behind_gaps,
            "not_recorded": counts.not_recorded,
            "violations": counts.violations,
            "largest_violation_s": counts.largest_violation as f64 * 1e-9,
        },
    })
}

fn cause(row: &CauseRow) -> Value {
    let cause = &row.cause;
    let own_s = cause.own_s.filter(|&own_s| own_s > 0.0);
    json!({
        "rank": cause.rank,
        "region": row.region,
        "activity": cause.activity.map(|activity| activity.name()),
        "callsite": row.call.as_ref().and_then(|call| call.0),
        "operation": row.call.as_ref().map(|call| &call.1),
        "class": cause.class.name(),
        "caused_s": cause.caused_s,
        "own_s": cause.own_s,
        "beta": own_s.map(|own_s| cause.caused_s / own_s),
    })
}

fn phase(row: &PhaseRow) -> Value {
    json!({
        "region": row.region,
        "class": row.cost.class.name(),
        "own_s": row.cost.own_s,
        "caused_s": row.cost.caused_s,
        "beta": row.cost.beta(),
        "total_s": row.cost.total_s(),
    })
}

fn wait(row: &WaitRow) -> Value {
    let place = json!({
        "callsite": row.id,
        "operation": row.operation,
        "region": row.region,
        "state": row.state.name(),
        "ranks": ranks(row),
    });
    with_times(place, &row.times)
}

/// The ranks that wait longest there.
fn ranks(row: &WaitRow) -> Vec<Value> {
    let mut ranks: Vec<(u32, StateTimes)> = row.ranks.iter().map(|(&rank, &times)| (rank, times)).collect();
    ranks.sort_by(|a, b| b.1.blocked_s().total_cmp(&a.1.blocked_s()));
    ranks.iter().take(MOST_RANKS).map(|(rank, times)| with_times(json!({ "rank": rank }), times)).collect()
}

fn with_times(mut value: Value, times: &StateTimes) -> Value {
    value["count"] = json!(times.count);
    value["waiting_s"] = json!(times.waiting_s);
    value["delay_s"] = json!(times.delay_s);
    value
}

/// Predictions of what-if scenarios.
pub(super) fn replays(report: &Report) -> Value {
    let row = |row: &Prediction| {
        let (what, times, network) = match row.scenario {
            WhatIf::Ideal => ("ideal network", None, None),
            WhatIf::Measured => ("as measured", None, None),
            WhatIf::Network(latency_s, bytes_per_s) => ("network", None, Some((latency_s, bytes_per_s))),
            WhatIf::Balanced(_) => ("region balanced", None, None),
            WhatIf::BalancedEach(_) => ("region balanced in each iteration", None, None),
            WhatIf::RunBalancedEach => ("run balanced in each iteration", None, None),
            WhatIf::RankAsMean(_) => ("rank as the mean", None, None),
            WhatIf::Faster(_, times) => ("region faster", Some(times), None),
        };
        json!({
            "what": what,
            "region": row.region,
            "rank": row.rank,
            "times": times,
            "latency_s": network.map(|one| one.0),
            "bytes_per_s": network.map(|one| one.1),
            "time_s": row.time_s,
            "saved_s": row.saved_s,
        })
    };
    Value::Array(report.what_if.rows.iter().map(row).collect())
}

/// The critical path.
pub(super) fn critical_path(report: &Report) -> Value {
    let what_if = &report.what_if;
    if what_if.measured_s.is_none() {
        return Value::Null;
    }
    let part = |row: &PathRow| {
        json!({
            "region": row.region,
            "activity": if row.is_delay { Some("message delay") } else { row.activity.map(|activity| activity.name()) },
            "time_s": row.time_s,
            "rank": row.rank,
            "rank_s": row.rank_s,
        })
    };
    json!({
        "time_s": what_if.path_s,
        "parts": what_if.path.iter().map(part).collect::<Vec<_>>(),
        "ranks": what_if.path_ranks.iter().map(|&(rank, seconds)| json!({ "rank": rank, "time_s": seconds })).collect::<Vec<_>>(),
    })
}
