//! Detects iterations in programs without markers: the loops in a rank's calls, and the iteration that each call belongs to.
//!
//! There are three steps, each a pure function of one rank's calls:
//!
//! ```text
//!   calls of a window, as tokens   S F R F R X B R F R F R E …
//!        │  find      detects the loops, their tokens, and the call that ends an iteration (the anchor)
//!        ▼
//!   all the run's calls            S | F R | F R | X B R | F R | F R | E
//!        │  split     splits the calls into intervals: after each anchor, and where the loop is entered or left
//!        ▼
//!   intervals                      –    0     1      2      3     4    –
//!           number    assigns each interval to an iteration, if it belongs to any
//! ```
//!
//! A token stands for an operation at a call site on a communicator. Peers and sizes do not matter: one place in the program's text makes the same
//! call. A loop is described by its tokens and its anchor alone, so that checking one of the run's calls against it takes one look-up.
//!
//! | module | content |
//! |---|---|
//! | [`window`], [`found_loop`] | the calls that are searched, and a loop in them |
//! | [`find`] | the loops of a window of calls: [`find::find_loops`] |
//! | [`split`] | splits the run's calls into intervals, call by call: [`numbering::split::CallSplitter`] |
//! | [`number`] | the iteration that each interval belongs to: [`numbering::number::number_iterations`] |
//! | [`bursts`] | groups of iterations in which only the first computes: [`patterns::bursts::join_bursts`] |
//! | [`rounds`] | iterations that form a round of messages: [`patterns::rounds::take_rounds`] |
//! | [`occasional`] | calls that occur in some iterations only: [`numbering::occasional::occasional_tokens`] |
//! | [`carried`] | the bytes in iterations, which reveal calls of a wrapper: [`numbering::carried::carried_bytes`] |

mod anchor;
mod candidates;
mod counts;
mod extras;
pub mod find;
mod iteration_split;
mod judge;
pub mod numbering;
pub mod patterns;
mod sequence;
pub mod window;
