//! Notes after the answer: doubts about the figures, and what they leave out, one each.

use crate::Report;
use crate::findings::files::sole_rank;
use crate::findings::phrases::ranks::{
    capitalized_ranks, cluster_ranks, factor_in_words, named_ranks, uncapitalize_text,
};
use crate::findings::phrases::{doubts, lifetime, threads};
use crate::losses::finding::{Finding, FindingCause, FindingSubject, FindingTone};
use crate::losses::names::region_name;
use crate::losses::verdict::ClusterChoice;
use crate::rows::words::{format_bytes, format_plural, seconds_like};
use lbprof_analysis::metrics::blocking::CauseClass;
use lbprof_thresholds::verdict::MIN_LOSS;
use lbprof_thresholds::wording::{
    MAX_DIFFERENCE_OF_AVERAGE_WORK, MAX_FEW_ITERATIONS, MIN_LONG_ITERATION_S, MIN_WAITING_FOR_OTHER_GROUPS,
};

/// Returns the notes on an answer, those that touch it most first. `figures`: what the figures say, whatever the run's condition.
pub fn note_lines(report: &Report, answer: &Finding, figures: &str) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(as_measured(report, answer, figures));
    notes.extend(of_groups(report, answer));
    notes.extend(doubts::doubt_sentences(report).iter().map(|sentence| uncapitalize_text(sentence)));
    notes.extend(not_recorded(report));
    notes.extend(not_selected(report));
    notes.extend(sole_storage_rank(report, answer));
    notes.extend(note_on_preemption(report, answer));
    notes.extend(
        Some(threads::core_use_sentence(report)).filter(|sentence| !sentence.is_empty() && sentence != figures),
    );
    notes.extend(few_iterations(report, answer));
    let is_of_lifetime = matches!(answer.subject, FindingSubject::End | FindingSubject::SetUp);
    notes.extend(lifetime::lifetime_sentence(report).filter(|_| !is_of_lifetime));
    notes.retain(|note| !is_said(answer, note));
    notes
}

/// Returns whether the answer's sentence or advice says the same as a note.
fn is_said(answer: &Finding, note: &str) -> bool {
    let sentence = match &answer.cause {
        FindingCause::Sentence(sentence) => Some(sentence.as_str()),
        _ => None,
    };
    let advice = answer.advice.as_ref().map(|advice| advice.label_and_text().1);
    [sentence, advice].into_iter().flatten().any(|text| uncapitalize_text(text) == note)
}

/// The judgment by the figures, if they are not the answer.
fn as_measured(report: &Report, answer: &Finding, figures: &str) -> Option<String> {
    let before = answer.before_figures.filter(|_| report.verdict.elapsed_s > 0.0)?;
    // The sentence of a balanced run may say so itself.
    let before = if figures.contains("between MPI_Init") { "" } else { before };
    Some(format!("{before}{}", uncapitalize_text(figures)))
}

/// The note that ranks run different code, with the ranks that the answer is about.
fn of_groups(report: &Report, answer: &Finding) -> Option<String> {
    let clusters = &report.clusters;
    let is_said = report.idle_master.is_some() && answer.tone == FindingTone::Good;
    if !clusters.are_apart() || is_said {
        return None;
    }
    let groups: Vec<String> = clusters.rows.iter().map(|row| named_ranks(&row.ranks)).collect();
    let alone: Vec<u32> = clusters.alone.iter().flat_map(|row| row.ranks.iter().copied()).collect();
    let groups_in_words = match groups.as_slice() {
        [] => String::new(),
        [one] => format!("one group ({one})"),
        many => format!("{} groups ({})", many.len(), many.join("; ")),
    };
    let alone_in_words = match alone.as_slice() {
        [] => String::new(),
        [one] if report.idle_master.as_ref().is_some_and(|master| master.hosts_counter && master.rank == *one) => {
            format!("rank {one} hosts the counter of tasks and is idle")
        }
        [one] => format!("rank {one} runs code of its own"),
        _ => format!("{} each run code of their own", named_ranks(&alone)),
    };
    let who =
        [groups_in_words, alone_in_words].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    let Some(cluster) = &report.verdict.cluster else {
        return Some(format!("{who}, so balance over all of them is not judged"));
    };
    let chosen = match cluster.chosen {
        ClusterChoice::Only => String::new(),
        ClusterChoice::LosesMost => format!("; most is lost in {}", cluster_ranks(cluster)),
        ClusterChoice::LosesMostByItself => {
            format!("; most is lost in {}, besides waiting for other ranks", cluster_ranks(cluster))
        }
        ClusterChoice::ComputesMost => format!("; {} compute most", cluster_ranks(cluster)),
    };
    let verdict = &report.verdict;
    let waits = match cluster.waits_for_others_s > MIN_WAITING_FOR_OTHER_GROUPS * verdict.elapsed_s {
        true => format!(
            ". {} wait {} for other ranks",
            capitalized_ranks(cluster),
            seconds_like(cluster.waits_for_others_s, verdict.elapsed_s)
        ),
        false => String::new(),
    };
    Some(format!("{who}, so they are judged separately{chosen}{waits}"))
}

/// The note that part of the run has no records.
fn not_recorded(report: &Report) -> Option<String> {
    let verdict = &report.verdict;
    let recorded = seconds_like(verdict.elapsed_s, verdict.window_s);
    let whole = seconds_like(verdict.window_s, verdict.window_s);
    (verdict.not_recorded_s > 0.01 * verdict.window_s).then(|| format!("{recorded} of {whole} was recorded"))
}

/// The note that ranks wait for the computation of one that is not selected.
fn not_selected(report: &Report) -> Option<String> {
    report.facts.selected.ranks.as_ref()?;
    let elapsed_s = report.verdict.elapsed_s;
    let causes = &report.blocking.as_ref()?.causes;
    let of_others = causes.iter().filter(|row| {
        let is_computation = matches!(row.cause.class, CauseClass::Imbalance | CauseClass::Control);
        is_computation && report.ranks.iter().all(|one| one.rank != row.cause.rank)
    });
    let most = of_others.max_by(|a, b| a.cause.caused_s.total_cmp(&b.cause.caused_s))?;
    let waited_s = most.cause.caused_s / report.ranks.len().max(1) as f64;
    (waited_s >= MIN_LOSS * elapsed_s).then(|| {
        format!(
            "ranks wait {} for the computation of rank {} (not selected) in {}",
            seconds_like(waited_s, elapsed_s),
            most.cause.rank,
            region_name(&most.region)
        )
    })
}

/// The note that the rank with most work writes or reads nearly all that the run does.
fn sole_storage_rank(report: &Report, answer: &Finding) -> Option<String> {
    let sole = sole_rank::of_slowest_rank(report).filter(|_| answer.is_part())?;
    let (did, from) = if sole.access == "write" { ("wrote", "to") } else { ("read", "from") };
    let others = match sole.most_of_others {
        0 => "no other rank anything".to_owned(),
        most => format!("no other more than {}", format_bytes(most)),
    };
    Some(format!("rank {} {did} {} {from} storage, {others}", sole.rank, format_bytes(sole.bytes)))
}

/// The note that the rank with most work also waited for a core.
fn note_on_preemption(report: &Report, answer: &Finding) -> Option<String> {
    let worst = report.verdict.worst.as_ref().filter(|_| answer.subject == FindingSubject::SlowRank)?;
    let lost = worst.preempted?;
    let elapsed_s = report.verdict.elapsed_s;
    let how = if lost.certain { "at least" } else { "about" };
    let first = format!(
        "rank {} waited {how} {} of its {} for a core",
        worst.rank,
        seconds_like(lost.delayed_s, elapsed_s),
        seconds_like(worst.computation_s, elapsed_s)
    );
    Some(match excess_by_cpu_time(report, worst.rank) {
        Some(factor) if (factor - 1.0).abs() < MAX_DIFFERENCE_OF_AVERAGE_WORK => {
            format!("{first}; by CPU time it has average work")
        }
        Some(factor) => format!("{first}; by CPU time it has {} the average work", factor_in_words(factor)),
        None => format!("{first}, which may be why it is slow"),
    })
}

/// The CPU time of a rank's computation divided by the mean, or `None` if it is not known for all ranks.
fn excess_by_cpu_time(report: &Report, rank: u32) -> Option<f64> {
    let cpu_times: Vec<f64> = report.ranks.iter().map(|row| row.computation_cpu_s).collect::<Option<_>>()?;
    let mean_s = cpu_times.iter().sum::<f64>() / cpu_times.len().max(1) as f64;
    let position = report.ranks.iter().position(|row| row.rank == rank)?;
    (mean_s > 0.0).then(|| cpu_times[position] / mean_s)
}

/// The note that there are few iterations.
fn few_iterations(report: &Report, answer: &Finding) -> Option<String> {
    let iterations = report.iterations.as_ref().filter(|_| answer.is_part())?;
    let each_s = report.verdict.elapsed_s / iterations.count.max(1) as f64;
    let is_few = (1..=MAX_FEW_ITERATIONS).contains(&iterations.count) && each_s >= MIN_LONG_ITERATION_S;
    is_few.then(|| {
        format!(
            "only {}, of {} each: which ranks are slow may be chance; record more of them",
            format_plural(iterations.count as u64, "iteration"),
            seconds_like(each_s, report.verdict.elapsed_s)
        )
    })
}
