//! Comparisons of runs made by hand: what changed is named first, the parts add up, equal runs differ by nothing.

use lbprof_collector::Activity;
use lbprof_simulator::scenario::{RankScript, Scenario};
use lbprof_study::RunMetrics;
use lbprof_study::compare::condition::{FailCondition, JudgedCondition};
use lbprof_study::compare::names::reasons::TimeComponent;
use lbprof_study::compare::noise::NoiseLimits;
use lbprof_study::compare::output::{json, junit, markdown, text};
use lbprof_study::compare::{ComparisonSide, ComparisonSides, NamedRun, RunComparison, TimeContribution};
use lbprof_test_runs::{found_model, model, report_on};
use proptest::prelude::*;
use tempfile::TempDir;

use crate::program::{lb_report, stdout_of};

fn run(scenario: Scenario) -> RunMetrics {
    let model = model(scenario);
    RunMetrics::new(&report_on(&model), &model)
}

fn named(name: &str, run: RunMetrics) -> NamedRun {
    NamedRun { name: name.to_owned(), run }
}

fn compare_all(base: Vec<RunMetrics>, new: Vec<RunMetrics>) -> RunComparison {
    let side = |name: &str, runs: Vec<RunMetrics>| {
        let named = |(at, mut run): (usize, RunMetrics)| {
            // Runs made by hand have one id all.
            run.id = if name == "base" { 1 } else { 2 };
            named(&format!("{name}-{at}"), run)
        };
        ComparisonSide { runs: runs.into_iter().enumerate().map(named).collect() }
    };
    RunComparison::new(ComparisonSides { base: side("base", base), new: side("new", new) }, NoiseLimits::default())
}

fn compare(base: RunMetrics, new: RunMetrics) -> RunComparison {
    compare_all(vec![base], vec![new])
}

fn judge_all(conditions: &[FailCondition], comparison: &RunComparison) -> Vec<JudgedCondition> {
    let ComparisonSides { base, new } = &comparison.sides;
    conditions.iter().map(|condition| condition.judge(new, Some(base)).expect("there are the regions")).collect()
}

fn rendered(comparison: &RunComparison, conditions: &[&str], columns: usize) -> String {
    let conditions: Vec<FailCondition> = conditions.iter().map(|text| text.parse().expect(text)).collect();
    let judged = judge_all(&conditions, comparison);
    let text = text::render_comparison(comparison, &judged, &text::ComparisonTextOptions { columns, top: 8 });
    anstream::adapter::strip_str(&text).to_string()
}

/// 5 steps, in which ranks compute in "force", for as long as `force` says of each, then 4 ms in "move", and meet.
fn steps(n_ranks: u32, force: impl Fn(u32) -> f64) -> Scenario {
    let longest = (0..n_ranks).map(&force).fold(0.0, f64::max);
    Scenario::ranks(n_ranks).each(|rank, script| {
        let work = force(rank);
        let step = move |script: RankScript| {
            let script = script.region("force", |script| script.compute(work));
            script.region("move", |script| script.compute(4.0)).at("end of step").barrier(longest - work + 0.5)
        };
        script.param("size", 512.0).repeat(5, move |_, script| script.iteration("step", step))
    })
}

fn before(rank: u32) -> f64 {
    20.0 - f64::from(rank % 2)
}

/// The same with region force 30 % slower on rank 2.
fn after(rank: u32) -> f64 {
    before(rank) * if rank == 2 { 1.3 } else { 1.0 }
}

fn first(comparison: &RunComparison) -> &TimeContribution {
    comparison.reasons.first().expect("there is a reason")
}

#[test]
fn a_region_that_is_slower_on_one_rank_is_named_first() {
    let comparison = compare(run(steps(4, before)), run(steps(4, after)));
    // 5 steps of 6 ms more on rank 2; three ranks wait for it. In the mean over ranks it is 7.5 ms, and 22.5 ms of waiting.
    assert!((comparison.elapsed.change_s - 0.030).abs() < 1e-9, "{:?}", comparison.elapsed);
    let reason = first(&comparison);
    assert_eq!(reason.region.as_deref(), Some("main/step/force"));
    assert!(matches!(reason.what, TimeComponent::In(_, Activity::Computation)));
    assert!((reason.total.change_s - 0.030).abs() < 1e-6, "{reason:?}");
    assert!(
        (reason.own_change_s - 0.0075).abs() < 1e-9 && (reason.caused_change_s - 0.0225).abs() < 1e-6,
        "{reason:?}"
    );
    let [one] = reason.whose.ranks.as_slice() else { panic!("{reason:?}") };
    assert!(one.rank == 2 && (one.own_change_s - 0.030).abs() < 1e-9, "{one:?}");
    assert!(reason.total.beyond_noise && !comparison.is_noise());
    // The excess over the mean is 2.5 ms before, 25 ms after.
    let finding = comparison.findings.first().expect("a finding changed");
    assert!((finding.seconds.change_s - 0.0225).abs() < 1e-3 && finding.seconds.beyond_noise, "{finding:?}");
    assert!(finding.words.starts_with("because rank 2 has 1.2 times the average work"), "{finding:?}");
    insta::assert_snapshot!(
        "slower_on_one_rank_100",
        rendered(&comparison, &["elapsed_s > base * 1.05", "load_balance < 0.5", "transfer < base / 0"], 100)
    );
    insta::assert_snapshot!("slower_on_one_rank_60", rendered(&comparison, &["elapsed_s > base * 1.05"], 60));
}

#[test]
fn what_counts_is_whom_ranks_wait_for() {
    let with = |slow: [f64; 3]| run(steps(3, move |rank| slow[rank as usize]));
    let comparison = compare(with([20.0, 10.0, 10.0]), with([20.0, 10.0, 26.0]));
    assert!((comparison.elapsed.change_s - 0.030).abs() < 1e-9);
    assert!(first(&comparison).whose.ranks.first().is_some_and(|one| one.rank == 2), "{:?}", first(&comparison));
    let comparison = compare(with([20.0, 10.0, 10.0]), with([20.0, 10.0, 13.0]));
    assert!(comparison.is_noise(), "{:?}", comparison.reasons);
}

#[test]
fn what_is_slower_on_all_ranks_is_reported_so() {
    let comparison = compare(run(steps(4, before)), run(steps(4, |rank| before(rank) + 6.0)));
    assert!(
        first(&comparison).whose.all_ranks && (first(&comparison).own_change_s - 0.030).abs() < 1e-9,
        "{:?}",
        first(&comparison)
    );
    let text = rendered(&comparison, &[], 100);
    assert!(text.contains("all ranks compute 30.0 ms longer on average in step/force."), "{text}");
}

#[test]
fn communication_is_named_by_its_region() {
    let exchange = |ms: f64| {
        run(Scenario::ranks(2)
            .each(|_, script| script.region("exchange", |script| script.compute(50).allreduce(8, ms))))
    };
    let comparison = compare(exchange(1.0), exchange(40.0));
    let reason = first(&comparison);
    assert_eq!((reason.what.name(), reason.region.as_deref()), ("calls besides waiting", Some("main/exchange")));
}

#[test]
fn runs_of_the_same_differ_by_nothing_beyond_noise() {
    let comparison = compare(run(steps(4, before)), run(steps(4, |rank| before(rank) * 1.01)));
    assert!(comparison.is_noise());
    let text = rendered(&comparison, &["elapsed_s > base * 1.05"], 100);
    assert!(text.contains("Nothing beyond noise: 123.5 ms instead of 122.5 ms (+0.8 %)."), "{text}");
    assert!(!text.contains("Why"), "{text}");
    insta::assert_snapshot!("nothing_beyond_noise", text);
}

#[test]
fn several_runs_show_their_noise() {
    let of = |factors: [f64; 4]| -> Vec<RunMetrics> {
        factors.map(|factor| run(steps(2, move |rank| before(rank) * factor))).into_iter().collect()
    };
    // They scatter by 10 %: 4 % are nothing. Where they scatter by 0.2 %, 1 % is something.
    assert!(compare_all(of([1.0, 1.05, 0.95, 1.02]), of([1.04, 1.09, 0.99, 1.06])).is_noise());
    let comparison = compare_all(of([1.0, 1.001, 0.999, 1.0]), of([1.011, 1.010, 1.009, 1.010]));
    assert!(comparison.elapsed.beyond_noise);
    assert_eq!(first(&comparison).region.as_deref(), Some("main/step/force"));
    insta::assert_snapshot!("several_runs", rendered(&comparison, &["elapsed_s > base * 1.05"], 100));
    assert!(
        compare_all(of([1.0, 1.05, 0.95, 1.02]), vec![run(steps(2, |rank| before(rank) * 2.0))]).elapsed.beyond_noise
    );
}

#[test]
fn what_did_change_beyond_doubt_is_reported_beside_times_that_scatter() {
    // The base runs lose half of the time to rank 1, one of them on a machine that was seven times as slow; the new ones are balanced.
    let of = |factors: [f64; 4], share: f64| -> Vec<RunMetrics> {
        let force = move |factor: f64| move |rank: u32| if rank == 1 { 100.0 * factor } else { share * factor };
        factors.map(|factor| run(steps(2, force(factor)))).into_iter().collect()
    };
    let comparison = compare_all(of([1.0, 1.02, 7.0, 1.01], 2.0), of([0.5, 0.51, 0.52, 0.5], 90.0));
    assert!(!comparison.elapsed.beyond_noise);
    let text = rendered(&comparison, &[], 400);
    assert!(!text.contains("Nothing beyond noise"), "{text}");
    assert!(text.contains("The elapsed time does not differ beyond noise"), "{text}");
    assert!(text.contains("Beyond noise did change: parallel efficiency from "), "{text}");
    let balance = comparison.ratios.iter().find(|ratio| ratio.name == "load balance").unwrap();
    let expected =
        format!("load balance from {:.1} % to {:.1} %", 100.0 * balance.base.unwrap(), 100.0 * balance.new.unwrap());
    assert!(balance.beyond_noise && text.contains(&expected), "{expected}: {text}");
    assert!(balance.base.unwrap() < 0.55 && balance.new.unwrap() > 0.9, "{balance:?}");
    // Nothing is certain of one run a side, nor of times that only scatter.
    let single = compare_all(of([1.0; 4], 2.0)[..1].to_vec(), of([1.0; 4], 90.0)[..1].to_vec());
    assert!(single.ratios.iter().all(|ratio| !ratio.beyond_noise));
    let scattered = compare_all(of([1.0, 1.02, 7.0, 1.01], 90.0), of([0.9, 0.91, 0.92, 0.9], 90.0));
    assert!(scattered.is_noise());
    let text = rendered(&scattered, &[], 400);
    assert!(text.contains("Nothing beyond noise") && text.contains("further runs would show it"), "{text}");
}

#[test]
fn regions_match_across_numbers_of_ranks() {
    let comparison = compare(run(steps(4, before)), run(steps(8, |rank| if rank == 5 { 30.0 } else { 20.0 })));
    let reason = first(&comparison);
    assert_eq!(reason.region.as_deref(), Some("main/step/force"));
    assert!(reason.whose.longest.is_some_and(|longest| longest.rank == 5), "{reason:?}");
    let text = rendered(&comparison, &[], 100);
    assert!(text.contains("The number of ranks differs: 4 → 8: times are means over ranks."), "{text}");
    assert!(text.contains("most of all rank 5"), "{text}");
}

#[test]
fn what_else_differs_is_reported() {
    let other = Scenario::ranks(2)
        .header(0, |header| header.command = vec!["./other".into()])
        .each(|_, script| script.param("size", 1024.0).region("another", |script| script.compute(10)).barrier(1.0));
    let mut new = run(other.missing(1));
    new.complete = false;
    let text = rendered(&compare(run(steps(2, before)), new), &[], 100);
    for says in [
        "! The programs differ: other, scenario. What matches by name is compared.",
        "! Parameters differ: size 512 → 1,024.",
        "Data of new-0 are incomplete",
        "! Only in the base runs: main/step, main/step/force, main/step/move.",
        "! Only in the new runs: main/another.",
    ] {
        assert!(text.contains(says), "{says}: {text}");
    }
    let mut base = run(steps(2, before));
    base.causes = None;
    (base.answer, base.findings) = Default::default();
    let comparison = compare(base, run(steps(2, after)));
    assert!(!comparison.by_cause && comparison.findings.is_empty());
    assert!(rendered(&comparison, &[], 100).contains("ranks were not followed"));
    let twice = run(steps(2, before));
    let same = ComparisonSide { runs: vec![named("a", twice)] };
    let same = RunComparison::new(ComparisonSides { base: same.clone(), new: same }, NoiseLimits::default());
    assert!(same.remarks[0].contains("is on both sides"), "{:?}", same.remarks);
}

#[test]
fn conditions_go_to_markdown_and_junit() {
    let comparison = compare(run(steps(4, before)), run(steps(4, after)));
    let conditions: Vec<FailCondition> =
        ["elapsed_s > base * 1.05", "regions[\"main/step/force\"].time_s > base * 1.5", "blocked_s > base / 0"]
            .map(|text| text.parse().unwrap())
            .into();
    let judged = judge_all(&conditions, &comparison);
    insta::assert_snapshot!("markdown", markdown::render_markdown(&comparison, &judged));
    let mut bytes = Vec::new();
    junit::write_junit(&comparison, &judged, &mut bytes).unwrap();
    insta::assert_snapshot!("junit", String::from_utf8(bytes).unwrap());
    let mut bytes = Vec::new();
    json::write_comparison(&comparison, &judged, &mut bytes).unwrap();
    insta::assert_snapshot!("json", String::from_utf8(bytes).unwrap());
}

/// Regions found between calls have names of places, which move.
#[test]
fn found_regions_match_where_their_names_move() {
    let found = |slow: f64| {
        let model = found_model(Scenario::ranks(2).each(|rank, script| {
            script.repeat(20, |_, script| {
                let script =
                    script.compute(10.0 + slow * f64::from(rank)).at("first").barrier(slow * f64::from(1 - rank) + 0.2);
                script.compute(5).at("second").barrier(0.2)
            })
        }));
        RunMetrics::new(&report_on(&model), &model)
    };
    let mut new = found(3.0);
    // As if lines had been put in before.
    let moved = |path: &str| path.replace("+0x", "+0x1");
    new.regions.iter_mut().for_each(|region| region.path = moved(&region.path));
    new.causes.iter_mut().flatten().for_each(|cause| cause.region = moved(&cause.region));
    let comparison = compare(found(0.0), new);
    assert!(comparison.remarks.iter().all(|remark| !remark.starts_with("Only")), "{:?}", comparison.remarks);
    // The first of 20 passes is none of the loop's.
    assert!((first(&comparison).total.change_s - 19.0 * 0.003).abs() < 1e-6, "{:?}", first(&comparison));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.min(24)))]

    /// Whatever ranks do, and however many there are, the parts add up to the change of the elapsed time.
    #[test]
    fn the_parts_add_up(
        base in prop::collection::vec((0.0..20.0f64, 0.0..20.0f64, 0.0..5.0f64), 1..5),
        new in prop::collection::vec((0.0..20.0f64, 0.0..20.0f64, 0.0..5.0f64), 1..5),
        same in any::<bool>(),
    ) {
        let scenario = |ranks: &[(f64, f64, f64)]| {
            let longest = ranks.iter().map(|(a, _, late)| a + late).fold(0.0, f64::max);
            let ranks = ranks.to_vec();
            Scenario::ranks(ranks.len() as u32).each(move |rank, script| {
                let (a, b, late) = ranks[rank as usize];
                let script = script.late(late).region("a", |script| script.compute(a));
                let script = script.barrier(longest - a - late + 0.1).region("b", |script| script.compute(b).allreduce(8, 0.1 + 20.0 - b));
                // Each ends at a time of its own: some are idle.
                script.compute(a)
            })
        };
        let n = if same { base.len().min(new.len()) } else { usize::MAX };
        let comparison = compare(run(scenario(&base[..n.min(base.len())])), run(scenario(&new[..n.min(new.len())])));
        prop_assert!(comparison.by_cause);
        let change_s = comparison.elapsed.change_s;
        for parts in [&comparison.reasons, &comparison.places] {
            let sum: f64 = parts.iter().map(|part| part.total.change_s).sum();
            prop_assert!((sum - change_s).abs() < 1e-9, "{} of {}: {:?}", sum, change_s, parts);
            let split: f64 = parts.iter().map(|part| part.own_change_s + part.caused_change_s).sum();
            prop_assert!((split - change_s).abs() < 1e-9);
        }
        // What is idle is waited for somebody: nothing is left of it by reason.
        let idle = comparison.reasons.iter().find(|part| part.what == TimeComponent::Idle);
        prop_assert!(idle.is_none_or(|part| part.total.new_s.abs() < 1e-6), "{:?}", idle);
    }
}

fn runs() -> TempDir {
    let here = tempfile::tempdir().expect("a folder");
    steps(4, before).write(&here.path().join("base")).expect("a run");
    steps(4, before).run_id(2).write(&here.path().join("same")).expect("a run");
    steps(4, after).run_id(3).write(&here.path().join("slow")).expect("a run");
    steps(4, after).run_id(4).missing(1).write(&here.path().join("partial")).expect("a run");
    steps(4, after).run_id(5).write(&here.path().join("slow-2")).expect("a run");
    here
}

#[test]
fn exit_codes_report_conditions() {
    let here = runs();
    let code = |arguments: &[&str], code: i32| {
        let output = lb_report(here.path(), arguments).assert().code(code).get_output().clone();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (text, _) = code(&["compare", "base", "slow"], 0);
    assert!(text.contains("rank 2 computes 30.0 ms longer in step/force, and others\nwait for it."), "{text}");
    let (text, _) = code(&["compare", "base", "same", "--fail-if", "elapsed_s > base * 1.05"], 0);
    assert!(text.contains("Nothing beyond noise") && text.contains("passes"), "{text}");
    let slower = ["compare", "base", "slow", "--fail-if", "elapsed_s > base * 1.05", "--fail-if", "load_balance < 0.5"];
    let (text, _) = code(&slower, 3);
    assert!(text.contains("  FAILS  elapsed_s > base * 1.05: elapsed_s is 0.1525, base 0.1225"), "{text}");
    assert!(text.contains("  passes  load_balance < 0.5"), "{text}");
    // What is not known does not pass; that data are missing is reported where conditions pass.
    code(&["compare", "base", "same", "--fail-if", "elapsed_s > base / 0"], 3);
    code(&["compare", "base", "partial", "--fail-if", "elapsed_s > base * 9"], 4);
    for (wrong, says) in [
        (&["compare", "base"][..], "BASE… --with NEW…"),
        (&["compare", "base", "same", "slow"], "BASE… --with NEW…"),
        (&["compare", "base", "same", "--fail-if", "elapsed > 3"], "there is no metric elapsed; there is elapsed_s"),
        (
            &["compare", "base", "same", "--fail-if", "regions[\"main/forc\"].time_s > 3"],
            "no run has a region main/forc",
        ),
        (&["base", "--fail-if", "elapsed_s > base"], "there is no base without lb-report compare"),
        (&["compare", "base", "./base", "--with", "slow"], "base and ./base are the same run"),
        (&["compare", "base", "--with", "slow", "same", "slow"], "slow and slow are the same run"),
        (&["compare", "base", "same", "--json", "--markdown"], "only one of --json and --markdown"),
    ] {
        let (out, message) = code(wrong, 2);
        assert!(message.contains(says) && out.is_empty(), "{wrong:?}: {message}");
    }
    code(&["compare", "base", "nowhere"], 5);
    code(&["base", "--fail-if", "parallel_efficiency < 0.9"], 0);
    let (_, message) = code(&["slow", "--fail-if", "parallel_efficiency < 0.9"], 3);
    let fails = "lb-report: parallel_efficiency < 0.9: FAILS: parallel_efficiency is 0.8197\n";
    assert_eq!(message, fails);
    let quiet = |arguments: &[&str], expected| {
        code(&[arguments, &["-q", "--fail-if", "parallel_efficiency < 0.9"]].concat(), expected)
    };
    for arguments in [&["slow"][..], &["compare", "base", "slow"]] {
        assert_eq!(quiet(arguments, 3), (String::new(), fails.to_owned()), "{arguments:?}");
    }
    for arguments in [&["base"][..], &["compare", "base", "same"]] {
        assert_eq!(quiet(arguments, 0), (String::new(), String::new()), "{arguments:?}");
    }
    let (text, _) = code(&["compare", "base", "slow", "-q", "--markdown", "c.md"], 0);
    assert_eq!(text, "");
    for asked in [&["compare", "base", "slow", "-q"][..], &["slow", "-q"]] {
        assert!(!code(asked, 0).0.is_empty(), "{asked:?}");
    }
    let (text, _) = code(&["slow", "-q", "--top", "3", "--fail-if", "parallel_efficiency < 0.9"], 3);
    assert!(!text.is_empty());
}

#[test]
fn several_runs_a_side_and_documents() {
    let here = runs();
    let all = "compare base same --with slow slow-2 --json c.json --markdown c.md --junit c.xml";
    stdout_of(here.path(), &all.split(' ').collect::<Vec<_>>(), 0);
    let read = |name: &str| std::fs::read_to_string(here.path().join(name)).expect(name);
    let document: serde_json::Value = serde_json::from_str(&read("c.json")).expect("it is JSON");
    assert_eq!((&document["schema"], &document["noise"]["known"]), (&"lbprof-compare/1".into(), &true.into()));
    assert_eq!(document["new"].as_array().map(Vec::len), Some(2));
    assert!(read("c.md").starts_with("**152.5 ms instead of 122.5 ms (+24.5 %)") && read("c.xml").starts_with("<?xml"));
    let stdout = stdout_of(here.path(), &["compare", "base", "slow", "--json"], 0);
    assert!(stdout.starts_with("{\n") && stdout.ends_with("}\n"));
}

#[test]
fn runs_of_a_study_are_compared_and_shown_on_a_page() {
    let here = runs();
    let run = |arguments: &[&str], code| stdout_of(here.path(), arguments, code);
    run(&["study", "add", "force.study", "base", "slow"], 0);
    let text = run(&["compare", "force.study:1", "slow"], 0);
    assert!(text.contains("rank 2 computes 30.0 ms longer in step/force, and others\nwait for it."), "{text}");
    assert_eq!(run(&["compare", "base", "slow", "--quiet", "--html", "c.html"], 0), "");
    let page = std::fs::read_to_string(here.path().join("c.html")).unwrap();
    assert!(page.contains("id=\"comparison\"") && page.contains("rank 2 computes 30.0 ms longer"), "{page}");
    run(&["compare", "force.study:1", "force.study:2", "--fail-if", "elapsed_s > base"], 3);
    run(&["compare", "force.study:1", "force.study:7"], 2);
    run(&["compare", "force.study:1", "none.study:7"], 5);
    assert_eq!(run(&["study", "html", "force.study", "force.html"], 0), "");
    let page = std::fs::read_to_string(here.path().join("force.html")).expect("the page");
    assert!(
        page.starts_with("<!doctype html>") && page.contains("id=\"study\"") && page.contains("default-src 'none'")
    );
    run(&["study", "html", "none.study", "none.html"], 5);
    assert!(!here.path().join("none.html").exists());
}
