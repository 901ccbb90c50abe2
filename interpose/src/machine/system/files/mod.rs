//! Descriptors and files of the recorder.

pub mod descriptors;
pub mod kept_file;
pub mod owned_files;
