//! The program's tree: what its functions take, wait and cause.

use std::collections::BTreeSet;

use super::{DIM, TextOptions, WIDE, title};
use crate::call_tree::CallTreeNodeKind;
use crate::fraction;
use crate::table::TextTable;
use crate::words::{clean, or_dash, percent, percent_or_dash, width};
use crate::{CallTreeRow, Report};
use lbprof_analysis::structure::code_place::Caller;
use lbprof_thresholds::wording::{MIN_TIME_OF_ONLY_CHILD, MIN_TIME_OF_TREE_ROW};

/// Most columns of names that share a line.
const LONGEST: usize = 40;

/// Columns that give way to names where lines are short.
const SPARE: &[&[&str]] = &[&["slowest"], &["micro"], &["computes"], &["load"]];

pub(super) fn section(report: &Report, options: &TextOptions) -> String {
    let rows = &report.call_tree;
    if !rows.iter().any(|row| row.kind == CallTreeNodeKind::Function) {
        return String::new();
    }
    let shown = shown(report, options);
    let whole_s = rows[0].time_s;
    let mut heads = vec!["<in", "share", "computes", "waits"];
    let is_followed = rows[0].waiting_s.is_some();
    if !is_followed {
        heads.pop();
    }
    heads.extend(is_followed.then_some("causes\nwaiting"));
    heads.push("load\nbalance");
    heads.extend((options.columns >= WIDE).then_some("micro\nbalance"));
    heads.push("slowest\nrank");
    let mut table = TextTable::new(&heads, 0);
    // Lines that several nodes share count as one level.
    let mut levels = vec![0; rows.len()];
    let mut names: Vec<String> = Vec::new();
    for at in 0..rows.len() {
        let row = &rows[at];
        let around = row.parent.map_or(0, |parent| levels[parent]);
        levels[at] = around;
        if !shown.contains(&at) {
            continue;
        }
        names.push(label(rows, at));
        let length = names.iter().map(|name| width(name) + 3).sum::<usize>();
        let next = is_continued(rows, &shown, at).filter(|&next| length + width(&label(rows, next)) <= LONGEST);
        if !options.full && next.is_some() {
            continue;
        }
        levels[at] = around + 1;
        let name = format!("{}{}", "  ".repeat(around.min(12)), names.join(" › "));
        names.clear();
        let computes = row.computation_s >= 0.01 * row.time_s;
        let mut cells = vec![name, percent(row.share), percent(fraction(row.computation_s, whole_s))];
        for time_s in [row.waiting_s, row.caused_s].into_iter().take(if is_followed { 2 } else { 0 }) {
            cells.push(or_dash(time_s, |time_s| percent(fraction(time_s, whole_s))));
        }
        cells.push(percent_or_dash(row.load_balance.filter(|_| computes)));
        if options.columns >= WIDE {
            cells.push(percent_or_dash(row.micro_load_balance.filter(|_| computes)));
        }
        cells.push(or_dash(row.slowest_rank.filter(|_| computes), |rank| rank.to_string()));
        table.row(cells);
    }
    let all = rows.len() + rows.iter().map(|row| row.left_out).sum::<usize>();
    let head = title("Call tree", shown.len(), all);
    format!("{head}{}\n", table.sparing(options.columns, SPARE).render(options.columns, DIM))
}

/// The nodes that are shown: all, or those in which by themselves most time goes by, or is caused to be waited, and the ones around them.
fn shown(report: &Report, options: &TextOptions) -> BTreeSet<usize> {
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

/// The function that a node does nothing but call, if that is shown.
fn is_continued(rows: &[CallTreeRow], shown: &BTreeSet<usize>, at: usize) -> Option<usize> {
    let mut within = shown.range(at + 1..).filter(|&&inner| rows[inner].parent == Some(at));
    let (&only, None) = (within.next()?, within.next()) else { return None };
    let is_all = rows[at].parent.is_some() && rows[only].time_s >= MIN_TIME_OF_ONLY_CHILD * rows[at].time_s;
    Some(only).filter(|&only| is_all && rows[only].kind == CallTreeNodeKind::Function)
}

/// A node's name, with where it is called if another one beside it has that name.
fn label(rows: &[CallTreeRow], at: usize) -> String {
    let row = &rows[at];
    let place = row.at.as_ref().map(Caller::short_place);
    let name = clean(&row.name);
    let text = match (row.kind, place) {
        (CallTreeNodeKind::Call, Some(place)) => format!("{name} ({place})"),
        (CallTreeNodeKind::Function, Some(place)) if name.is_empty() => format!("function called at {place}"),
        (CallTreeNodeKind::Function, Some(place)) if has_namesake(rows, row) => format!("{name} (called at {place})"),
        _ => name,
    };
    clean(&text)
}

/// Returns whether another node beside this one has its name.
fn has_namesake(rows: &[CallTreeRow], row: &CallTreeRow) -> bool {
    let mut beside = rows.iter().filter(|other| other.parent == row.parent && !std::ptr::eq(*other, row));
    beside.any(|other| other.kind == row.kind && other.name == row.name)
}
