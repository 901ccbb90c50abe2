//! lb-report as users call it, and what goes through several crates of the analyzer.

mod bounds;
mod command_line;
mod compare;
mod damage;
mod export;
mod first_look;
mod functions;
mod hostile_debug;
mod hostile_names;
#[path = "../../../tests/simulator/examples/hostile_logs/kinds.rs"]
mod kinds;
mod late_sender;
mod otf2;
mod page;
mod paraver;
mod program;
mod schema;
mod study;
mod tables;
mod together;
mod words;
