//! Tests of the analysis alone: its figures against those of papers, loops, symbols.

mod iterations;
mod papers;
mod papers_dispersion;
mod symbols;
