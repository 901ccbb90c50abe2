//! What the iterations of the main loop show over the run.

use serde_json::{Value, json};

use crate::metrics::trend::{Period, Recurring, Shape};
use crate::report::course::Course;

/// Ranks by how often they are the slowest.
pub(super) fn slowest(course: &Course) -> Value {
    let n = course.known.max(1) as f64;
    let row = |&(rank, times): &(u32, u64)| json!({ "rank": rank, "count": times, "share": times as f64 / n });
    course.slowest.iter().map(row).collect()
}

/// Warm-up, periods and trend of the longest and mean computation and of their difference.
pub(super) fn trends(course: &Course) -> Value {
    [("max", &course.max), ("mean", &course.mean), ("imbalance", &course.imbalance)].map(series).into_iter().collect()
}

fn series((of, shape): (&str, &Shape)) -> Value {
    let period = |period: &Period| {
        json!({
            "length": period.length,
            "first": period.first,
            "kind": match period.kind {
                Recurring::Peak => "peak",
                Recurring::Trough => "trough",
                Recurring::Wave => "wave",
            },
            "size_s": period.size,
            "p_value": period.p_value,
        })
    };
    json!({
        "of": of,
        "warm_up": shape.warm_up.map(|warm_up| json!({
            "iterations": warm_up.iterations,
            "excess_s": warm_up.excess,
        })),
        "periods": shape.periods.iter().map(period).collect::<Vec<_>>(),
        "trend": shape.trend.map(|trend| json!({
            "slope_s": trend.slope,
            "first_s": trend.first,
            "last_s": trend.last,
            "p_value": trend.p_value,
        })),
    })
}
