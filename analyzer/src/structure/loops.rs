//! Loops of a run: ranks that run the same code are one group, and the calls of one of its ranks stand for all.
//!
//! The loops of one rank are found ([`crate::iterations::find`]) in a window of its calls from the middle of the run. Other ranks
//! have the same loops where they have the same calls at the ends of the main one, as often, and repeat no others than it does. Those
//! that have not are searched in turn:
//!
//! ```text
//!   rank 0   | Send Recv    Allreduce | …        the same end, as often, but other calls within: a group of its own, whose
//!   rank 1   | Recv* Send*  Allreduce | …        iterations are those of the first ([`super::together`])
//!   rank 2   | Gather | Gather | …               another end: a loop of its own, as of a master
//! ```

use std::collections::HashMap;
use std::ops::ControlFlow;

use lbprof_collector::format::BatchHead;
use lbprof_collector::reader::Item;
use lbprof_collector::{Operation, Record};
use rustc_hash::FxHashSet;

use super::fans::Fans;
use super::groups::{Candidate, candidates, has_loop, repeats_only_what, representative};
use super::placer::MOST_LOOPS;
use super::segments::label;
use super::together::Team;
use super::{Loop, Wanted};
use crate::definitions::Definitions;
use crate::iterations::find::{Anchor, FoundLoop, Step, Window, find_loops};
use crate::iterations::number::number;
use crate::iterations::split::{Class, Splitter};
use crate::kinds::Kinds;
use crate::open::Run;
use crate::survey::{RankSurvey, Survey, Token};
use crate::symbols::Place;

/// Calls in a window: hundreds of iterations of any program, and a few dozen megabytes.
const WINDOW: u64 = 1 << 19;

/// Most groups of ranks whose calls are searched. Ranks beyond them have no loop.
const MOST_GROUPS: usize = 16;

/// Share of a loop's time from which on a loop within it is a region of its own.
const REGION_SHARE: f64 = 0.05;

/// The loops of all ranks of `run`, outer ones before those in them.
pub fn find(run: &Run, survey: &Survey, places: &[Place], wanted: &Wanted, tokens: &HashMap<Token, u32>) -> Vec<Loop> {
    let wanted_tokens = wanted.loop_at.as_deref().map(|label| tokens_at(survey, places, label));
    let mut groups = groups(wanted_tokens.as_deref(), survey, |rank| Calls { run, survey, tokens, rank });
    // The teams by the numbers of their names, each with one group of it.
    let mut teams: Vec<Team> = Vec::new();
    let mut loops: Vec<Loop> = Vec::new();
    for group in &mut groups {
        group.ranks.sort_unstable();
        let team = Team::of(group);
        let known = teams.iter().position(|known| match wanted_tokens {
            // Where the user says what ends an iteration, as many of them are the same ones.
            Some(_) => known.iterations == team.iterations,
            None => known.goes_with(&team),
        });
        let name = known.unwrap_or(teams.len());
        match teams.get_mut(name) {
            Some(known) => known.join(team),
            None => teams.push(team),
        }
        let first = loops.len();
        loops.extend(group.found.iter().map(|one| to_loop(one, group, survey, places, first, name)));
    }
    loops.truncate(MOST_LOOPS);
    loops
}

/// Ranks that have the same loops.
pub(super) struct Group<'a> {
    /// The calls of the rank that stands for the others.
    pub(super) calls: Calls<'a>,
    /// Their numbers.
    pub(super) ranks: Vec<u32>,
    /// What its calls refer to, as far as those searched do.
    pub(super) definitions: Definitions,
    /// The number of iterations of the main loop.
    pub(super) iterations: u32,
    /// The rank that stands for the others.
    chosen: Candidate<'a>,
    /// The loops, each behind the one around it.
    found: Vec<FoundLoop>,
    /// Which of them is the main one.
    main: usize,
}

impl<'a> Group<'a> {
    /// A group of `chosen` alone, whose iterations are not counted yet; `None` where no loop is the main one.
    fn new(calls: Calls<'a>, chosen: Candidate<'a>, found: Vec<FoundLoop>) -> Option<Self> {
        let main = found.iter().position(|one| one.main)?;
        let definitions = Definitions::default();
        Some(Group { calls, ranks: Vec::new(), definitions, iterations: 0, chosen, found, main })
    }

    /// The main loop.
    pub(super) fn main(&self) -> &FoundLoop {
        &self.found[self.main]
    }

    /// Whether a rank ends iterations as these do, as often.
    fn ends_as(&self, one: Candidate) -> bool {
        has_loop(one, self.chosen, &self.main().anchor)
    }

    /// Whether ranks of `other` end as many iterations in the same way, and all that they do in one these do, too.
    fn does_what(&self, other: &Group) -> bool {
        let (own, others) = (self.main(), other.main());
        let is_known = |token: &u32| own.tokens.binary_search(token).is_ok();
        own.anchor == others.anchor && self.ends_as(other.chosen) && others.tokens.iter().all(is_known)
    }

    /// Its loops on a rank with calls in this window, that ends iterations as these ranks do but makes other calls in them: what it
    /// alone calls between the ends of iterations belongs to them.
    fn on(&self, calls: Calls<'a>, chosen: Candidate<'a>, window: &[Step]) -> Option<Group<'a>> {
        let main = self.main();
        let is_end = |step: &Step| main.anchor.tokens.contains(&step.token);
        let (first, last) = (window.iter().position(is_end)?, window.iter().rposition(is_end)?);
        let mut own: Vec<u32> = window[first..=last].iter().map(|step| step.token).collect();
        own.retain(|&token| self.chosen.rank.count(token) == 0);
        let mut found = self.found.clone();
        let mut next = Some(self.main);
        while let Some(one) = next.and_then(|at| found.get_mut(at)) {
            one.tokens.extend_from_slice(&own);
            one.tokens.sort_unstable();
            one.tokens.dedup();
            next = one.parent;
        }
        Group::new(calls, chosen, found)
    }
}

/// The groups of ranks that have loops, the largest first.
fn groups<'a>(
    wanted: Option<&[u32]>,
    survey: &'a Survey,
    calls: impl Fn(&'a RankSurvey) -> Calls<'a>,
) -> Vec<Group<'a>> {
    let mut remaining = candidates(survey);
    let mut groups: Vec<Group> = Vec::new();
    for _ in 0..MOST_GROUPS {
        let Some(chosen) = representative(&remaining) else { break };
        let calls = calls(chosen.rank);
        let (window, definitions) = calls.window();
        let own = calls.loops(&window, wanted).and_then(|found| Group::new(calls, chosen, found));
        // Ranks that meet at the end of an iteration have the same iterations, whatever else might end one on a rank.
        let own = match groups.iter().find(|group| group.ends_as(chosen)) {
            Some(known) => {
                own.filter(|own| own.main().anchor == known.main().anchor).or_else(|| known.on(calls, chosen, &window))
            }
            None => own,
        };
        let Some(mut group) = own else {
            remaining.retain(|one| one.kinds != chosen.kinds);
            continue;
        };
        remaining.retain(|one| {
            let has = group.ends_as(*one) && repeats_only_what(*one, chosen);
            group.ranks.extend(has.then_some(one.rank.rank));
            !has
        });
        match groups.iter_mut().find(|known| known.does_what(&group)) {
            Some(known) => known.ranks.append(&mut group.ranks),
            None => {
                group.iterations = calls.iterations(group.main(), &window);
                group.definitions = definitions;
                groups.push(group);
            }
        }
    }
    for one in remaining {
        if let Some(group) = groups.iter_mut().find(|group| group.ends_as(one)) {
            group.ranks.push(one.rank.rank);
        }
    }
    groups
}

/// A loop as the structure has it. `first` is where the group's loops begin, `name` counts the names of main loops.
fn to_loop(one: &FoundLoop, group: &Group, survey: &Survey, places: &[Place], first: usize, name: usize) -> Loop {
    let main = group.main();
    let anchor: Vec<(Option<u32>, u16)> = one
        .anchor
        .tokens
        .iter()
        .filter_map(|&token| survey.tokens.get(token as usize).map(|token| (token.site, token.operation)))
        .collect();
    let share_of_main = if main.time > 0 { one.time as f64 / main.time as f64 } else { 0.0 };
    let place = anchor.first().and_then(|(site, _)| places.get((*site)? as usize)).map(label);
    Loop {
        name: match (one.main, name) {
            (true, 0) => "loop".to_owned(),
            (true, n) => format!("loop {}", n + 1),
            (false, _) => format!("loop in {}", place.unwrap_or_else(|| "?".to_owned())),
        },
        parent: one.parent.map(|parent| parent + first),
        main: one.main,
        is_region: one.main || share_of_main >= REGION_SHARE,
        ranks: group.ranks.clone(),
        anchor,
        run: one.anchor.run,
        for_each_main: one.iterations as f64 / main.iterations.max(1) as f64,
        share_of_main,
        named: false,
        classes: classes(one, survey),
    }
}

/// What each kind of call is to a loop.
fn classes(one: &FoundLoop, survey: &Survey) -> Vec<Class> {
    let mut classes: Vec<Class> = survey
        .tokens
        .iter()
        .map(|token| if is_poll(token.operation) { Class::Neutral } else { Class::Foreign })
        .collect();
    for (tokens, class) in [(&one.tokens, Class::Inside), (&one.anchor.tokens, Class::Anchor)] {
        for &token in tokens {
            if let Some(place) = classes.get_mut(token as usize) {
                *place = class;
            }
        }
    }
    classes
}

/// Whether calls of an operation only ask: how often they do is chance.
fn is_poll(operation: u16) -> bool {
    Operation::from_number(operation).is_some_and(|operation| {
        let name = operation.name();
        name.starts_with("Test") || name == "Iprobe" || name == "Improbe" || name.starts_with("Request_get_status")
    })
}

fn is_collective(operation: u16) -> bool {
    use lbprof_collector::Activity;
    let activity = Operation::from_number(operation).map(Operation::activity);
    matches!(activity, Some(Activity::Collective | Activity::Synchronization))
}

/// The kinds of calls at the call sites whose label holds `label`.
fn tokens_at(survey: &Survey, places: &[Place], label: &str) -> Vec<u32> {
    let is_there = |token: &Token| {
        let place = token.site.and_then(|site| places.get(site as usize));
        place.is_some_and(|place| place.label().contains(label))
    };
    (0..).zip(&survey.tokens).filter(|(_, token)| is_there(token)).map(|(at, _)| at).collect()
}

/// The calls of the rank that stands for others.
#[derive(Clone, Copy)]
pub(super) struct Calls<'a> {
    run: &'a Run,
    survey: &'a Survey,
    tokens: &'a HashMap<Token, u32>,
    /// The rank.
    pub(super) rank: &'a RankSurvey,
}

impl Calls<'_> {
    /// The loops in a window of its calls; only that which ends at `wanted`, where that is given. `None`: there is none.
    fn loops(&self, window: &[Step], wanted: Option<&[u32]>) -> Option<Vec<FoundLoop>> {
        if let Some(wanted) = wanted {
            return loop_at(window, wanted).map(|one| vec![one]);
        }
        let is_collective =
            |token: u32| self.survey.tokens.get(token as usize).is_some_and(|token| is_collective(token.operation));
        let fans = if self.survey.marked_phases { self.fans() } else { FxHashSet::default() };
        let window = Window {
            steps: window,
            whole_run: self.is_in_window(),
            is_collective: &is_collective,
            is_fan: &|token| fans.contains(&token),
        };
        let found = find_loops(&window);
        found.iter().any(|one| one.main).then_some(found)
    }

    /// Whether all its calls are in the window.
    fn is_in_window(&self) -> bool {
        self.rank.calls <= WINDOW
    }

    /// Calls from the middle of the run, without polls, and what they refer to.
    fn window(&self) -> (Vec<Step>, Definitions) {
        let first = (self.rank.calls / 2).saturating_sub(WINDOW / 2);
        let mut steps = Vec::new();
        let mut at = 0_u64;
        let definitions = self.each_call(|token, record| {
            if at >= first && token.is_some_and(|token| !self.is_poll(token)) {
                let (begin, end) = (record.begin, record.end.max(record.begin));
                steps.extend(token.map(|token| Step { token, begin, end }));
            }
            at += 1;
            if at < first + WINDOW { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        (steps, definitions)
    }

    fn is_poll(&self, token: u32) -> bool {
        self.survey.tokens.get(token as usize).is_none_or(|token| is_poll(token.operation))
    }

    /// The number of iterations of a loop in all its calls, of which these are in the window.
    fn iterations(&self, one: &FoundLoop, window: &[Step]) -> u32 {
        let mut splitter = Splitter::new(classes(one, self.survey), one.anchor.run);
        let mut next = |token, begin, end| _ = splitter.next(token, begin, end);
        match self.is_in_window() {
            // Polls, which it lacks, end no iteration.
            true => window.iter().for_each(|step| next(step.token, step.begin, step.end)),
            false => drop(self.each_call(|token, record| {
                token.into_iter().for_each(|token| next(token, record.begin, record.end.max(record.begin)));
                ControlFlow::Continue(())
            })),
        }
        number(&splitter.finish()).count
    }

    /// The kinds of a loop's calls that are collective operations, each with how often the rank makes them.
    pub(super) fn collectives_in(&self, one: &FoundLoop) -> impl Iterator<Item = (Token, u64)> {
        let known =
            one.tokens.iter().filter_map(|&at| Some((*self.survey.tokens.get(at as usize)?, self.rank.count(at))));
        known.filter(|(token, _)| is_collective(token.operation))
    }

    /// Kinds of calls in marked regions that only hand out or collect.
    fn fans(&self) -> FxHashSet<u32> {
        let mut fans = Fans::default();
        let mut next = 0;
        self.each_record(|head, token, record| {
            if let Some(head) = head {
                if head.first != next {
                    fans.begin(head.open.len());
                }
                next = head.first;
            }
            next += 1;
            fans.add(record, token);
            ControlFlow::Continue(())
        });
        fans.finish()
    }

    /// Gives each call of the first thread, until `take` has enough, with its kind by the survey's index; returns what these calls
    /// refer to.
    pub(super) fn each_call(&self, mut take: impl FnMut(Option<u32>, &Record) -> ControlFlow<()>) -> Definitions {
        self.each_record(|_, token, record| match record.is_call() {
            true => take(token, record),
            false => ControlFlow::Continue(()),
        })
    }

    /// The same of each record; with that of a batch's first record comes its head.
    fn each_record(
        &self,
        mut take: impl FnMut(Option<&BatchHead>, Option<u32>, &Record) -> ControlFlow<()>,
    ) -> Definitions {
        let mut definitions = Definitions::default();
        let header = self.run.headers.iter().find(|header| header.rank == self.rank.rank);
        let Some(mut log) = header.and_then(|header| self.run.log(header).ok()) else { return definitions };
        let mut kinds = Kinds::default();
        let mut tokens: Vec<Option<u32>> = Vec::new();
        while let Some(item) = log.next_item() {
            match item {
                Item::Definitions(found) => found.into_iter().for_each(|one| definitions.add(one)),
                Item::Records { head, records } if head.thread == 0 => {
                    let heads = std::iter::once(Some(&head)).chain(std::iter::repeat(None));
                    for (record, head) in records.iter().zip(heads) {
                        let kind = record.is_call().then(|| kinds.of(record) as usize);
                        if let Some(kind) = kind.filter(|&kind| kind >= tokens.len()) {
                            let token =
                                kinds.get(kind as u32).map(|kind| Token::of(kind, &self.survey.sites, &definitions));
                            tokens.push(token.and_then(|token| self.tokens.get(&token).copied()));
                        }
                        let token = kind.and_then(|kind| tokens.get(kind).copied().flatten());
                        if take(head, token, record).is_break() {
                            return definitions;
                        }
                    }
                }
                _ => {}
            }
        }
        definitions
    }
}

/// The loop whose iterations end at `wanted`: all kinds of calls between the first and the last of them belong to it.
fn loop_at(steps: &[Step], wanted: &[u32]) -> Option<FoundLoop> {
    let is_end = |step: &Step| wanted.contains(&step.token);
    let first = steps.iter().position(is_end)?;
    let last = steps.iter().rposition(is_end).filter(|&last| last > first)?;
    let within = &steps[first..=last];
    let mut tokens: Vec<u32> = within.iter().map(|step| step.token).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let anchors: Vec<u32> = tokens.iter().copied().filter(|token| wanted.contains(token)).collect();
    Some(FoundLoop {
        parent: None,
        tokens,
        anchor: Anchor { tokens: anchors, run: false },
        iterations: within.iter().filter(|step| is_end(step)).count(),
        time: within.last()?.end.saturating_sub(within.first()?.begin),
        alike: 1.0,
        main: true,
    })
}
