//! Waits, their causes, replays and the critical path of runs whose truth is worked out by hand or known to who simulated them.

mod causes;
mod chance;
mod clocks;
mod damage;
mod parts;
mod places;
mod polls;
mod predictions;
mod properties;
mod replays;
mod run;
mod some_ranks;
mod waits;
