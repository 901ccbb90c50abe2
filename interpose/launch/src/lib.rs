//! Parts that the recorder and its launcher `lb-run` share.

pub mod job;
