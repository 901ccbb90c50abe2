//! The detected loops.

use crate::Report;
use crate::findings::phrases::ranks::named_ranks;
use crate::losses::names::LONGEST_NAME;
use crate::rows::words::{escape_name, format_count, format_percent, format_plural, shorten_text, wrap_text};
use crate::text::{DIM, TextOptions, format_note};
use crate::time::loops::{LoopConfidence, LoopDoubt, LoopRow};
use lbprof_analysis::model::code::loops::NoLoopReason;
use lbprof_thresholds::wording::MIN_TIME_OF_LISTED_LOOP;

pub(in crate::text) fn loops_section(report: &Report, options: &TextOptions) -> String {
    let loops = &report.loops;
    if loops.rows.is_empty() {
        return why_none(loops.without)
            .map_or_else(String::new, |why| format!("{DIM}{}{DIM:#}\n\n", wrap_text(why, options.columns, 0)));
    }
    let nest = nest_section(report, options);
    let sure = format_note(&confidence_note(report), options);
    if nest.is_empty() { nest } else { format!("{}\n{sure}\n", nest.trim_end()) }
}

/// Describes the loop nest in a line: outer loops, the main loop, inner loops.
pub(in crate::text) fn nest_section(report: &Report, options: &TextOptions) -> String {
    let rows = &report.loops.rows;
    let main = (0..rows.len()).find(|&at| rows[at].in_report).or_else(|| (0..rows.len()).find(|&at| rows[at].main));
    let Some(main) = main else { return String::new() };
    let row = &rows[main];
    let outer = outer_loops(rows, main).into_iter().rev().map(|at| format!("{} × › ", iteration_count(&rows[at])));
    let confidence = row.confidence.map_or("", LoopConfidence::name);
    let kind = if row.doubt == Some(LoopDoubt::Events) { "events" } else { "iterations" };
    let each = range_in_parent(row);
    let own =
        format!("{} {kind}{each} ({confidence}, {} of the time)", iteration_count(row), format_percent(row.covered));
    let inner = std::iter::successors(longest_inner(rows, main), |&at| longest_inner(rows, at));
    let inner = inner.scan(main, |around, at| {
        let each = rows[at].for_each_main / rows[std::mem::replace(around, at)].for_each_main;
        let each = if (each - each.round()).abs() < 0.005 { format!("{each:.0}") } else { format!("{each:.2}") };
        Some(format!(" › {each}{} × {}", range_in_parent(&rows[at]), ends_with(&rows[at])))
    });
    let others = (0..rows.len()).filter(|&at| rows[at].covered >= MIN_TIME_OF_LISTED_LOOP && is_beside(rows, at, main));
    let others = others
        .map(|at| format!("; another loop of {} ({})", iteration_count(&rows[at]), format_percent(rows[at].covered)));
    let line: String =
        std::iter::once("Loop: ".to_owned()).chain(outer).chain([own]).chain(inner).chain(others).collect();
    format!("{}\n\n", wrap_text(&line, options.columns, 2))
}

/// Formats the varying number of iterations per outer iteration, e.g. ` (31..52)`.
fn range_in_parent(row: &LoopRow) -> String {
    match row.in_parent_min.zip(row.in_parent_max) {
        Some((fewest, most)) if fewest < most => format!(" ({fewest}..{most})"),
        _ => String::new(),
    }
}

/// Returns the longest inner loop, if it takes enough time.
fn longest_inner(rows: &[LoopRow], outer: usize) -> Option<usize> {
    let inner =
        (0..rows.len()).filter(|&at| rows[at].parent == Some(outer) && rows[at].covered >= MIN_TIME_OF_LISTED_LOOP);
    inner.max_by(|&a, &b| rows[a].covered.total_cmp(&rows[b].covered))
}

/// Returns whether another outermost loop runs on the same ranks.
fn is_beside(rows: &[LoopRow], at: usize, main: usize) -> bool {
    at != main
        && rows[at].ranks == rows[main].ranks
        && rows[at].parent.is_none()
        && !outer_loops(rows, main).contains(&at)
}

/// Returns the loops around one, innermost first.
fn outer_loops(rows: &[LoopRow], at: usize) -> Vec<usize> {
    let outwards = std::iter::successors(Some(at), |&at| rows.get(at)?.parent);
    outwards.skip(1).take(rows.len()).collect()
}

fn iteration_count(row: &LoopRow) -> String {
    let (fewest, most) = (row.iterations_min.round() as u64, row.iterations_max.round() as u64);
    let about = if row.main { "" } else { "~" };
    if fewest == most {
        format!("{about}{}", format_count(most))
    } else {
        format!("{about}{}–{}", format_count(fewest), format_count(most))
    }
}

fn ends_with(row: &LoopRow) -> String {
    let Some(end) = &row.ends_at else { return "–".to_owned() };
    let last = if end.run { "last " } else { "" };
    format!("{last}{} at {}", end.operation, shorten_text(&escape_name(&end.place.label()), LONGEST_NAME))
}

/// Explains the confidence in the main loops, with advice in case they are wrong.
fn confidence_note(report: &Report) -> String {
    let mains: Vec<&LoopRow> = report.loops.rows.iter().filter(|row| row.main).collect();
    let Some(worst) = mains.iter().max_by_key(|row| row.confidence) else { return String::new() };
    let confidence = worst.confidence.unwrap_or(LoopConfidence::Unsure);
    let of_whom = match mains.iter().all(|row| row.confidence == worst.confidence) {
        true => String::new(),
        false => format!(" on {}", named_ranks(&worst.ranks)),
    };
    let is_by_figures = worst.covered < 0.5 || worst.iterations_min < 0.98 * worst.iterations_max;
    if let Some(doubt) = worst.doubt.filter(|doubt| *doubt != LoopDoubt::Ends || !is_by_figures) {
        return format!("{}{of_whom}: {}", confidence.name(), doubt_note(doubt, worst));
    }
    let why = why_not_surer(worst);
    format!(
        "{}{of_whom}: {why}; --loop CALLSITE takes another end of an iteration, --no-detect none",
        confidence.name()
    )
}

/// Explains the confidence, apart from doubts.
fn why_not_surer(row: &LoopRow) -> String {
    let (fewest, most) = (row.iterations_min, row.iterations_max);
    let alike = row.alike.unwrap_or(0.0);
    match row.confidence {
        _ if row.named => "--loop names the call that ends an iteration".to_owned(),
        Some(LoopConfidence::Sure) => {
            "all ranks count the same iterations, most of them have the same calls, and their number is certain"
                .to_owned()
        }
        _ if fewest != most => format!("ranks count {} iterations", iteration_count(row)),
        _ if alike < 0.8 => format!("only {} of the iterations have the same kinds of calls", format_percent(alike)),
        _ if most < 10.0 => format!("there are only {}", format_plural(most.round() as u64, "iteration")),
        _ if row.covered < 0.5 => format!("its iterations cover only {} of the time", format_percent(row.covered)),
        _ => "in the whole run its iterations differ, are few, or take little of the time".to_owned(),
    }
}

/// Explains a doubt about a loop or its iteration count, with advice.
fn doubt_note(doubt: LoopDoubt, row: &LoopRow) -> String {
    let counted = [row.iterations_min, row.iterations_max];
    let possible = [row.possible_min.unwrap_or(counted[0]), row.possible_max.unwrap_or(counted[1])];
    let reason = match doubt {
        LoopDoubt::Period if row.named => {
            let times = (possible[1] / possible[0]).round() as u64;
            return format!(
                "the call that --loop names comes {times} times in each iteration of the loop that the calls show; for that one take \
                 --loop 'CALLSITE/{times}'"
            );
        }
        LoopDoubt::Period => "several of its iterations may be one step, or one of them several steps",
        LoopDoubt::Ranks => "other ranks have another number of iterations",
        LoopDoubt::Events => "its iterations are messages that ranks handle as they come, no steps",
        LoopDoubt::Ends => "the first or the last of its iterations may be no step",
    };
    let [counted, possible] = [counted, possible].map(|range| range.map(|n| n.round() as u64));
    let is_open = match doubt {
        LoopDoubt::Period => possible[1] != counted[1],
        LoopDoubt::Ranks | LoopDoubt::Ends => possible != counted,
        LoopDoubt::Events => false,
    };
    let there_may_be = match possible {
        _ if !is_open => String::new(),
        [fewest, most] if fewest == counted[0] => format!(": there may be {}", format_count(most)),
        [fewest, most] if most == counted[1] => format!(": there may be {}", format_count(fewest)),
        [fewest, most] => format!(": there may be {} to {}", format_count(fewest), format_count(most)),
    };
    format!(
        "{reason}{there_may_be}; mark the iterations (LBPROF_ITERATION_BEGIN), or name a call that ends one (--loop CALLSITE, or --loop \
         CALLSITE/3 where it comes three times in each); --no-detect takes no loop"
    )
}

/// Explains why there is no loop, if that is worth a line.
fn why_none(without: NoLoopReason) -> Option<&'static str> {
    match without {
        NoLoopReason::Nothing | NoLoopReason::Marked | NoLoopReason::NotWanted => None,
        NoLoopReason::NoneFound => Some(
            "No loop was found in the calls: nothing repeats itself often enough. LBPROF_ITERATION_BEGIN marks one.",
        ),
        NoLoopReason::Profiles => Some(
            "Recorded as profiles (LBPROF_MODE=profile): loops, and regions between calls, are found in events alone.",
        ),
        NoLoopReason::Summaries => {
            Some("Made from summaries: loops, and regions between calls, are found in events alone (--summary=no).")
        }
        NoLoopReason::NoSuchCallSite => {
            Some("No loop was found: no call site has the text of --loop in its label, or it is called but once.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        [iterations_min, iterations_max]: [f64; 2],
        alike: f64,
        covered: f64,
        confidence: LoopConfidence,
    ) -> LoopRow {
        LoopRow {
            name: "loop".to_owned(),
            parent: None,
            main: true,
            named: false,
            in_report: true,
            rank_count: 2,
            ranks: vec![0, 1],
            ends_at: None,
            iterations_min,
            iterations_max,
            possible_min: Some(iterations_min),
            possible_max: Some(iterations_max),
            for_each_main: 1.0,
            in_parent_min: None,
            in_parent_max: None,
            covered,
            alike: Some(alike),
            confidence: Some(confidence),
            doubt: None,
        }
    }

    #[test]
    fn what_keeps_a_loop_from_being_surer_is_reported_by_its_figures() {
        let likely =
            |iterations, alike, covered| why_not_surer(&row(iterations, alike, covered, LoopConfidence::Likely));
        assert_eq!(likely([99.0, 100.0], 1.0, 0.9), "ranks count 99–100 iterations");
        assert_eq!(likely([50.0, 50.0], 0.6, 0.9), "only 60.0 % of the iterations have the same kinds of calls");
        assert_eq!(likely([4.0, 4.0], 1.0, 0.9), "there are only 4 iterations");
        assert_eq!(likely([50.0, 50.0], 1.0, 0.3), "its iterations cover only 30.0 % of the time");
        let sure = why_not_surer(&row([50.0, 50.0], 1.0, 0.9, LoopConfidence::Sure));
        assert!(sure.starts_with("all ranks count the same"), "{sure}");
    }
}
