//! The calling-context tree: time, waiting and caused waiting.

use std::collections::BTreeSet;

use crate::code::call_tree::CallTreeNodeKind;
use crate::fraction_of;
use crate::rows::words::{escape_name, text_width};
use crate::text::columns::{ColumnCell, lay_out_table};
use crate::text::{TextOptions, WIDE, format_title};
use crate::{CallTreeRow, Report};
use lbprof_analysis::structure::code::code_place::Caller;
use lbprof_thresholds::wording::{MIN_TIME_OF_ONLY_CHILD, MIN_TIME_OF_TREE_ROW};

/// Maximum width of names that share a line.
const LONGEST: usize = 40;

/// Columns that are dropped from short lines.
const SPARE: &[&[&str]] = &[&["slowest"], &["micro"], &["computes"], &["load"]];

pub(in crate::text) fn call_tree_section(report: &Report, options: &TextOptions) -> String {
    let rows = &report.call_tree;
    if !rows.iter().any(|row| row.kind == CallTreeNodeKind::Function) {
        return String::new();
    }
    let shown = shown_nodes(report, options);
    let whole_s = rows[0].time_s;
    let mut lines = Vec::new();
    // Nodes on one line count as one level.
    let mut levels = vec![0; rows.len()];
    let mut names: Vec<String> = Vec::new();
    for at in 0..rows.len() {
        let row = &rows[at];
        let around = row.parent.map_or(0, |parent| levels[parent]);
        levels[at] = around;
        if !shown.contains(&at) {
            continue;
        }
        names.push(node_label(rows, at));
        let length = names.iter().map(|name| text_width(name) + 3).sum::<usize>();
        let next =
            is_continued(rows, &shown, at).filter(|&next| length + text_width(&node_label(rows, next)) <= LONGEST);
        if !options.full && next.is_some() {
            continue;
        }
        levels[at] = around + 1;
        let name = format!("{}{}", "  ".repeat(around.min(12)), names.join(" › "));
        names.clear();
        let computes = row.computation_s >= 0.01 * row.time_s;
        let micro = ColumnCell::or_dash(row.micro_load_balance.filter(|_| computes), ColumnCell::Share);
        lines.push(vec![
            ColumnCell::Text(name),
            ColumnCell::Share(row.share),
            ColumnCell::Share(fraction_of(row.computation_s, whole_s)),
            ColumnCell::of_some(row.waiting_s.map(|time_s| fraction_of(time_s, whole_s)), ColumnCell::Share),
            ColumnCell::of_some(row.caused_s.map(|time_s| fraction_of(time_s, whole_s)), ColumnCell::Share),
            ColumnCell::or_dash(row.load_balance.filter(|_| computes), ColumnCell::Share),
            if options.columns >= WIDE { micro } else { ColumnCell::Empty },
            ColumnCell::or_dash(row.slowest_rank.filter(|_| computes), ColumnCell::rank),
        ]);
    }
    let all = rows.len() + rows.iter().map(|row| row.left_out).sum::<usize>();
    let head = format_title("Call tree", shown.len(), all);
    let heads =
        ["<in", "share", "computes", "waits", "causes\nwaiting", "load\nbalance", "micro\nbalance", "slowest\nrank"];
    format!("{head}{}\n", lay_out_table(&heads, &lines, SPARE, options))
}

/// Returns all nodes, or those with most exclusive or caused time, and the nodes around them.
fn shown_nodes(report: &Report, options: &TextOptions) -> BTreeSet<usize> {
    let rows = &report.call_tree;
    if options.full {
        return (0..rows.len()).collect();
    }
    let weights = rows.iter().map(|row| row.alone_s.max(row.caused_alone_s.unwrap_or(0.0)));
    let mut order: Vec<(f64, usize)> = weights.zip(0..).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    if options.is_for_all() {
        order.retain(|&(weight, _)| weight >= MIN_TIME_OF_TREE_ROW * rows[0].time_s);
    }
    let mut shown = BTreeSet::new();
    for (_, at) in order.into_iter().take(options.top.max(1)) {
        let mut next = Some(at);
        while let Some(at) = next.filter(|&at| shown.insert(at)) {
            next = rows[at].parent;
        }
    }
    shown
}

/// Returns the only child if it takes nearly all of the time and is shown.
fn is_continued(rows: &[CallTreeRow], shown: &BTreeSet<usize>, at: usize) -> Option<usize> {
    let mut within = shown.range(at + 1..).filter(|&&inner| rows[inner].parent == Some(at));
    let (&only, None) = (within.next()?, within.next()) else { return None };
    let is_all = rows[at].parent.is_some() && rows[only].time_s >= MIN_TIME_OF_ONLY_CHILD * rows[at].time_s;
    Some(only).filter(|&only| is_all && rows[only].kind == CallTreeNodeKind::Function)
}

/// Returns a node's name, with its call site if a sibling has the same name.
fn node_label(rows: &[CallTreeRow], at: usize) -> String {
    let row = &rows[at];
    let place = row.at.as_ref().map(Caller::short_place);
    let name = escape_name(&row.name);
    let text = match (row.kind, place) {
        (CallTreeNodeKind::Call, Some(place)) => format!("{name} ({place})"),
        (CallTreeNodeKind::Function, Some(place)) if name.is_empty() => format!("function called at {place}"),
        (CallTreeNodeKind::Function, Some(place)) if has_namesake(rows, row) => format!("{name} (called at {place})"),
        _ => name,
    };
    escape_name(&text)
}

fn has_namesake(rows: &[CallTreeRow], row: &CallTreeRow) -> bool {
    let mut beside = rows.iter().filter(|other| other.parent == row.parent && !std::ptr::eq(*other, row));
    beside.any(|other| other.kind == row.kind && other.name == row.name)
}
