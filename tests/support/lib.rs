//! What the integration tests share: MPIs, programs with a known answer, launching them, reading what was recorded.
//!
//! [`mpi`] knows the MPIs of this machine, [`program`] the head of a test program and its compilation,
//! [`launch`] runs one, bare or under `lb-run`, [`run`] opens what it recorded, [`facts`] compares the report with what a head expects,
//! [`expected`] compares the records with what the program says that it did, [`suite`] makes one named test of each
//! program, MPI and number of ranks; [`stored`] keeps runs, so that statements on them are checked without running anything; [`unharmed`] runs programs with and without the recorder and compares.

pub mod expected;
pub mod facts;
pub mod known_outcome;
pub mod launch;
pub mod mpi;
pub mod own_clock;
pub mod place;
pub mod program;
pub mod run;
pub mod stored;
pub mod suite;
pub mod unharmed;
