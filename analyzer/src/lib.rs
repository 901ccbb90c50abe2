//! Analysis of recorded runs: a run's folder → one model → metrics → reports.
//!
//! The modules, in the order in which to read them:
//!
//! | module | what it holds |
//! |---|---|
//! | [`open`] | a run's folder → the logs of its ranks, checked |
//! | [`analyse`] | the passes over a run, in their order |
//! | [`selection`] | the part of the run that everything is computed from |
//! | [`pass`] | folds over all ranks, in parallel |
//! | [`definitions`] | what a rank's records refer to by number |
//! | [`sites`] | the files that calls come from, and the call sites in them |
//! | [`kinds`] | numbers for the kinds of calls of a rank |
//! | [`survey`] | the first pass: which calls follow which |
//! | [`iterations`] | loops in one rank's calls: found, cut, numbered |
//! | [`structure`] | loops and regions of a run without markers |
//! | [`gather`] | the second pass, which folds a run into the model |
//! | [`span`] | a fold of which only a span of time counts |
//! | [`sums`] | what a thread's records add up to |
//! | [`times`] | its time by iteration, by columns |
//! | [`concurrency`] | how much of the run one rank alone computes |
//! | [`timeline`] | the third pass: all ranks' calls on one timeline |
//! | [`matching`] | sends to receives, the ranks of a collective |
//! | [`ahead`] | work that is done ahead on another core |
//! | [`blocking`] | what threads did, and what a wait is caused by |
//! | [`replay`] | the run under other conditions |
//! | [`critical_path`] | what set the run's time |
//! | [`follow`] | follows all ranks at once, and uses all of these |
//! | [`region_path`] | the path of a rank's region |
//! | [`model`] | ranks × regions × activities × iterations, in seconds, on one clock |
//! | [`iterations`] | loops in the calls of programs without markers, and their iterations |
//! | [`symbols`] | call sites → function, file and line |
//! | [`cluster`] | groups of like regions, and of ranks that run the same code |
//! | [`metrics`] | pure functions from times to figures, a file for each section of METRICS |
//! | [`findings`] | problems that no log states |
//! | [`views`] | what the page of a report shows beside it: matrices of bounded size |
//! | [`report`] | all that a report says, as data, and one function for each kind of document |
//! | [`study`] | several runs: the figures that are kept of each, and what follows from many |
//! | [`compare`] | what changed between runs: by reason and place, beyond noise or not, conditions for CI |
//! | [`dump`] | every record of a run as JSON lines |
//!
//! Reading never fails on damage that can be skipped: what is wrong arrives as [`lbprof_collector::Problem`]s beside the
//! figures.

#![forbid(unsafe_code)]

pub mod ahead;
pub mod analyse;
pub mod blocking;
pub mod cluster;
pub mod compare;
pub mod concurrency;
pub mod critical_path;
pub mod definitions;
pub mod dump;
pub mod findings;
pub mod follow;
pub mod gather;
pub mod iterations;
pub mod kinds;
pub mod matching;
pub mod metrics;
pub mod model;
pub mod open;
pub mod pass;
pub mod region_path;
pub mod replay;
pub mod report;
pub mod selection;
pub mod sites;
pub mod span;
pub mod structure;
pub mod study;
pub mod sums;
pub mod survey;
pub mod symbols;
pub mod timeline;
pub mod times;
pub mod views;
pub mod whole_file;
