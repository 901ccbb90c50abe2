//! A comparison as one HTML file that needs nothing beside it. The page is made in `analyzer/page/src/compare`, of the same document as [`super::json`].

use std::io::{self, Write};

use super::text::ComparisonTextOptions;
use super::{json, text};
use crate::compare::RunComparison;
use crate::compare::condition::JudgedCondition;
use lbprof_report::html::{inert_json, write_html_page};

/// Writes the page of a comparison; `options` are those of the text for readers without scripts.
pub fn write(
    comparison: &RunComparison,
    conditions: &[JudgedCondition],
    options: &ComparisonTextOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let files = [include_str!("../../../../page/dist/compare.css"), include_str!("../../../../page/dist/compare.js")];
    let text = text::render_comparison(comparison, conditions, options);
    let data = [("comparison", inert_json(&json::comparison_document(comparison, conditions))?)];
    write_html_page("lbprof: comparison", files, &text, &data, out)
}
