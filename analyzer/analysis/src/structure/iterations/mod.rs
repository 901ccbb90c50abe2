//! Iterations of programs without markers: the loop found in a rank's calls, and which call belongs to which iteration.
//!
//! Three steps, each a pure piece of its own, each on one rank:
//!
//! ```text
//!   calls of a window, as tokens   S F R F R X B R F R F R E …
//!        │  find      which loops there are, their tokens, and which call ends an iteration (the anchor)
//!        ▼
//!   all the run's calls            S | F R | F R | X B R | F R | F R | E
//!        │  split     cut into intervals: after each anchor, and where the loop is entered or left
//!        ▼
//!   intervals                      –    0     1      2      3     4    –
//!           number    which iteration each interval is of, if any
//! ```
//!
//! A token stands for an operation at a call site on a communicator, so that a program's text decides what is the same call,
//! not its peers or sizes. A loop is known by its tokens and its anchor alone, which any of the run's calls can be held
//! against at the cost of one look-up.
//!
//! | module | what it holds |
//! |---|---|
//! | [`window`], [`found`] | the calls that are searched, and a loop in them |
//! | [`find`] | the loops of a window of calls: [`find::find_loops`] |
//! | [`split`] | the run's calls cut into intervals, call by call: [`split::CallSplitter`] |
//! | [`number`] | the iteration that each interval belongs to: [`number::number`] |
//! | [`rounds`] | iterations that make a round of messages: [`rounds::take_rounds`] |
//! | [`occasional`] | calls that come in some iterations alone: [`occasional::occasional_tokens`] |
//! | [`carried`] | what the iterations carry, by which calls of a wrapper are known: [`carried::carried`] |

mod anchor;
mod candidates;
pub mod carried;
mod counts;
mod extras;
pub mod find;
pub mod found_loop;
mod iteration_split;
mod judge;
pub mod number;
pub mod occasional;
mod outline;
pub mod rounds;
mod sequence;
pub mod split;
pub mod window;
