//! The selection in a line, so that no reader takes figures of a part for the run.

use anstyle::{AnsiColor, Style};

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::rows::words::{escape_name, format_plural, wrap_text};
use crate::text::TextOptions;
use lbprof_analysis::model::run::moment::WindowBoundary;

pub(in crate::text) fn selection_section(report: &Report, options: &TextOptions) -> String {
    let selected = &report.facts.selected;
    let mut parts = Vec::new();
    if let Some(ranks) = &selected.ranks {
        let of = format_plural(u64::from(report.facts.n_ranks), "rank");
        parts.push(format!("{} ({} of {of})", named_ranks(ranks), ranks.len()));
    }
    parts.extend(match (selected.from, selected.to) {
        (None, None) => None,
        (Some(from), None) => Some(format!("from {from} on")),
        (None, Some(to)) => Some(format!("up to {}", window_end(to))),
        (Some(WindowBoundary::Iteration(from)), Some(WindowBoundary::Iteration(to))) if from == to => {
            Some(format!("iteration {from}"))
        }
        (Some(from), Some(to)) => Some(format!("from {from} to {}", window_end(to))),
    });
    parts.extend(selected.region.as_ref().map(|path| format!("region {}", escape_name(path))));
    if parts.is_empty() {
        return String::new();
    }
    const STYLE: Style = AnsiColor::Yellow.on_default().bold();
    let text = format!("Selected: {}. All figures are of this alone.", parts.join("; "));
    format!("{STYLE}{}{STYLE:#}\n\n", wrap_text(&text, options.columns, 2))
}

/// Formats the end of a window. It includes an iteration.
fn window_end(to: WindowBoundary) -> String {
    match to {
        WindowBoundary::Time(_) => to.to_string(),
        WindowBoundary::Iteration(_) => format!("{to} (with it)"),
    }
}
