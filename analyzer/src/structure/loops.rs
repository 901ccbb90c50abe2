//! Loops of a run: ranks that run the same code are one group, and the calls of one of its ranks stand for all.
//!
//! The loops of one rank are found ([`crate::iterations::find`]) in a window of its calls from the middle of the run. Other ranks
//! have the same main loop where they have the same calls at its ends, as often. Those that have not are searched in turn, so that a
//! master and its workers each have a loop of their own.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use lbprof_collector::Operation;
use lbprof_collector::reader::Item;

use super::placer::MOST_LOOPS;
use super::segments::label;
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
const WINDOW: u64 = 1 << 20;

/// Most groups of ranks whose calls are searched. Ranks beyond them have no loop.
const MOST_GROUPS: usize = 16;

/// Share of a loop's time from which on a loop within it is a region of its own.
const REGION_SHARE: f64 = 0.05;

/// How much the number of a loop's ends may differ between ranks that run the same code.
const SAME_NUMBER: f64 = 0.02;

/// The loops of all ranks of `run`, outer ones before those in them.
pub fn find(run: &Run, survey: &Survey, places: &[Place], wanted: &Wanted, tokens: &HashMap<Token, u32>) -> Vec<Loop> {
    let wanted_tokens = wanted.loop_at.as_deref().map(|label| tokens_at(survey, places, label));
    let mut remaining = candidates(survey);
    let mut loops: Vec<Loop> = Vec::new();
    // The number of iterations of each name of a main loop.
    let mut names: Vec<u32> = Vec::new();
    for _ in 0..MOST_GROUPS {
        let Some(chosen) = representative(&remaining) else { break };
        let calls = Calls { run, survey, tokens, rank: chosen.rank };
        let window = calls.window();
        let Some(found) = calls.loops(&window, wanted_tokens.as_deref()) else {
            remaining.retain(|one| one.kinds != chosen.kinds);
            continue;
        };
        let main = &found[found.iter().position(|one| one.main).unwrap_or(0)];
        let group: Vec<Candidate>;
        (group, remaining) = remaining.into_iter().partition(|one| has_loop(*one, chosen, &main.anchor));
        let n = calls.iterations(main, &window);
        let name = names.iter().position(|&known| known == n).unwrap_or_else(|| {
            names.push(n);
            names.len() - 1
        });
        let ranks: Vec<u32> = group.iter().map(|one| one.rank.rank).collect();
        let first = loops.len();
        loops.extend(found.iter().map(|one| to_loop(one, main, survey, places, &ranks, first, name)));
        if loops.len() >= MOST_LOOPS {
            loops.truncate(MOST_LOOPS);
            break;
        }
    }
    loops
}

/// A loop as the structure has it. `first` is where the group's loops begin, `name` counts the names of main loops.
fn to_loop(
    one: &FoundLoop,
    main: &FoundLoop,
    survey: &Survey,
    places: &[Place],
    ranks: &[u32],
    first: usize,
    name: usize,
) -> Loop {
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
        ranks: ranks.to_vec(),
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

/// A rank whose loops are not known yet.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    rank: &'a RankSurvey,
    /// The number of the set of kinds of calls that it repeats, by the order of all ranks' sets.
    kinds: usize,
}

/// The ranks that call, by number.
fn candidates(survey: &Survey) -> Vec<Candidate<'_>> {
    let mut sets: BTreeMap<Vec<u32>, Vec<&RankSurvey>> = BTreeMap::new();
    for rank in survey.ranks.iter().filter(|rank| rank.calls > 0) {
        sets.entry(kinds_of(rank)).or_default().push(rank);
    }
    let of_set = |(kinds, ranks): (usize, Vec<_>)| ranks.into_iter().map(move |rank| Candidate { rank, kinds });
    let mut all: Vec<Candidate> = sets.into_values().enumerate().flat_map(of_set).collect();
    all.sort_by_key(|one| one.rank.rank);
    all
}

/// The kinds of calls that a rank repeats.
fn kinds_of(rank: &RankSurvey) -> Vec<u32> {
    const REPEATED: u64 = 3;
    rank.counts.iter().filter(|&&(_, count)| count >= REPEATED).map(|&(kind, _)| kind).collect()
}

/// The rank whose calls stand for most others: of the largest set of ranks that repeat the same kinds of calls the one in the middle
/// by number of calls, the lowest of several.
fn representative<'a>(ranks: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let mut sets: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for one in ranks {
        sets.entry(one.kinds).or_default().push(*one);
    }
    let (_, mut largest) = sets.into_iter().rev().max_by_key(|(_, ranks)| ranks.len())?;
    largest.sort_by_key(|one| (one.rank.calls, one.rank.rank));
    let middle = largest.get((largest.len() - 1) / 2)?.rank.calls;
    largest.iter().find(|one| one.rank.calls == middle).copied()
}

/// Whether `one` ends iterations as `chosen` does, as often.
fn has_loop(one: Candidate, chosen: Candidate, anchor: &Anchor) -> bool {
    let count = |rank: &RankSurvey| {
        let of =
            |token: &u32| rank.counts.binary_search_by_key(token, |&(kind, _)| kind).map_or(0, |at| rank.counts[at].1);
        anchor.tokens.iter().map(of).sum::<u64>() as f64
    };
    let (own, expected) = (count(one.rank), count(chosen.rank));
    match anchor.run {
        // How long its runs are may differ between ranks, as with the number of their neighbours, but not what they lie between.
        true => own > 0.0 && one.kinds == chosen.kinds,
        false => (own - expected).abs() <= (SAME_NUMBER * expected).max(1.0),
    }
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
struct Calls<'a> {
    run: &'a Run,
    survey: &'a Survey,
    tokens: &'a HashMap<Token, u32>,
    rank: &'a RankSurvey,
}

impl Calls<'_> {
    /// The loops in a window of its calls; only that which ends at `wanted`, where that is given. `None`: there is none.
    fn loops(&self, window: &[Step], wanted: Option<&[u32]>) -> Option<Vec<FoundLoop>> {
        if let Some(wanted) = wanted {
            return loop_at(window, wanted).map(|one| vec![one]);
        }
        let is_collective =
            |token: u32| self.survey.tokens.get(token as usize).is_some_and(|token| is_collective(token.operation));
        let window = Window { steps: window, whole_run: self.is_in_window(), is_collective: &is_collective };
        let found = find_loops(&window);
        found.iter().any(|one| one.main).then_some(found)
    }

    /// Whether all its calls are in the window.
    fn is_in_window(&self) -> bool {
        self.rank.calls <= WINDOW
    }

    /// Calls from the middle of the run, without polls.
    fn window(&self) -> Vec<Step> {
        let first = (self.rank.calls / 2).saturating_sub(WINDOW / 2);
        let mut steps = Vec::new();
        let mut at = 0_u64;
        self.each_call(|token, begin, end| {
            if at >= first && token.is_some_and(|token| !self.is_poll(token)) {
                steps.extend(token.map(|token| Step { token, begin, end }));
            }
            at += 1;
            if at < first + WINDOW { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        steps
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
            false => self.each_call(|token, begin, end| {
                token.into_iter().for_each(|token| next(token, begin, end));
                ControlFlow::Continue(())
            }),
        }
        number(&splitter.finish()).count
    }

    /// Gives each call of the first thread, until `take` has enough: its kind by the survey's index, begin and end in ticks.
    fn each_call(&self, mut take: impl FnMut(Option<u32>, u64, u64) -> ControlFlow<()>) {
        let Some(header) = self.run.headers.iter().find(|header| header.rank == self.rank.rank) else { return };
        let Ok(mut log) = self.run.log(header) else { return };
        let mut definitions = Definitions::default();
        let mut kinds = Kinds::default();
        let mut tokens: Vec<Option<u32>> = Vec::new();
        while let Some(item) = log.next_item() {
            match item {
                Item::Definitions(found) => found.into_iter().for_each(|one| definitions.add(one)),
                Item::Records { head, records } if head.thread == 0 => {
                    for record in records.iter().filter(|record| record.is_call()) {
                        let kind = kinds.of(record);
                        if kind as usize >= tokens.len() {
                            let token = kinds.get(kind).map(|kind| Token::of(kind, &self.survey.sites, &definitions));
                            tokens.push(token.and_then(|token| self.tokens.get(&token).copied()));
                        }
                        if take(tokens[kind as usize], record.begin, record.end.max(record.begin)).is_break() {
                            return;
                        }
                    }
                }
                _ => {}
            }
        }
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
