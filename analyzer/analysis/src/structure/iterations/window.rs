//! The window of calls in which loops are searched.

/// An MPI call of the rank's main thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInterval {
    /// The operation, call site and communicator, as one small number: it indexes a table.
    pub token: u32,
    /// Entry into the call, in ticks.
    pub begin: u64,
    /// Return from the call, in ticks; not before `begin`.
    pub end: u64,
    /// The rank of the other side, as in its record.
    pub peer: i32,
    /// The tag of the message, as in its record.
    pub tag: i32,
}

/// Successive calls in which loops are looked for, without polls.
#[derive(Clone, Copy)]
pub struct CallWindow<'a> {
    /// The calls, in their order.
    pub calls: &'a [CallInterval],
    /// True if these are all the calls of the rank, so that the first and the last iteration are in it.
    pub whole_run: bool,
    /// Returns true for collective operations: they are better ends of iterations than messages between two ranks.
    pub is_collective: &'a dyn Fn(u32) -> bool,
    /// Returns true if calls of a token distribute data to one rank after another, or collect it: without notable computation, such calls alone do not
    /// form a loop.
    pub is_distribution: &'a dyn Fn(u32) -> bool,
    /// Returns true if a program may repeat a call until an event occurs: such calls alone do not form a loop, if most iterations compute less than
    /// `spin` ticks.
    pub may_spin: &'a dyn Fn(u32) -> bool,
    /// See `may_spin`.
    pub spin: u64,
    /// Returns true if calls of a token complete whichever requests are complete: an iteration makes as many of them as it takes until all are.
    pub is_partial_completion: &'a dyn Fn(u32) -> bool,
    /// Returns true if the function that makes two calls one after the other is called by the function that makes two others.
    pub is_called_by: &'a dyn Fn(TokenPair, TokenPair) -> bool,
    /// Returns the role of a call for a loop in which the first of two calls ends an iteration and the second one begins the next, or `None` if it is
    /// not known.
    pub role_of: &'a dyn Fn(TokenPair, u32) -> Option<CallRole>,
}

impl CallWindow<'_> {
    /// Returns the token of the call at this place in the window.
    pub fn token_at(&self, at: usize) -> Option<u32> {
        self.calls.get(at).map(|call| call.token)
    }

    /// Returns the tokens of the call at this place and the next one.
    pub fn pair_at(&self, at: usize) -> Option<TokenPair> {
        Some(TokenPair { from: self.token_at(at)?, to: self.token_at(at + 1)? })
    }
}

/// The role of a call between two visits to a loop, by the code that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallRole {
    /// The call belongs to a loop around it.
    Around,
    /// The call belongs to some of its iterations.
    Within,
    /// The loop is in a function, and the code around that makes the call in some or all iterations of a loop of its own.
    PerhapsAround,
}

/// Two calls, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenPair {
    /// The token of the first call.
    pub from: u32,
    /// The token of the second call.
    pub to: u32,
}
