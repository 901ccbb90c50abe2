//! A thread's records: from the slot of a call to the rank's log.
//!
//! A wrapper asks [`nested`] whether its call is made from inside another one, takes a slot from [`room`] and fills it by [`slot`]. Where
//! the ring is full, [`room`] has [`flush`] empty it, and [`lost`] says which records are whole where its file was cut short; where the thread has none, [`registry`] gives it one. [`close`] ends recording.

pub mod call_path;
pub mod close;
pub mod filled_slots;
pub mod flush;
pub mod lost_records;
pub mod mpi_time;
pub mod nested;
pub mod registry;
pub mod room;
pub mod slot;
