//! Teams of groups that run in lockstep: their ranks make different calls, but the same number of iterations, and meet in each.
//!
//! Ranks meet in a collective on a communicator that contains all of them, or by exchanging messages. Otherwise their iterations must belong
//! to one loop, and end with the same call of the program. Groups with the same number of iterations by chance, like two programs in one run,
//! have loops of their own.
//!
//! Ranks that take one task after another make the same calls in different numbers of iterations, and never meet in them. Their loop is one
//! loop of the program with one name, though iterations of the same number have nothing in common.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lbprof_collector::Activity;
use lbprof_collector::definition::RankList;
use lbprof_thresholds::loops::MAX_ITERATIONS_BETWEEN_MESSAGES;
use rustc_hash::FxHashSet;

use super::loop_group::LoopGroup;

/// Groups of ranks that go through their iterations together.
pub struct LockstepTeam<'g, 'a> {
    pub iterations: u32,
    groups: Vec<TeamGroup<'g, 'a>>,
}

struct TeamGroup<'g, 'a> {
    group: &'g LoopGroup<'a>,
    /// Number of messages that the group's representative exchanges with each rank in the loop.
    messages: OnceCell<BTreeMap<u32, u64>>,
}

impl<'g, 'a> LockstepTeam<'g, 'a> {
    pub fn from_group(group: &'g LoopGroup<'a>) -> LockstepTeam<'g, 'a> {
        LockstepTeam { iterations: group.iterations, groups: vec![TeamGroup { group, messages: OnceCell::new() }] }
    }

    /// Returns whether both go through the same iterations.
    pub fn is_in_lockstep_with(&self, other: &LockstepTeam) -> bool {
        self.iterations == other.iterations
            && self.groups.iter().any(|own| other.groups.iter().any(|other| own.is_coupled_with(other)))
    }

    /// Returns the number of iterations of the largest other team that exchanges messages with this one in its loop, if it has at least as many
    /// ranks and makes another number of iterations by other calls: then this team serves the other one, and has other work.
    pub fn others_count(&self, teams: &[LockstepTeam]) -> Option<u32> {
        let others = teams
            .iter()
            .filter(|team| team.iterations != self.iterations && team.n_ranks() >= self.n_ranks())
            .filter(|team| self.has_regular_messages_with(team) && !self.has_common_calls(team));
        others.map(|team| (team.n_ranks(), team.iterations)).max().map(|(_, iterations)| iterations)
    }

    /// Returns whether ranks of both make the same calls in their loops without meeting: each takes the next task when it is done with one.
    pub fn is_of_one_pool_with(&self, other: &LockstepTeam) -> bool {
        self.groups.iter().all(|own| other.groups.iter().all(|other| own.is_of_one_pool_with(other)))
    }

    fn has_common_calls(&self, other: &LockstepTeam) -> bool {
        let others: FxHashSet<u32> = other.main_tokens().collect();
        self.main_tokens().any(|token| others.contains(&token))
    }

    fn main_tokens(&self) -> impl Iterator<Item = u32> {
        self.groups.iter().flat_map(|member| &member.group.main().tokens).copied()
    }

    fn n_ranks(&self) -> usize {
        self.groups.iter().map(|member| member.group.ranks.len()).sum()
    }

    /// Returns whether ranks of both exchange messages at least in every tenth iteration of the team with fewer iterations.
    fn has_regular_messages_with(&self, other: &LockstepTeam) -> bool {
        let least = u64::from(self.iterations.min(other.iterations)) / MAX_ITERATIONS_BETWEEN_MESSAGES;
        self.most_messages_with(other).max(other.most_messages_with(self)) > least
    }

    /// Returns the maximum number of messages between two groups, counted by the group of `self`.
    fn most_messages_with(&self, other: &LockstepTeam) -> u64 {
        let pairs = self.groups.iter().flat_map(|own| other.groups.iter().map(|other| own.messages_with(other)));
        pairs.max().unwrap_or(0)
    }

    pub fn join(&mut self, other: LockstepTeam<'g, 'a>) {
        self.groups.extend(other.groups);
    }
}

impl TeamGroup<'_, '_> {
    /// Returns whether all ranks of both take part in a collective operation at least once an iteration.
    fn has_common_collective(&self, other: &TeamGroup) -> bool {
        let others: Vec<(u16, u64)> = other.collectives().map(|(operation, uid, _)| (operation, uid)).collect();
        self.collectives().any(|(operation, uid, group)| {
            let mut ranks = self.group.ranks.iter().chain(&other.group.ranks);
            others.contains(&(operation, uid)) && ranks.all(|&rank| group.position(rank).is_some())
        })
    }

    /// Returns the collective operations that come at least once per iteration: the operation's number, the communicator's uid and group.
    fn collectives(&self) -> impl Iterator<Item = (u16, u64, &RankList)> {
        let all = self.group.calls.collectives_in(self.group.main());
        let often = all.filter(|&(_, count)| count >= u64::from(self.group.iterations));
        often.filter_map(|(token, _)| {
            let comm = self.group.definitions.communicators.get(&token.comm)?;
            Some((token.operation, comm.uid, &comm.group))
        })
    }

    /// Returns whether both are in the same loop, or their ranks meet in each iteration.
    fn is_coupled_with(&self, other: &TeamGroup) -> bool {
        let is_same_loop = self.group.main().anchor == other.group.main().anchor;
        is_same_loop || self.has_common_collective(other) || self.exchanges_with(other) || other.exchanges_with(self)
    }

    /// Returns whether both make the same calls, without a collective operation, and exchange no messages with ranks of either.
    fn is_of_one_pool_with(&self, other: &TeamGroup) -> bool {
        let (own, others) = (self.group.main(), other.group.main());
        own.anchor == others.anchor
            && own.tokens == others.tokens
            && self.group.calls.collectives_in(own).next().is_none()
            && (self.messages_with(self), self.messages_with(other)) == (0, 0)
            && (other.messages_with(self), other.messages_with(other)) == (0, 0)
    }

    /// Returns whether the representative exchanges a message with a rank of `other` in each iteration, on average.
    fn exchanges_with(&self, other: &TeamGroup) -> bool {
        self.messages_with(other) >= u64::from(self.group.iterations)
    }

    /// Returns the number of messages that the representative exchanges with ranks of `other` in the loop.
    fn messages_with(&self, other: &TeamGroup) -> u64 {
        let messages = self.messages.get_or_init(|| self.messages());
        other.group.ranks.iter().filter_map(|rank| messages.get(rank)).sum()
    }

    fn messages(&self) -> BTreeMap<u32, u64> {
        let mut peers: BTreeMap<(u32, i32), u64> = BTreeMap::new();
        let definitions = self.group.calls.each_call(|token, record| {
            let is_message = record.peer >= 0 && record.activity() == Activity::PointToPoint;
            if is_message && token.is_some_and(|token| self.group.main().tokens.binary_search(&token).is_ok()) {
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
