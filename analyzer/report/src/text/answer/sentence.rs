//! The answer in a sentence: how much is lost, and why.

use super::end::ending;
use super::phrases::{
    asleep_part, capitalized, computing_share, efficiency_of_unclear_polls, is_mostly_asleep, members, named_ranks,
    percent_range, short_percent,
};
use crate::clusters::CodeName;
use crate::excess_iterations::ExcessIterations;
use crate::functions::ExplainedExcess;
use crate::kernel_work::kernel_work_of_slowest;
use crate::loss_kind::LossKind;
use crate::situation::{CallAmounts, RunSituation, single_cause, turns_of_slowest};
use crate::text::doubts::idle_state;
use crate::text::{functions, region_name, threads};
use crate::uneven_groups::CodeGroup;
use crate::verdict::LongestRank;
use crate::words::{bytes, clean, percent, plural, seconds, seconds_like};
use crate::{LifetimeTable, Report, ReportDoubt};
use lbprof_collector::Activity;
use lbprof_thresholds::verdict::GOOD_LOAD_BALANCE;
use lbprof_thresholds::wording::{
    MIN_COMPARED_CPU_TIME, MIN_ONLY_PART_OF_LOSS, MIN_SECOND_PART_OF_LOSS, MIN_WAITING_OF_NAMED_TARGET,
};

/// Most turns of slowest ranks that are named.
const MAX_TURNS: usize = 3;

/// Most ranks that are named.
const MAX_RANKS: usize = 3;

/// Returns the answer to a run as a sentence.
pub(super) fn sentence(report: &Report, situation: RunSituation) -> String {
    match situation {
        RunSituation::StillRunning | RunSituation::EndedEarly => ending(report),
        _ => format!("{}{}", of_what(report), judged(report, situation)),
    }
}

/// The judgment of a run by its figures, whatever its end.
pub(super) fn judged(report: &Report, situation: RunSituation) -> String {
    match situation {
        RunSituation::Nothing if report.ranks.is_empty() || report.data.unknown_share > 0.5 => {
            "Nothing is known of most of the time.".to_owned()
        }
        RunSituation::Nothing => {
            "No rank computes between MPI_Init and MPI_Finalize: there is nothing to balance.".to_owned()
        }
        RunSituation::FewCalls => few_calls(report),
        RunSituation::OneRank => one_rank(report),
        RunSituation::NoCores => without_cores(report),
        RunSituation::SetUp => set_up(report),
        RunSituation::Threads => threads::sentence(report),
        RunSituation::MasterAndWorkers => master_and_workers(report),
        RunSituation::Asleep | RunSituation::Balanced | RunSituation::UnclearPolls => well_used(report, situation),
        _ => format!("{}{}{}.", how_much(report), why(report, situation), second_part(report, situation)),
    }
}

/// The part of the run that the figures describe, if data are missing, as the start of a sentence.
fn of_what(report: &Report) -> String {
    let data = &report.data;
    let all = plural(u64::from(report.facts.n_ranks), "rank");
    let mut missing = Vec::new();
    if u64::from(data.ranks_present) < data.ranks_recorded {
        missing.push(format!("logs of {} of {}", data.ranks_present, plural(data.ranks_recorded, "rank")));
    }
    if data.unknown_share > 0.005 {
        missing.push(format!("{} of the time unknown", percent(data.unknown_share)));
    }
    if data.dropped_events > 0 {
        missing.push(format!("{} dropped", plural(data.dropped_events, "event")));
    }
    match (data.complete, missing.is_empty()) {
        (true, _) if data.ranks_recorded < u64::from(report.facts.n_ranks) => {
            format!("Of {} of {all}: ", data.ranks_recorded)
        }
        (true, _) => String::new(),
        (false, true) => "From incomplete data (see below): ".to_owned(),
        (false, false) => format!("From incomplete data ({}): ", missing.join(", ")),
    }
}

/// The lost share of the time: `Half of the time (50 %) is lost`; where it is not known, between which shares: `10 % to 72 % of the time is lost`.
fn how_much(report: &Report) -> String {
    let share = report.verdict.lost_share.unwrap_or(0.0);
    if let Some((least, most)) = efficiency_of_unclear_polls(report) {
        let range = percent_range(1.0 - most, 1.0 - least);
        return format!(
            "{range} of the time is lost (it is not clear whether ranks compute or wait between their polls)"
        );
    }
    let per_cent = short_percent(share);
    let named = [
        (0.25, "A quarter"),
        (1.0 / 3.0, "A third"),
        (0.5, "Half"),
        (2.0 / 3.0, "Two thirds"),
        (0.75, "Three quarters"),
    ];
    let named = named.into_iter().find(|(part, _)| (share - part).abs() < 0.012);
    let whose = report.verdict.cluster.as_ref().map_or_else(String::new, |cluster| format!(" of {}", members(cluster)));
    match named {
        Some((_, words)) => format!("{words} of the time{whose} ({per_cent}) is lost"),
        None => format!("{per_cent} of the time{whose} is lost"),
    }
}

/// A multiple of the mean: `twice`, `1.6 times`.
pub(super) fn factor_in_words(factor: f64) -> String {
    match factor {
        two if (two - 2.0).abs() < 0.05 => "twice".to_owned(),
        three if (three - 3.0).abs() < 0.05 => "three times".to_owned(),
        large if large >= 9.95 => format!("{large:.0} times"),
        near if near < 1.1 => format!("{near:.2} times"),
        other => format!("{other:.1} times"),
    }
}

/// The iterations in which a rank has its excess, unless they are most of them: `, from iteration 50 on`.
fn when(report: &Report, worst: &LongestRank) -> String {
    let rows = report.iterations.as_ref().map_or(&[][..], |iterations| &iterations.rows);
    match worst.iterations {
        None => String::new(),
        Some(ExcessIterations::Range { first, last }) if rows.iter().all(|row| row.iteration <= last + 1) => {
            format!(", from iteration {first} on")
        }
        Some(ExcessIterations::Range { first, last }) => format!(", in iterations {first}-{last}"),
        Some(ExcessIterations::Periodic { distance: 2 }) => ", in every second iteration".to_owned(),
        Some(ExcessIterations::Periodic { distance: 3 }) => ", in every third iteration".to_owned(),
        Some(ExcessIterations::Periodic { distance }) => format!(", in every {distance}th iteration"),
        Some(ExcessIterations::Scattered { slow, all }) => format!(", in {slow} of {all} iterations"),
    }
}

/// The ranks that wait for slow ranks: `rank 1 waits for it`, `the others wait for them`.
fn who_waits(report: &Report, slow: &[u32]) -> String {
    let all: Vec<u32> = match &report.verdict.cluster {
        Some(cluster) => cluster.ranks.clone(),
        None => report.ranks.iter().map(|row| row.rank).collect(),
    };
    let what = if slow.len() > 1 { "them" } else { "it" };
    match all.iter().copied().filter(|one| !slow.contains(one)).collect::<Vec<u32>>().as_slice() {
        [one] => format!("rank {one} waits for {what}"),
        _ => format!("the others wait for {what}"),
    }
}

/// The cause of the largest loss, as the second half of a sentence.
fn why(report: &Report, situation: RunSituation) -> String {
    let verdict = &report.verdict;
    match situation {
        RunSituation::StaticExcess => excess(report),
        RunSituation::LastTask => last_task(report),
        RunSituation::UnevenGroups => uneven_groups(report),
        RunSituation::SerialCode | RunSituation::AsleepRank | RunSituation::KernelRank => alone(report, situation),
        RunSituation::FileAccess => file_access(report),
        RunSituation::CalledByMpi => {
            let called = functions::called_by_mpi(report).unwrap_or_default();
            format!(" to communication, but much of that is the program's own code: {called}")
        }
        RunSituation::MovingRank => moving(report),
        RunSituation::SlowInTurn => {
            let ranks = first_ranks(report, LossKind::SlowInTurn);
            format!(": in each iteration another rank is the slowest{ranks}, and the others wait for it")
        }
        RunSituation::SlowInParts => {
            ": in each part of an iteration another rank is the slowest, and the others wait for it".to_owned()
        }
        RunSituation::Chains => {
            let balanced = verdict.efficiency.times.load_balance().is_some_and(|balance| balance >= GOOD_LOAD_BALANCE);
            let though = if balanced { ", though all have about the same work" } else { "" };
            format!(": within iterations ranks wait for one another in chains{though}")
        }
        RunSituation::Serialization => {
            ": ranks wait for one another more than the work of any of them explains".to_owned()
        }
        RunSituation::SmallMessages | RunSituation::LargeMessages | RunSituation::LateProgress => {
            let what = match situation {
                RunSituation::SmallMessages => "many small messages",
                RunSituation::LargeMessages => "moving large messages",
                _ => "waiting for large messages that were started before",
            };
            format!(" to {what}{}", calls_in_words(report))
        }
        RunSituation::BusyTarget => match most_awaited(report) {
            Some(rank) => format!(
                ": rank {rank} computes while {} of its memory",
                who_waits(report, &[rank]).replace(" for it", " for access to a window")
            ),
            None => ": ranks compute while others wait for access to a window of their memory".to_owned(),
        },
        RunSituation::HeldLock => match most_awaited(report) {
            Some(rank) => {
                format!(": rank {rank} computes while it holds a lock of a window, and {}", who_waits(report, &[rank]))
            }
            None => ": ranks compute while they hold a lock of a window, and the others wait for it".to_owned(),
        },
        _ if report.has_unrecorded_partners() => {
            " to communication, and to waiting for processes that were not recorded".to_owned()
        }
        _ => format!(" to communication{}", calls_in_words(report)),
    }
}

/// The rank that causes most waiting, if that is a large part of it.
fn most_awaited(report: &Report) -> Option<u32> {
    let most_by = report.blocking.as_ref()?.most_by?;
    (most_by.share >= MIN_WAITING_OF_NAMED_TARGET).then_some(most_by.rank)
}

/// The cause that slow ranks have more work than the others.
fn excess(report: &Report) -> String {
    let Some(worst) = &report.verdict.worst else { return " to load imbalance".to_owned() };
    let factor = factor_in_words(worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE));
    let slow = worst.with_equals();
    let is_one = slow.len() == 1;
    let takes = match (is_mostly_asleep(report), is_one) {
        (false, true) => format!("has {factor} the average work"),
        (false, false) => format!("have {factor} the average work each"),
        (true, true) => format!("takes {factor} the average time"),
        (true, false) => format!("take {factor} the average time each"),
    };
    let when = when(report, worst);
    format!(": {} {takes}{when}, and {}", named_ranks(&slow), who_waits(report, &slow))
}

/// The cause that one group of ranks has code that takes longer than that of the others.
fn uneven_groups(report: &Report) -> String {
    let Some(groups) = &report.uneven_groups else { return " to load imbalance".to_owned() };
    let mean_s = report.verdict.worst.as_ref().map_or(0.0, |worst| worst.mean_s);
    let factor = factor_in_words(groups.slow.mean_s / mean_s.max(f64::MIN_POSITIVE));
    let others: Vec<String> = groups.others.iter().map(group_in_words).collect();
    let wait = if matches!(groups.others.as_slice(), [one] if one.ranks.len() == 1) { "waits" } else { "wait" };
    let has = if groups.slow.ranks.len() > 1 { "each have" } else { "has" };
    format!(
        ": {} {has} {factor} the average work, and {} {wait} for them",
        group_in_words(&groups.slow),
        others.join(" and ")
    )
}

/// Returns a group of ranks with the function that they alone run: `ranks 0-3 (in atmosphere)`.
fn group_in_words(group: &CodeGroup) -> String {
    let ranks = named_ranks(&group.ranks);
    match &group.code {
        Some(CodeName::Region(path)) => format!("{ranks} (in {})", region_name(path)),
        Some(CodeName::Call(_, Some(place))) => format!("{ranks} (in {})", clean(place.short_function())),
        _ => ranks,
    }
}

/// The cause that no tasks are left while a rank still works on its last one.
fn last_task(report: &Report) -> String {
    let Some(task) = report.awaited_task else { return " to load imbalance".to_owned() };
    let elapsed_s = report.verdict.elapsed_s;
    let when = if task.rounds > 1 { "each time that no tasks are left" } else { "at the end" };
    let long = match task.is_long() {
        true => format!(", {} as long as the average task", factor_in_words(task.task_s / task.mean_task_s)),
        false => String::new(),
    };
    let length = seconds_like(task.task_s, elapsed_s);
    let waits = who_waits(report, &[task.rank]);
    let waits = waits.trim_end_matches(" for it");
    format!(": {when} {waits} for the last task of rank {}, which takes {length}{long}", task.rank)
}

/// The cause that a rank works, sleeps or is in the kernel while the others have nothing to do.
fn alone(report: &Report, situation: RunSituation) -> String {
    let verdict = &report.verdict;
    let Some(worst) = &verdict.worst else { return " to load imbalance".to_owned() };
    let when = when(report, worst);
    if situation == RunSituation::SerialCode {
        let how_long = seconds_like(time_of(report, worst), verdict.elapsed_s);
        let others = who_waits(report, &[worst.rank]);
        return format!(": rank {} works alone for {how_long}{when}, and {others}", worst.rank);
    }
    let slow = worst.with_equals();
    let (take, each) = if slow.len() > 1 { ("take", " each") } else { ("takes", "") };
    let (named, others) = (named_ranks(&slow), who_waits(report, &slow));
    let factor = factor_in_words(worst.computation_s / worst.mean_s.max(f64::MIN_POSITIVE));
    let more = seconds_like(worst.over_mean_s, verdict.elapsed_s);
    let what = match situation {
        RunSituation::KernelRank => format!("in the kernel ({})", kernel_work_of_slowest(report).name()),
        _ => idle_state(worst.explained.as_ref().is_some_and(ExplainedExcess::is_stopped)).to_owned(),
    };
    format!(": {named} {take} {factor} the average time{each}, {more} more{when}, most of that {what}, and {others}")
}

/// The computation of a rank in the region with most of its excess.
fn time_of(report: &Report, worst: &LongestRank) -> f64 {
    let Some(region) = &worst.region else { return worst.computation_s };
    let row = report.regions.iter().find(|row| row.path == region.path);
    region.excess_s + row.map_or(0.0, |row| row.mean_in_s(Activity::Computation))
}

/// The cause that ranks access files.
fn file_access(report: &Report) -> String {
    let loss = report.losses.iter().find(|loss| loss.kind == LossKind::FileAccess);
    match loss.and_then(single_cause) {
        Some(rank) => format!(": rank {rank} accesses files, and {}", who_waits(report, &[rank])),
        None => " to access to files".to_owned(),
    }
}

/// Describes the turns in which ranks are the slowest.
fn moving(report: &Report) -> String {
    let turns = turns_of_slowest(report);
    let named = turns.iter().take(MAX_TURNS).map(|turn| match turn.first == turn.last {
        true => format!("rank {} in iteration {}", turn.rank, turn.first),
        false => format!("rank {} in iterations {}-{}", turn.rank, turn.first, turn.last),
    });
    let named: Vec<String> = named.collect();
    if let [only] = turns.as_slice() {
        return format!(
            ": rank {} has more work in nearly all iterations, other ranks outside of them, and each time the others wait",
            only.rank
        );
    }
    let more = if turns.len() > MAX_TURNS { " …" } else { "" };
    format!(": one rank at a time has more work ({}{more}), and the others wait for it", named.join(", "))
}

/// The ranks that cause most of a loss: ` (ranks 3, 0, 2)`. Empty if many ranks do.
fn first_ranks(report: &Report, kind: LossKind) -> String {
    let loss = report.losses.iter().find(|loss| loss.kind == kind);
    let ranks = loss.map_or(&[][..], |loss| loss.ranks.as_slice());
    let shown: Vec<String> =
        ranks.iter().filter(|(_, share)| *share >= 0.005).map(|(rank, _)| rank.to_string()).collect();
    match shown.len() {
        0 | 1 => String::new(),
        n if n <= MAX_RANKS => format!(" (ranks {})", shown.join(", ")),
        _ => format!(" (most often ranks {} …)", shown[..MAX_RANKS].join(", ")),
    }
}

/// Describes the call with most communication: how often it is made, the size of its messages and its time.
fn calls_in_words(report: &Report) -> String {
    let loss = report.losses.iter().find(|loss| loss.kind == LossKind::Communication);
    if let Some((at, &(rank, _))) = loss.and_then(|loss| loss.at.as_ref().zip(loss.ranks.first())) {
        let waits = who_waits(report, &[rank]).replace(" for it", &format!(" for rank {rank}"));
        return format!(": {waits}, which is mostly in MPI_{}", at.operation);
    }
    let Some((loss, amounts)) = loss.and_then(|loss| Some((loss, CallAmounts::new(report, loss)?))) else {
        return String::new();
    };
    let operation = loss.at.as_ref().map(|at| format!("MPI_{}", at.operation)).unwrap_or_default();
    let size = match amounts.carries_data {
        true => format!(" of {}", bytes(amounts.bytes_each)),
        false => String::new(),
    };
    let calls = plural(amounts.calls_each.max(1), "call");
    let each = seconds(amounts.seconds_each);
    let spent = match amounts.calls_each {
        0 | 1 => format!("which takes {each}"),
        n => {
            let in_all = seconds_like(amounts.seconds_each * n as f64, report.verdict.elapsed_s);
            format!("which take {each} each, {in_all} in all")
        }
    };
    let is_all = amounts.callers.len() == report.ranks.len();
    match amounts.callers.as_slice() {
        [one] if !is_all => format!(": rank {one} makes {calls} of {operation}{size}, {spent}"),
        some if !is_all => format!(": {} each make {calls} of {operation}{size}, {spent}", named_ranks(some)),
        _ => format!(": each rank makes {calls} of {operation}{size}, {spent}"),
    }
}

/// Returns the second part of what is lost, where there is one worth naming.
fn second_part(report: &Report, situation: RunSituation) -> String {
    let verdict = &report.verdict;
    let [first, second, ..] = verdict.parts.as_slice() else { return String::new() };
    if first.lost_s >= MIN_ONLY_PART_OF_LOSS * verdict.lost_s || second.share < MIN_SECOND_PART_OF_LOSS {
        return String::new();
    }
    // What is lost in the parts has the total on each rank in it.
    if first.kind == LossKind::SlowInParts && matches!(second.kind, LossKind::Imbalance | LossKind::Control) {
        return String::new();
    }
    // Who waits for a lock, or for access to a window, waits for another in turn: the first part has said so.
    let is_of_windows = matches!(situation, RunSituation::BusyTarget | RunSituation::HeldLock);
    if is_of_windows && matches!(second.kind, LossKind::DependencyChains | LossKind::Serialization) {
        return String::new();
    }
    let what = match second.kind {
        LossKind::Imbalance | LossKind::Control => excess(report).trim_start_matches(": ").to_owned(),
        LossKind::SlowInTurn => "ranks that are slow in turn".to_owned(),
        LossKind::SlowInParts => "different ranks that are slow in different parts of an iteration".to_owned(),
        LossKind::DependencyChains => "chains of ranks that wait for one another".to_owned(),
        LossKind::Serialization => "waiting for one another".to_owned(),
        LossKind::Communication => "messages and the calls themselves".to_owned(),
        LossKind::FileAccess => "access to files".to_owned(),
        LossKind::CalledByMpi => "the program's own code within MPI".to_owned(),
        LossKind::Recorder => "writing the log".to_owned(),
    };
    let by = if matches!(second.kind, LossKind::Imbalance | LossKind::Control) { "because " } else { "to " };
    format!("; {} of the time is lost {by}{what}", short_percent(second.share))
}

/// The answer if the workers work and the master is idle.
fn master_and_workers(report: &Report) -> String {
    let Some(master) = &report.idle_master else { return String::new() };
    let share = computing_share(report);
    let work = match report.doubts.iter().any(ReportDoubt::is_of_sleep) {
        true => format!("are outside of MPI {share} of the time, but {}", asleep_part(report)),
        false => format!("work {share} of the time"),
    };
    let (workers, rank) = (named_ranks(&master.workers), master.rank);
    match master.hosts_counter {
        true => format!(
            "Workers that take tasks from a counter: {workers} {work}; rank {rank} hosts the counter and is idle."
        ),
        false => {
            format!("Master and workers: {workers} {work}; rank {rank} hands out work and is idle, as masters are.")
        }
    }
}

/// The answer if there is little to gain.
fn well_used(report: &Report, situation: RunSituation) -> String {
    let verdict = &report.verdict;
    let times = &verdict.efficiency.times;
    let share = times.parallel().unwrap_or(0.0);
    let computes = computing_share(report);
    let whose = verdict.cluster.as_ref().map(members);
    match situation {
        RunSituation::Asleep => {
            let asleep = asleep_part(report);
            format!("Little is lost in MPI: {computes} of the time is spent outside of it, but {asleep}.")
        }
        RunSituation::UnclearPolls => {
            format!(
                "It is not clear whether ranks compute or wait between their polls: {computes} of the time is computation."
            )
        }
        _ if report.is_only_described() => format!("{computes} of the time is computation."),
        _ => {
            let most = gain_at_most(1.0 - share);
            let who = whose.map_or_else(
                || "Well balanced".to_owned(),
                |ranks| format!("{} are well balanced", capitalized(&ranks)),
            );
            let lives_elsewhere = report.lifetime.as_ref().is_some_and(LifetimeTable::is_worth_a_line);
            let (between, there) = match lives_elsewhere {
                true => (" between MPI_Init and MPI_Finalize", " there"),
                false => ("", ""),
            };
            format!("{who}{between}: {computes} of the time is computation, nothing to gain{there} above {most}.")
        }
    }
}

/// Returns a share that is surely not exceeded.
fn gain_at_most(share: f64) -> String {
    match (1000.0 * share).ceil() / 10.0 {
        small if small < 1.0 => format!("{small:.1} %"),
        large => format!("{:.0} %", large.ceil()),
    }
}

/// The answer if there are too few calls to judge the run.
fn few_calls(report: &Report) -> String {
    let doubt = report.doubts.iter().find(|doubt| matches!(doubt, ReportDoubt::FewCalls { .. }));
    doubt.map(|doubt| crate::text::doubt(report, doubt)).unwrap_or_default()
}

/// The answer for a single rank, which shows nothing about balance.
fn one_rank(report: &Report) -> String {
    let times = &report.verdict.efficiency.times;
    let elapsed = seconds_like(times.elapsed_s, times.elapsed_s);
    let computes = computing_share(report);
    format!("There is one rank, so there is no balance to judge: it computes {computes} of {elapsed}.")
}

/// The answer if ranks lacked cores, with the balance of their CPU time.
fn without_cores(report: &Report) -> String {
    let first = "Ranks had no cores of their own, so the times say little about the program";
    let mut by_cpu: Vec<(f64, u32)> =
        report.ranks.iter().filter_map(|row| Some((row.computation_cpu_s?, row.rank))).collect();
    by_cpu.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let least_s = MIN_COMPARED_CPU_TIME * report.verdict.elapsed_s;
    match (by_cpu.first(), by_cpu.last()) {
        (Some(most), Some(least))
            if by_cpu.len() == report.ranks.len() && least.0 > 0.0 && most.0 >= least_s && most.1 != least.1 =>
        {
            let factor = most.0 / least.0;
            match factor < 1.05 {
                true => format!("{first}: by CPU time, all work about equally long."),
                false => format!(
                    "{first}: by CPU time, rank {} works {factor:.1} times as long as rank {}.",
                    most.1, least.1
                ),
            }
        }
        _ => format!("{first}."),
    }
}

/// The answer if most of the run is set-up.
fn set_up(report: &Report) -> String {
    let Some(table) = &report.lifetime else { return String::new() };
    let described = seconds_like(report.data.elapsed_s, table.elapsed_s);
    let parts = crate::text::lifetime::phases_in_words(table);
    format!(
        "Set-up dominates: the ranks work together for {described} of {} ({}); of the rest: {}.",
        seconds(table.elapsed_s),
        short_percent(table.described_share),
        parts.join(", ")
    )
}
