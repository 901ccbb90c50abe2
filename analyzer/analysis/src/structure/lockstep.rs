//! Teams of groups that run in lockstep: their ranks make different calls, but the same number of iterations, and meet in each.
//!
//! Ranks meet in a collective on a communicator that contains all of them, or by exchanging messages. Otherwise their iterations must be those
//! of one loop, and end with the same call of the program. Groups with the same number of iterations by chance, like two programs in one run,
//! have loops of their own.
//!
//! Ranks that take one task after another make the same calls in another number of iterations each, and never meet in them. Their loop is one loop of
//! the program, so that it has one name, though iterations of the same number have nothing in common.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lbprof_collector::Activity;
use lbprof_collector::definition::RankList;
use lbprof_thresholds::loops::MAX_ITERATIONS_BETWEEN_MESSAGES;
use rustc_hash::FxHashSet;

use super::calls::RankCalls;
use super::loop_group::LoopGroup;
use crate::read::definitions::RankDefinitions;
use crate::structure::iterations::found_loop::FoundLoop;

/// Groups of ranks that go through their iterations together.
pub struct LockstepTeam<'a> {
    /// Number of iterations of each group.
    pub iterations: u32,
    groups: Vec<TeamGroup<'a>>,
}

/// A group of ranks, by the one whose calls stand for those of the others.
struct TeamGroup<'a> {
    calls: RankCalls<'a>,
    main: FoundLoop,
    ranks: Vec<u32>,
    iterations: u32,
    definitions: RankDefinitions,
    /// Messages that its rank exchanges with others in the loop, by their numbers.
    messages: OnceCell<BTreeMap<u32, u64>>,
}

impl<'a> LockstepTeam<'a> {
    /// A group by itself.
    pub fn from_group(group: &LoopGroup<'a>) -> LockstepTeam<'a> {
        let member = TeamGroup {
            calls: group.calls,
            main: group.main().clone(),
            ranks: group.ranks.clone(),
            iterations: group.iterations,
            definitions: group.definitions.clone(),
            messages: OnceCell::new(),
        };
        LockstepTeam { iterations: group.iterations, groups: vec![member] }
    }

    /// Returns whether both go through the same iterations.
    pub fn is_in_lockstep_with(&self, other: &LockstepTeam) -> bool {
        self.iterations == other.iterations
            && self.groups.iter().any(|own| other.groups.iter().any(|other| own.is_coupled_with(other)))
    }

    /// The iterations of that one of `teams` with most ranks of those that have as many ranks as this one or more, exchange messages with
    /// it in their loops, and make another number of iterations by other calls: the work of a set of ranks that serve others is not the
    /// others'.
    pub fn others_count(&self, teams: &[LockstepTeam]) -> Option<u32> {
        let mut others: Vec<&LockstepTeam> = teams
            .iter()
            .filter(|team| team.iterations != self.iterations && team.n_ranks() >= self.n_ranks())
            .filter(|team| self.has_regular_messages_with(team))
            .collect();
        others.retain(|team| !self.has_common_calls(team));
        others.sort_by_key(|team| (team.n_ranks(), team.iterations));
        others.last().map(|team| team.iterations)
    }

    /// Returns whether ranks of both make the same calls in their loops, and meet nobody there who does: each takes the next task when it is done with one.
    pub fn is_of_one_pool_with(&self, other: &LockstepTeam) -> bool {
        self.groups.iter().all(|own| other.groups.iter().all(|other| own.is_of_one_pool_with(other)))
    }

    fn has_common_calls(&self, other: &LockstepTeam) -> bool {
        let others: FxHashSet<u32> = other.main_tokens().collect();
        self.main_tokens().any(|token| others.contains(&token))
    }

    fn main_tokens(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|group| &group.main.tokens).copied()
    }

    fn n_ranks(&self) -> usize {
        self.groups.iter().map(|group| group.ranks.len()).sum()
    }

    /// Returns whether ranks of both exchange messages at least in every tenth iteration of the one that has fewer.
    fn has_regular_messages_with(&self, other: &LockstepTeam) -> bool {
        let least = u64::from(self.iterations.min(other.iterations)) / MAX_ITERATIONS_BETWEEN_MESSAGES;
        self.most_messages_with(other).max(other.most_messages_with(self)) > least
    }

    /// Returns the messages of the groups that exchange most, as those of `self` count them.
    fn most_messages_with(&self, other: &LockstepTeam) -> u64 {
        let pairs = self.groups.iter().flat_map(|own| other.groups.iter().map(|other| own.messages_with(other)));
        pairs.max().unwrap_or(0)
    }

    /// Takes in the groups of another.
    pub fn join(&mut self, other: LockstepTeam<'a>) {
        self.groups.extend(other.groups);
    }
}

impl TeamGroup<'_> {
    /// Returns whether all ranks of both take part in a collective operation at least once an iteration.
    fn has_common_collective(&self, other: &TeamGroup) -> bool {
        let others: Vec<(u16, u64)> = other.collectives().map(|(operation, uid, _)| (operation, uid)).collect();
        self.collectives().any(|(operation, uid, group)| {
            let mut ranks = self.ranks.iter().chain(&other.ranks);
            others.contains(&(operation, uid)) && ranks.all(|&rank| group.position(rank).is_some())
        })
    }

    /// The collective operations that come at least once an iteration: the operation's number, the communicator's uid and group.
    fn collectives(&self) -> impl Iterator<Item = (u16, u64, &RankList)> {
        let often = self.calls.collectives_in(&self.main).filter(|&(_, count)| count >= u64::from(self.iterations));
        often.filter_map(|(token, _)| {
            let comm = self.definitions.communicators.get(&token.comm)?;
            Some((token.operation, comm.uid, &comm.group))
        })
    }

    /// Returns whether both are in the same loop, or its ranks meet in each iteration.
    fn is_coupled_with(&self, other: &TeamGroup) -> bool {
        let is_same_loop = self.main.anchor == other.main.anchor;
        is_same_loop || self.has_common_collective(other) || self.exchanges_with(other) || other.exchanges_with(self)
    }

    /// Returns whether both make the same calls, without a collective operation, and exchange no messages with ranks of either.
    fn is_of_one_pool_with(&self, other: &TeamGroup) -> bool {
        let (own, others) = (&self.main, &other.main);
        own.anchor == others.anchor
            && own.tokens == others.tokens
            && self.calls.collectives_in(own).next().is_none()
            && (self.messages_with(self), self.messages_with(other)) == (0, 0)
            && (other.messages_with(self), other.messages_with(other)) == (0, 0)
    }

    /// Returns whether its rank exchanges a message with a rank of `other` in each iteration, on average.
    fn exchanges_with(&self, other: &TeamGroup) -> bool {
        self.messages_with(other) >= u64::from(self.iterations)
    }

    /// Returns the number of messages that its rank exchanges with ranks of `other` in the loop.
    fn messages_with(&self, other: &TeamGroup) -> u64 {
        let messages = self.messages.get_or_init(|| self.messages());
        other.ranks.iter().filter_map(|rank| messages.get(rank)).sum()
    }

    fn messages(&self) -> BTreeMap<u32, u64> {
        let mut peers: BTreeMap<(u32, i32), u64> = BTreeMap::new();
        let definitions = self.calls.each_call(|token, record| {
            let is_message = record.peer >= 0 && record.activity() == Activity::PointToPoint;
            if is_message && token.is_some_and(|token| self.main.tokens.binary_search(&token).is_ok()) {
                *peers.entry((record.comm, record.peer)).or_default() += 1;
            }
            ControlFlow::Continue(())
        });
        let mut messages: BTreeMap<u32, u64> = BTreeMap::new();
        for ((comm, peer), count) in peers {
            let rank = definitions.communicators.get(&comm).and_then(|comm| comm.world_rank(peer));
            if let Some(rank) = rank {
                *messages.entry(rank).or_default() += count;
            }
        }
        messages
    }
}
