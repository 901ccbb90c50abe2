//! What a document leaves out is added up in it: with any bounds its sums are those of the run.

use lbprof_report::rows::bounds::ListBounds;
use lbprof_report::{Report, json};
use serde_json::Value;

/// Bounds that even small runs exceed.
const TINY: ListBounds = ListBounds { entries: 1, extremes: 1, values: 1 };

/// Checks that a document with few rows says of all ranks what that with all says.
pub fn check_bounded(report: &Report) {
    let (all, few) = (json::report_document(report, &ListBounds::ALL), json::report_document(report, &TINY));
    for document in [&all, &few] {
        check_waiting(document);
    }
    let ranks = |document: &Value| numbers(&document["ranks"], "rank");
    assert_eq!(ranks(&all).len(), report.ranks.len());
    assert!(ranks(&few).iter().all(|rank| ranks(&all).contains(rank)));
    for key in ["computation_s", "mpi_s", "idle_s"] {
        let of_ranks = numbers(&all["ranks"], key);
        let (least, most) =
            (of_ranks.iter().copied().fold(f64::INFINITY, f64::min), of_ranks.iter().copied().fold(0.0, f64::max));
        if least < most {
            assert!(numbers(&few["ranks"], key).contains(&most), "the rank with the largest {key} is listed");
        }
    }
    let (full, short) = (&all["communication"], &few["communication"]);
    for (list, left_out, left_bytes) in
        [("pairs", "messages_left_out", "bytes_left_out"), ("hosts", "host_messages_left_out", "host_bytes_left_out")]
    {
        for (key, left) in [("messages", left_out), ("bytes", left_bytes)] {
            let sum = |of: &Value| numbers(&of[list], key).iter().sum::<f64>() + of[left].as_f64().unwrap_or(0.0);
            assert_eq!(sum(short), sum(full), "{list}, {key}");
        }
    }
    for (phase, kept) in
        all["overheads"]["phases"].as_array().into_iter().flatten().zip(few["overheads"]["phases"].as_array().unwrap())
    {
        let most = |phase: &Value| {
            let ratios = phase["ratio_by_rank"].as_array();
            ratios.map(|all| all.iter().filter_map(Value::as_f64).fold(0.0, f64::max))
        };
        assert_eq!(most(phase), most(kept), "the largest ratio is kept");
    }
    let path = |document: &Value| {
        let path = &document["critical_path"];
        numbers(&path["ranks"], "time_s").iter().sum::<f64>() + path["left_out_s"].as_f64().unwrap_or(0.0)
    };
    assert_near(path(&few), path(&all), "critical path");
    for (list, key) in [("clusters", "ranks"), ("loops", "ranks")] {
        for row in few[list].as_array().unwrap() {
            assert!(row[key].as_array().unwrap().len() <= 1 && row["rank_count"].as_u64() >= Some(1), "{list}: {row}");
        }
    }
}

/// All causes, and all pairs, are all waiting that has a cause.
fn check_waiting(document: &Value) {
    let of = &document["blocking"];
    let sum = |list: &str, key: &str| numbers(&of[list], key).iter().sum::<f64>();
    let left_out = |key: &str| of[key]["time_s"].as_f64().unwrap_or(0.0);
    let total = of["total_s"].as_f64().unwrap_or(0.0);
    assert_near(sum("causes", "caused_s") + left_out("causes_left_out"), total, "causes");
    assert_near(sum("pairs", "time_s") + left_out("pairs_left_out"), total, "pairs");
}

/// A key of all rows of a list; none where there is no list.
fn numbers(rows: &Value, key: &str) -> Vec<f64> {
    let rows = rows.as_array().into_iter().flatten();
    rows.map(|row| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"))).collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{what}: {found} instead of {expected}");
}
