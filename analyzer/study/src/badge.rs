//! A badge: one figure of a run on a small picture (SVG), for the README of a program.
//!
//! ```text
//!   | load balance | 91.7 % |     grey with the name, then the value on green (90 % and more), yellow (70 % and more) or red
//! ```

use std::fmt::{self, Display};

use crate::RunMetrics;
use lbprof_report::words::{percent, seconds};

/// The figure on a badge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadgeMetric {
    /// Parallel efficiency.
    ParallelEfficiency,
    /// Load balance.
    LoadBalance,
    /// Communication efficiency.
    CommunicationEfficiency,
    /// Elapsed time, which no colour judges.
    ElapsedTime,
}

impl BadgeMetric {
    /// The metrics, the default first.
    pub const ALL: [BadgeMetric; 4] = [
        BadgeMetric::ParallelEfficiency,
        BadgeMetric::LoadBalance,
        BadgeMetric::CommunicationEfficiency,
        BadgeMetric::ElapsedTime,
    ];

    /// Returns its name as an argument.
    pub fn key(self) -> &'static str {
        match self {
            BadgeMetric::ParallelEfficiency => "parallel-efficiency",
            BadgeMetric::LoadBalance => "load-balance",
            BadgeMetric::CommunicationEfficiency => "communication-efficiency",
            BadgeMetric::ElapsedTime => "elapsed-time",
        }
    }

    /// Returns its name in words.
    pub fn name(self) -> &'static str {
        match self {
            BadgeMetric::ParallelEfficiency => "parallel efficiency",
            BadgeMetric::LoadBalance => "load balance",
            BadgeMetric::CommunicationEfficiency => "communication efficiency",
            BadgeMetric::ElapsedTime => "elapsed time",
        }
    }

    /// Returns the share that it is of a run; `None` for the elapsed time, and where the ratio is not defined.
    fn share(self, run: &RunMetrics) -> Option<f64> {
        match self {
            BadgeMetric::ParallelEfficiency => run.times.parallel(),
            BadgeMetric::LoadBalance => run.times.load_balance(),
            BadgeMetric::CommunicationEfficiency => run.times.communication(),
            BadgeMetric::ElapsedTime => None,
        }
    }
}

/// The badge of a run. It displays as SVG.
#[derive(Clone, Debug, PartialEq)]
pub struct RunBadge {
    name: &'static str,
    value: String,
    colour: &'static str,
}

/// Shares from which on a value is good, or fair, with their colours.
const GRADES: [(f64, &str); 2] = [(0.9, "#2e7d32"), (0.7, "#b26a00")];

const POOR: &str = "#c62828";
const NEUTRAL: &str = "#1565c0";
const UNKNOWN: &str = "#757575";

impl RunBadge {
    /// Makes the badge with `metric` of a run. The figures of an incomplete run are not known.
    pub fn new(metric: BadgeMetric, run: &RunMetrics) -> RunBadge {
        let name = metric.name();
        if !run.complete {
            return RunBadge { name, value: "incomplete data".to_owned(), colour: UNKNOWN };
        }
        if metric == BadgeMetric::ElapsedTime {
            return RunBadge { name, value: seconds(run.times.elapsed_s), colour: NEUTRAL };
        }
        match metric.share(run) {
            Some(share) => {
                let grade = GRADES.iter().find(|(least, _)| share >= *least);
                RunBadge { name, value: percent(share), colour: grade.map_or(POOR, |(_, colour)| colour) }
            }
            None => RunBadge { name, value: "not known".to_owned(), colour: UNKNOWN },
        }
    }
}

/// Returns the width that a text takes in pixels, with room around it; letters of 11 pixels are about 6.4 wide.
fn text_width(text: &str) -> usize {
    (6.4 * text.chars().count() as f64).ceil() as usize + 12
}

impl Display for RunBadge {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let RunBadge { name, value, colour } = self;
        let (left, right) = (text_width(name), text_width(value));
        let width = left + right;
        write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{name}: {value}">"#
        )?;
        write!(out, "<title>{name}: {value}</title>")?;
        write!(out, r##"<rect width="{width}" height="20" rx="3" fill="{colour}"/>"##)?;
        write!(out, r##"<path d="M3 0h{0}v20h-{0}a3 3 0 0 1-3-3v-14a3 3 0 0 1 3-3z" fill="#555"/>"##, left - 3)?;
        out.write_str(
            r##"<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">"##,
        )?;
        for (text, middle) in [(*name, left / 2), (value.as_str(), left + right / 2)] {
            let length = text_width(text) - 12;
            write!(out, r#"<text x="{middle}" y="14" textLength="{length}">{text}</text>"#)?;
        }
        out.write_str("</g></svg>\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbprof_analysis::metrics::load_balance::EfficiencyTimes;

    fn run(avg_computation_s: f64) -> RunMetrics {
        let times = EfficiencyTimes { elapsed_s: 4.0, max_computation_s: 2.0, avg_computation_s, t_ideal_s: None };
        RunMetrics { complete: true, times, ..RunMetrics::default() }
    }

    #[test]
    fn colours_follow_from_the_share() {
        let badge = |avg_s| RunBadge::new(BadgeMetric::LoadBalance, &run(avg_s));
        assert_eq!((badge(1.9).value.as_str(), badge(1.9).colour), ("95.0 %", GRADES[0].1));
        assert_eq!((badge(1.5).value.as_str(), badge(1.5).colour), ("75.0 %", GRADES[1].1));
        assert_eq!((badge(1.0).value.as_str(), badge(1.0).colour), ("50.0 %", POOR));
    }

    #[test]
    fn figures_that_are_not_known_are_not_made_up() {
        let none = RunMetrics { times: EfficiencyTimes::default(), ..run(1.0) };
        assert_eq!(RunBadge::new(BadgeMetric::LoadBalance, &none).value, "not known");
        let partial = RunMetrics { complete: false, ..run(1.0) };
        assert!(BadgeMetric::ALL.iter().all(|metric| RunBadge::new(*metric, &partial).value == "incomplete data"));
    }

    #[test]
    fn it_is_one_picture_with_its_text() {
        let text = RunBadge::new(BadgeMetric::ElapsedTime, &run(1.0)).to_string();
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{text}");
        assert!(text.contains("<title>elapsed time: 4.00 s</title>"), "{text}");
    }
}
