//! Loops of a run: ranks that run the same code are one group, and the calls of one of its ranks stand for all.
//!
//! The loops of one rank are found ([`crate::structure::iterations::find`]) in a window of its calls from the middle of the run. Other ranks
//! have the same loops where they have the same calls at the ends of the main one, as often, and repeat no others than it does. Those
//! that have not are searched in turn:
//!
//! ```text
//!   rank 0   | Send Recv    Allreduce | …        the same end, as often, but other calls within: a group of its own, whose
//!   rank 1   | Recv* Send*  Allreduce | …        iterations are those of the first ([`super::together`])
//!   rank 2   | Gather | Gather | …               another end: a loop of its own, as of a master
//! ```

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::ops::ControlFlow;

use lbprof_collector::format::BatchHead;
use lbprof_collector::reader::Item;
use lbprof_collector::{Operation, Record};
use rustc_hash::FxHashSet;

use super::Wanted;
use super::anchors::{Evidence, common_ends};
use super::fans::Fans;
use super::groups::{Candidate, candidates, has_loop, repeats_only_what, representative};
use super::named::LoopAt;
use super::placer::MOST_LOOPS;
use super::polls::may_spin;
use super::segments::label;
use super::together::Team;
use crate::model::loops::Count;
use crate::model::loops::Ends;
use crate::model::loops::{Anchors, Class};
use crate::model::loops::{Detected, Loop};
use crate::read::definitions::Definitions;
use crate::read::open::Run;
use crate::structure::iterations::find::{FoundLoop, Step, Window, find_loops};
use crate::structure::iterations::number::number;
use crate::structure::iterations::split::Splitter;
use crate::structure::kinds::Kinds;
use crate::structure::survey::{RankSurvey, Survey, Token};
use crate::structure::symbols::{Place, Resolved};

/// Calls in a window: hundreds of iterations of any program, and a few dozen megabytes.
const WINDOW: u64 = 1 << 19;

/// Most groups of ranks whose calls are searched. Ranks beyond them have no loop.
const MOST_GROUPS: usize = 16;

/// Seconds computed in an iteration up to which one of calls that may spin does: a program that yields its core, or sleeps for the shortest
/// time that the system knows, spins.
const SPIN_S: f64 = 100e-6;

/// Share of a loop's time from which on a loop within it is a region of its own.
const REGION_SHARE: f64 = 0.05;

/// The loops of all ranks of `run`, outer ones before those in them.
pub fn find(run: &Run, survey: &Survey, names: &Resolved, wanted: &Wanted, tokens: &HashMap<Token, u32>) -> Vec<Loop> {
    let places = &names.places;
    let named = wanted.loop_at.as_deref().map(|text| LoopAt::new(text, survey, places));
    let evidence = Evidence { survey, in_main: &names.in_main };
    let mut groups = groups(named.as_ref(), evidence, |rank| Calls { run, survey, tokens, rank });
    agree(&mut groups);
    // The teams by the numbers of their names, each with one group of it.
    let mut teams: Vec<Team> = Vec::new();
    let mut team_of: Vec<usize> = Vec::new();
    for group in &mut groups {
        group.ranks.sort_unstable();
        let team = Team::of(group);
        let known = teams.iter().position(|known| match named {
            // Where the user says what ends an iteration, as many of them are the same ones.
            Some(_) => known.iterations == team.iterations,
            None => known.goes_with(&team),
        });
        let name = known.unwrap_or(teams.len());
        match teams.get_mut(name) {
            Some(known) => known.join(team),
            None => teams.push(team),
        }
        team_of.push(name);
    }
    let others: Vec<Option<u32>> = match named {
        Some(_) => vec![None; teams.len()],
        None => teams.iter().map(|team| team.others_count(&teams)).collect(),
    };
    let mut loops: Vec<Loop> = Vec::new();
    for (group, name) in groups.iter().zip(team_of) {
        let first = loops.len();
        let of_group = group.found.iter().map(|one| to_loop(one, group, survey, places, first, name));
        loops.extend(of_group.map(|one| Loop { others: others[name].filter(|_| one.main), ..one }));
    }
    loops.truncate(MOST_LOOPS);
    loops
}

/// Where groups end their iterations with the same call, and make it equally often, each of these calls ends one on all of them: what one
/// group does before the first may be no whole iteration on another.
fn agree(groups: &mut [Group]) {
    for at in 1..groups.len() {
        let (known, rest) = groups.split_at_mut(at);
        let group = &mut rest[0];
        let same =
            |known: &&mut Group| known.main().anchor == group.main().anchor && known.iterations != group.iterations;
        let Some(known) = known.iter_mut().find(same) else { continue };
        let (own, others) = ((known.chosen, known.iterations), (group.chosen, group.iterations));
        if let Some((ends, iterations)) = common_ends(own, others, &known.main().anchor) {
            (known.ends, known.iterations) = (ends, iterations);
            (group.ends, group.iterations) = (ends, iterations);
        }
    }
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
    /// What is known of their ends.
    ends: Ends,
    /// How well their number is known.
    count: Count,
    /// Every so manieth anchor of the main loop ends one.
    every: NonZeroU32,
    /// What is found in the calls where the user named what ends an iteration.
    detected: Option<Detected>,
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
        Some(Group {
            calls,
            ranks: Vec::new(),
            definitions,
            iterations: 0,
            ends: Ends::Found,
            count: Count::default(),
            every: NonZeroU32::MIN,
            detected: None,
            chosen,
            found,
            main,
        })
    }

    /// Which anchors of the main loop end an iteration.
    fn anchors(&self) -> Anchors {
        Anchors { run: self.main().anchor.run, every: self.every }
    }

    /// Counts the iterations of the main loop, and again where the calls of all ranks say more of what ends one than those of its own.
    fn settle(&mut self, evidence: Evidence, window: &[Step]) {
        let calls = self.calls;
        let count = |group: &Group| calls.iterations(group.main(), (group.anchors(), group.ends), window);
        self.iterations = count(self);
        if self.ends == Ends::Each {
            return;
        }
        let is_collective = |token| calls.is_collective(token);
        if let Some(shared) = evidence.shared_end(self.main(), calls.rank, self.iterations, is_collective) {
            self.found[self.main].anchor = shared;
            self.iterations = count(self);
        }
        let (known, certain) = evidence.count(self.main(), calls.rank, self.iterations);
        self.count = known;
        if let Some(anchor) = certain {
            (self.found[self.main].anchor, self.ends) = (anchor, Ends::Each);
            self.iterations = count(self);
        }
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
    named: Option<&LoopAt>,
    evidence: Evidence<'a>,
    calls: impl Fn(&'a RankSurvey) -> Calls<'a>,
) -> Vec<Group<'a>> {
    let mut remaining = candidates(evidence.survey);
    let mut groups: Vec<Group> = Vec::new();
    for _ in 0..MOST_GROUPS {
        let Some(chosen) = representative(&remaining) else { break };
        let calls = calls(chosen.rank);
        let (window, definitions) = calls.window();
        let mut own = calls.loops(&window, named).and_then(|found| Group::new(calls, chosen, found));
        if let Some(own) = &mut own {
            if let Some(named) = named {
                (own.ends, own.every) = (Ends::Each, named.every);
                own.detected = calls.detected(&window);
            }
            own.settle(evidence, &window);
        }
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
                group.settle(evidence, &window);
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
        anchors: if one.main { group.anchors() } else { Anchors { run: one.anchor.run, ..Anchors::default() } },
        ends: if one.main { group.ends } else { Ends::Found },
        count: group.count,
        by_rhythm: one.by_rhythm,
        others: None,
        detected: group.detected.clone().filter(|_| one.main),
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
        .map(|token| if Operation::polls(token.operation) { Class::Neutral } else { Class::Foreign })
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

fn is_collective(operation: u16) -> bool {
    use lbprof_collector::Activity;
    let activity = Operation::from_number(operation).map(Operation::activity);
    matches!(activity, Some(Activity::Collective | Activity::Synchronization))
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
    fn loops(&self, window: &[Step], named: Option<&LoopAt>) -> Option<Vec<FoundLoop>> {
        if let Some(named) = named {
            return named.of(window).map(|one| vec![one]);
        }
        let is_collective = |token: u32| self.is_collective(token);
        let fans = if self.survey.marked_phases { self.fans() } else { FxHashSet::default() };
        let window = Window {
            steps: window,
            whole_run: self.is_in_window(),
            is_collective: &is_collective,
            is_fan: &|token| fans.contains(&token),
            may_spin: &|token| self.is(token, may_spin),
            spin: self.rank.clock.as_ref().map_or(0, |clock| (SPIN_S / clock.tick_s()) as u64),
        };
        let found = find_loops(&window);
        found.iter().any(|one| one.main).then_some(found)
    }

    /// The main loop that is found where the user does not say what ends an iteration: how often it runs, and its end.
    fn detected(&self, window: &[Step]) -> Option<Detected> {
        let found = self.loops(window, None)?;
        let main = found.into_iter().find(|one| one.main)?;
        let anchors = Anchors { run: main.anchor.run, ..Anchors::default() };
        let iterations = self.iterations(&main, (anchors, Ends::Found), window);
        let token = self.survey.tokens.get(*main.anchor.tokens.first()? as usize)?;
        Some(Detected { iterations, end: (token.site, token.operation), run: anchors.run })
    }

    /// Whether this holds of the operation of a kind of calls.
    fn is(&self, token: u32, what: fn(u16) -> bool) -> bool {
        self.survey.tokens.get(token as usize).is_some_and(|token| what(token.operation))
    }

    fn is_collective(&self, token: u32) -> bool {
        self.is(token, is_collective)
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
        self.survey.tokens.get(token as usize).is_none_or(|token| Operation::polls(token.operation))
    }

    /// The number of iterations of a loop in all its calls, of which these are in the window.
    fn iterations(&self, one: &FoundLoop, (anchors, ends): (Anchors, Ends), window: &[Step]) -> u32 {
        let mut splitter = Splitter::new(classes(one, self.survey), anchors);
        let mut next = |token, begin, end| _ = splitter.next(token, begin, end);
        match self.is_in_window() {
            // Polls, which it lacks, end no iteration.
            true => window.iter().for_each(|step| next(step.token, step.begin, step.end)),
            false => drop(self.each_call(|token, record| {
                token.into_iter().for_each(|token| next(token, record.begin, record.end.max(record.begin)));
                ControlFlow::Continue(())
            })),
        }
        number(&splitter.finish(), ends).count
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
