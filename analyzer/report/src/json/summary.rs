//! A summary of at most [`MAX_BYTES`] of JSON for scripts, chats and language models.

use serde::Serialize;
use serde_json::{Value, json};

use crate::Report;
use crate::balance::efficiency::EfficiencyRow;
use crate::findings::{AnswerText, FindingRow};
use crate::rows::words::shorten_text;

/// Name and version of the schema.
const SCHEMA: &str = "lbprof-summary/1";

/// Maximum size of the document.
pub const MAX_BYTES: usize = 4096;

const MAX_FINDINGS: usize = 3;

/// Maximum number of ranks and hosts of a finding.
const MAX_LISTED: usize = 8;

const MAX_COLUMNS: usize = 300;

const MAX_COMMAND: usize = 120;

/// A report in short.
#[derive(Debug, Serialize)]
pub struct RunSummary {
    schema: &'static str,
    command: String,
    ranks: u32,
    hosts: usize,
    mpi: String,
    elapsed_s: f64,
    complete: bool,
    answer: AnswerText,
    lost_share: Option<f64>,
    /// Efficiencies of the ranks that the answer judges, 0 to 1; null where they are not known.
    efficiency: Value,
    findings: Vec<FindingRow>,
}

impl RunSummary {
    /// Summarizes a report, with texts shortened to fit into [`MAX_BYTES`].
    pub fn new(report: &Report) -> RunSummary {
        let mut columns = MAX_COLUMNS;
        let mut summary = RunSummary::with(report, columns);
        while summary.bytes() > MAX_BYTES && columns > 40 {
            columns = columns * 3 / 4;
            summary = RunSummary::with(report, columns);
        }
        while summary.bytes() > MAX_BYTES && summary.answer.lines.pop().is_some() {}
        summary
    }

    fn with(report: &Report, columns: usize) -> RunSummary {
        let mut answer = AnswerText::new(report);
        answer.sentence = shorten_text(&answer.sentence, columns);
        for line in &mut answer.lines {
            line.text = shorten_text(&line.text, columns);
        }
        let findings = report.findings.iter().take(MAX_FINDINGS).map(|finding| {
            let mut row = FindingRow::new(report, finding);
            row.sentence = shorten_text(&row.sentence, columns);
            row.advice = row.advice.iter().map(|advice| shorten_text(advice, columns)).collect();
            if let Some(place) = &mut row.place {
                place.text = shorten_text(&place.text, columns);
            }
            row.ranks.truncate(MAX_LISTED);
            row.hosts.truncate(MAX_LISTED);
            row
        });
        let EfficiencyRow { parallel, load_balance, communication, micro_load_balance, transfer, .. } =
            report.verdict.efficiency;
        let is_known = report.verdict.efficiency.t_ideal_certain;
        RunSummary {
            schema: SCHEMA,
            command: shorten_text(&report.facts.command.join(" "), MAX_COMMAND.min(columns)),
            ranks: report.facts.n_ranks,
            hosts: report.data.hosts,
            mpi: shorten_text(crate::rows::words::mpi_name(&report.facts.mpi), MAX_COMMAND.min(columns)),
            elapsed_s: report.data.elapsed_s,
            complete: report.data.complete,
            answer,
            lost_share: report.verdict.lost_share,
            efficiency: json!({
                "parallel": parallel,
                "load_balance": load_balance,
                "communication": communication,
                "micro_load_balance": micro_load_balance.filter(|_| is_known),
                "transfer": transfer.filter(|_| is_known),
            }),
            findings: findings.collect(),
        }
    }

    fn bytes(&self) -> usize {
        let mut bytes = Vec::new();
        super::write_pretty(self, &mut bytes).map_or(usize::MAX, |()| bytes.len())
    }
}
