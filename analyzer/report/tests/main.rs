//! Runs made by hand, analysed, and what is reported of them.

mod blocking;
mod call_tree;
mod communication;
mod dispersion;
mod doubts;
mod found;
mod leading_threads;
mod losses;
mod reports;
mod selection;
mod several_losses;
mod situations;
mod states;
mod truth;
