//! Loop detection: finds the loops of all ranks by searching the calls of a few.
//!
//! Ranks that run the same code form a group, and the calls of one representative stand for the group. The search looks for loops in a window
//! of the representative's calls from the middle of the run ([`crate::structure::iterations::find`]). A rank joins the group if it makes the
//! call that ends the main loop as often, and repeats no call that the representative lacks. The remaining ranks are searched in turn:
//!
//! ```text
//!   rank 0   | Send Recv    Allreduce | …        group A
//!   rank 1   | Recv* Send*  Allreduce | …        group B: ends iterations as A does, with other calls in them; A and B run in
//!                                                lockstep ([`lockstep`])
//!   rank 2   | Gather | Gather | …               group C: ends iterations differently, like a master
//! ```

pub(super) mod anchors;
pub(super) mod calls;
pub(super) mod distribution;
pub(super) mod lockstep;
pub(super) mod loop_group;
pub mod named;
pub(super) mod options;
pub(super) mod unassigned_ranks;

use std::cell::RefCell;
use std::collections::HashMap;

use super::StructureOptions;
use super::placer::MOST_LOOPS;
use super::program_loops::activations::ActivationFinder;
use super::segment_name::place_label;
use crate::model::code::loops::{IterationEnds, Loop, TokenClass};
use crate::read::open::RecordedRun;
use crate::structure::code::symbols::{CodePlace, ResolvedNames};
use crate::structure::iterations::patterns::found_loop::FoundLoop;
use crate::structure::survey::{CallSurvey, CallToken, RankSurvey};
use anchors::{CallEvidence, common_ends};
use calls::{RankCalls, token_classes};
use lbprof_thresholds::regions::MIN_INNER_LOOP_TIME;
use lockstep::LockstepTeam;
use loop_group::LoopGroup;
use named::NamedLoop;
use unassigned_ranks::{calling_ranks, has_repeated_calls_of, representative_rank};

/// Maximum number of groups of ranks whose calls are searched. Ranks beyond them have no loop.
const MOST_GROUPS: usize = 16;

/// Finds the loops of all ranks of `run`, outer ones before the loops in them.
pub fn find_run_loops(
    run: &RecordedRun,
    survey: &CallSurvey,
    names: &ResolvedNames,
    wanted: &StructureOptions,
    tokens: &HashMap<CallToken, u32>,
) -> Vec<Loop> {
    let places = &names.places;
    let named = wanted.loop_at.as_deref().map(|text| NamedLoop::new(text, survey, places));
    let evidence = CallEvidence { survey, in_main: &names.in_main, calls: &names.calls };
    let activations = RefCell::new(ActivationFinder::new(names, &survey.sites));
    let mut groups = group_ranks(named.as_ref(), evidence, |rank| RankCalls {
        run,
        survey,
        tokens,
        rank,
        activations: &activations,
    });
    align_iteration_ends(&mut groups);
    for group in &mut groups {
        group.ranks.sort_unstable();
    }
    let (teams, team_of) = form_teams(&groups, named.is_some());
    let mut loops: Vec<Loop> = Vec::new();
    for (group, name) in groups.iter().zip(team_of) {
        let first = loops.len();
        let others = if named.is_none() { teams[name].others_count(&teams) } else { None };
        // A team has the number of the first one that takes tasks from the same code.
        let mut before = (0..name).filter(|_| named.is_none());
        let number = before.find(|&before| teams[before].is_of_one_pool_with(&teams[name])).unwrap_or(name);
        for (at, found) in group.found.iter().enumerate() {
            let mut one = to_loop(found, group, evidence, places);
            one.has_silent_loop_around = group.has_silent_loop_around.get(at) == Some(&true);
            one.parent = one.parent.map(|parent| parent + first);
            one.others = others.filter(|_| one.main);
            if one.main && number > 0 {
                one.name = format!("loop {}", number + 1);
            }
            loops.push(one);
        }
    }
    loops.truncate(MOST_LOOPS);
    loops
}

/// Returns the teams of groups in lockstep, and the team of each group, as an index. If the user named the end of iterations, groups with the
/// same number of iterations are a team.
fn form_teams<'g, 'a>(groups: &'g [LoopGroup<'a>], is_named: bool) -> (Vec<LockstepTeam<'g, 'a>>, Vec<usize>) {
    let mut teams: Vec<LockstepTeam> = Vec::new();
    let mut team_of: Vec<usize> = Vec::new();
    for group in groups {
        let mut team = LockstepTeam::from_group(group);
        let same = (0..teams.len()).filter(|&at| match is_named {
            true => teams[at].iterations == team.iterations,
            false => teams[at].is_in_lockstep_with(&team),
        });
        // Teams that meet with this one meet with each other.
        let same: Vec<usize> = same.collect();
        let name = same.first().copied().unwrap_or(teams.len());
        for &at in same.iter().skip(1).rev() {
            team.join(teams.remove(at));
            for known in team_of.iter_mut().filter(|known| **known >= at) {
                *known = if *known == at { name } else { *known - 1 };
            }
        }
        match teams.get_mut(name) {
            Some(known) => known.join(team),
            None => teams.push(team),
        }
        team_of.push(name);
    }
    (teams, team_of)
}

/// Lets groups that end their iterations with the same call, and make it equally often, end one with each of these calls: the calls of one
/// group before the first may be no whole iteration on another.
fn align_iteration_ends(groups: &mut [LoopGroup]) {
    for at in 1..groups.len() {
        let (known, rest) = groups.split_at_mut(at);
        let group = &mut rest[0];
        let mut others = known.iter_mut().filter(|known| known.main().anchor == group.main().anchor);
        let Some(known) = others.find(|known| known.iterations != group.iterations) else { continue };
        let (own, others) = ((known.chosen, known.iterations), (group.chosen, group.iterations));
        if let Some((ends, iterations)) = common_ends(own, others, &known.main().anchor) {
            (known.ends, known.iterations) = (ends, iterations);
            (group.ends, group.iterations) = (ends, iterations);
        }
    }
}

fn group_ranks<'a>(
    named: Option<&NamedLoop>,
    evidence: CallEvidence<'a>,
    calls: impl Fn(&'a RankSurvey) -> RankCalls<'a>,
) -> Vec<LoopGroup<'a>> {
    let mut remaining = calling_ranks(evidence.survey);
    let mut groups: Vec<LoopGroup> = Vec::new();
    for _ in 0..MOST_GROUPS {
        let Some(chosen) = representative_rank(&remaining) else { break };
        let calls = calls(chosen.rank);
        let (window, definitions) = calls.call_window();
        let mut own = calls.loops(&window, named).and_then(|found| LoopGroup::new(calls, chosen, found));
        if let Some(own) = &mut own {
            if named.is_some() {
                (own.ends, own.detected) = (IterationEnds::Each, calls.detected(&window));
            }
            own.settle(evidence, &window);
        }
        // Ranks that meet at the end of an iteration have the same iterations, whatever else might end one on a rank. But it may be the
        // end of only some of its iterations, in which the others have something to do.
        let own = match groups.iter().find(|group| group.has_same_end(chosen)) {
            Some(known) if !(own.as_ref().is_some_and(|own| own.is_finer_than(known))) => own
                .filter(|own| own.main().anchor == known.main().anchor)
                .or_else(|| known.adopt(calls, chosen, &window)),
            _ => own,
        };
        let Some(mut group) = own else {
            remaining.retain(|one| one.kinds != chosen.kinds);
            continue;
        };
        remaining.retain(|one| {
            let has = group.has_same_end(*one) && has_repeated_calls_of(*one, chosen);
            group.ranks.extend(has.then_some(one.rank.rank));
            !has
        });
        match groups.iter_mut().find(|known| known.is_superset_of(&group)) {
            Some(known) => known.ranks.append(&mut group.ranks),
            None => {
                group.settle(evidence, &window);
                group.definitions = definitions;
                groups.push(group);
            }
        }
    }
    for one in remaining {
        if let Some(group) = groups.iter_mut().find(|group| group.has_same_end(one)) {
            group.ranks.push(one.rank.rank);
        }
    }
    groups
}

/// Makes a loop of the structure; its parent is an index among the loops of the group.
fn to_loop(one: &FoundLoop, group: &LoopGroup, evidence: CallEvidence, places: &[CodePlace]) -> Loop {
    let CallEvidence { survey, calls, .. } = evidence;
    let main = group.main();
    let anchor = one.anchor.tokens.iter().filter_map(|&token| survey.tokens.get(token as usize));
    let anchor: Vec<(Option<u32>, u16)> = anchor.map(|token| (token.site, token.operation)).collect();
    let is_interpreted = anchor.iter().any(|(site, _)| site.is_some_and(|site| calls.is_interpreted(site)));
    let mut classes = token_classes(one, survey);
    for &token in group.occasional.iter().filter(|_| one.main) {
        if let Some(class) = classes.get_mut(token as usize) {
            *class = TokenClass::Occasional;
        }
    }
    let share_of_main = if main.time > 0 { one.time as f64 / main.time as f64 } else { 0.0 };
    let place = anchor.first().and_then(|(site, _)| places.get((*site)? as usize)).map(place_label);
    Loop {
        name: match one.main {
            true => "loop".to_owned(),
            false => format!("loop in {}", place.unwrap_or_else(|| "?".to_owned())),
        },
        parent: one.parent,
        main: one.main,
        is_region: one.main || share_of_main >= MIN_INNER_LOOP_TIME,
        ranks: group.ranks.clone(),
        anchor,
        anchors: one.anchors(),
        ends: if one.main { group.ends } else { IterationEnds::Found },
        count: group.count,
        is_unique: one.main && group.is_unique,
        is_in_main: one.main && group.is_in_main,
        is_interpreted,
        is_split: one.main && group.is_split,
        by_rhythm: one.by_rhythm,
        has_silent_loop_around: false,
        has_collectives: one.tokens.iter().any(|&token| group.calls.is_collective(token)),
        others: None,
        detected: group.detected.filter(|_| one.main),
        in_parent: one.in_parent,
        for_each_main: one.iterations as f64 / main.iterations.max(1) as f64,
        share_of_main,
        named: false,
        classes,
    }
}
