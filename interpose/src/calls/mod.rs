//! The program's calls: which functions the program finds in place of MPI's, and what each one records.

#[cfg(test)]
mod tests;
pub mod verbs;
#[cfg(not(test))]
mod wrappers;
