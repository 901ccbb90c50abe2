//! Makes the wrappers from calls.table: for each row a body in C and in Fortran, with int and with large counts, and the entry points that
//! lead to them. src/calls/wrappers/mod.rs defines the steps of a wrapper.

#![expect(clippy::expect_used, clippy::panic, reason = "a build script's way to fail")]

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// Suffixes of Fortran names of functions with int counts: mpif.h and mpi without, with one and with two underscores; mpi_f08; mpi_f08 with
/// descriptors.
const FORTRAN: [&str; 5] = ["", "_", "__", "_f08_", "_f08ts_"];

/// And with large counts: of MPICH 4.0 (`_large_`), and of later versions and Intel MPI (`_c_`).
const FORTRAN_LARGE: [&str; 4] = ["_c_f08_", "_c_f08ts_", "_f08_large_", "_f08ts_large_"];

/// Functions that src/calls/wrappers/special.rs writes by hand, as Fortran calls them, and the number of arguments before ierror.
const SPECIAL: [(&str, usize); 8] = [
    ("init", 0),
    ("init_thread", 2),
    ("finalize", 0),
    ("abort", 2),
    ("type_free", 1),
    ("pcontrol", 1),
    ("session_init", 3),
    ("session_finalize", 1),
];

/// Functions that programs call most, in an order that keeps functions together that are called together. The code of their wrappers and
/// its data lie in this order, so that a call needs few cache lines and pages when the program's own data fill the caches. Their number is
/// fixed in `state/thread.rs`.
const FREQUENT: &str = "
    Isend Irecv Waitall Wait Send Recv Sendrecv Allreduce
    Barrier Bcast Reduce Test Testall Waitany Waitsome Iprobe
    Start Startall Alltoall Alltoallv Allgather Allgatherv Gather Gatherv
    Scatter Scatterv Testany Testsome Probe Issend Ssend Rsend
    Iallreduce Ibarrier Put Get Win_fence Sendrecv_replace Bsend Reduce_scatter_block";

/// A row of the table.
struct TableRow {
    function: String,
    large: bool,
    arguments: Vec<String>,
    verb: String,
    /// Hidden lengths that Fortran appends for CHARACTER arguments.
    hidden: usize,
}

fn parse_row(line: &str) -> Option<TableRow> {
    let (head, rest) = line.split_once('(')?;
    let (arguments, rest) = rest.split_once(')')?;
    let mut head = head.split_whitespace();
    let (function, large) = (head.next()?, head.next()?);
    let (verb, hidden) = match rest.rsplit_once('+') {
        Some((verb, hidden)) => (verb, hidden.trim().parse().ok()?),
        None => (rest, 0),
    };
    Some(TableRow {
        function: function.into(),
        large: large == "c",
        arguments: arguments.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect(),
        verb: verb.trim().into(),
        hidden,
    })
}

/// Converts `start_request(request, send(dest, tag))` to `verbs::start_request(call, request, verbs::send(call, dest, tag))`.
fn qualify_verbs(verb: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in verb.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else if c == '(' {
            let _ = write!(out, "verbs::{word}(call, ");
            word.clear();
        } else {
            out.push_str(&std::mem::take(&mut word));
            out.push(c);
        }
    }
    out
}

/// Returns the name for profiling of a Fortran function: `mpi_send_` → `pmpi_send_`, `MPI_SEND` → `PMPI_SEND`.
fn profiling_name(flavour: &str) -> String {
    format!("{}{flavour}", if flavour.starts_with('M') { 'P' } else { 'p' })
}

fn main() {
    println!("cargo::rerun-if-changed=calls.table");
    println!("cargo::rerun-if-changed=build.rs");
    // The names by which the linker marks a section (system/loader/own_code.rs) are for this library alone.
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,start-stop-visibility=hidden");
    let table = fs::read_to_string("calls.table").expect("calls.table lies beside build.rs");
    let mut rows = Vec::new();
    for (number, line) in table.lines().enumerate() {
        if !line.starts_with('#') && !line.trim().is_empty() {
            rows.push(parse_row(line).unwrap_or_else(|| panic!("calls.table:{}: not a row", number + 1)));
        }
    }
    // The linker keeps the order in which the code is written.
    rows.sort_by_key(|row| place_among_frequent(&row.function));
    let mut wrappers = WrapperList { frequent: vec![0; n_frequent()], ..WrapperList::default() };
    for row in &rows {
        wrappers.add(row, false);
        if row.large {
            wrappers.add(row, true);
        }
    }
    let special = wrappers.add_special();
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("special.rs"), special).expect("OUT_DIR can be written");
    fs::write(out.join("wrappers.rs"), &wrappers.text).expect("OUT_DIR can be written");
    fs::write(out.join("names.rs"), wrappers.names()).expect("OUT_DIR can be written");
}

/// Returns the place of a function in [`FREQUENT`], or their number if it is not among them.
fn place_among_frequent(function: &str) -> usize {
    FREQUENT.split_whitespace().position(|frequent| frequent == function).unwrap_or(n_frequent())
}

fn n_frequent() -> usize {
    FREQUENT.split_whitespace().count()
}

/// Functions of [`FREQUENT`] that are called in turn and share code.
const IN_TURN: [&str; 3] = ["Isend", "Irecv", "Waitall"];

/// Functions of [`IN_TURN`] that have one body in C: their arguments differ by a name alone.
const ONE_BODY: [&str; 2] = ["Isend", "Irecv"];

/// Returns the section of a wrapper's code. A frequent wrapper has its own, in which the body follows the entry, at the start of a cache
/// line. The wrappers of [`IN_TURN`] share one, so that they lie in few pages.
fn code_section(language: &str, function: &str, is_frequent: bool) -> String {
    match is_frequent {
        true if IN_TURN.contains(&function) => format!(".text.hot.lbprof_{language}.in_turn"),
        true => format!(".text.hot.lbprof_{language}.{function}"),
        false => ".text.lbprof".into(),
    }
}

/// The wrappers of the rows so far.
#[derive(Default)]
struct WrapperList {
    text: String,
    /// The functions of [`ONE_BODY`] so far, and the names of their arguments.
    one_body: Vec<String>,
    one_body_arguments: Vec<String>,
    /// The numbers of the wrappers in C of [`FREQUENT`].
    frequent: Vec<usize>,
    /// Pairs: the function to forward to, and the wrapper's own name for libraries that have no twin.
    names: Vec<(String, String)>,
    /// Number of arguments of each pair's function in C.
    counts: Vec<usize>,
    /// Number of pairs of functions of the table.
    n_in_table: usize,
}

impl WrapperList {
    /// Adds the wrappers of a row with int or with large counts: first in C, then in Fortran.
    fn add(&mut self, row: &TableRow, large: bool) {
        let suffix = if large { "_c" } else { "" };
        let (function, arguments) = (&row.function, row.arguments.join(", "));
        let index = self.names.len();
        self.names.push((format!("PMPI_{function}{suffix}"), format!("MPI_{function}{suffix}")));
        // The most frequent come last.
        let place = match place_among_frequent(function) {
            place if place < n_frequent() && !large => n_frequent() - 1 - place,
            _ => n_frequent(),
        };
        if let Some(frequent) = self.frequent.get_mut(place) {
            *frequent = index;
        }
        let section = code_section("c", function, place < n_frequent());
        if ONE_BODY.contains(&function.as_str()) && !large {
            self.add_to_one_body(row, &section, index, place);
        } else {
            let _ = writeln!(
                self.text,
                "c_wrapper!(\"MPI_{function}{suffix}\", \"{section}\", lang::{}, {index}, {place}, {function}, ({arguments}), |call| {});",
                if large { "CLarge" } else { "C" },
                qualify_verbs(&row.verb)
            );
        }
        // If a verb looks at a buffer, entries that pass it as a descriptor have their own body.
        let looks = ["sendbuf", "recvbuf"].iter().any(|buffer| row.verb.contains(buffer));
        let (described, plain): (Vec<String>, Vec<String>) =
            fortran_flavours(function, large).into_iter().partition(|flavour| looks && flavour.contains("_f08ts_"));
        let language = if large { "FortranLarge" } else { "Fortran" };
        self.add_fortran(row, language, plain);
        self.add_fortran(row, &format!("{language}Described"), described);
        self.counts.resize(self.names.len(), row.arguments.len());
    }

    /// Adds a function of [`ONE_BODY`], whose arguments have the names of the first one's.
    fn add_to_one_body(&mut self, row: &TableRow, section: &str, index: usize, place: usize) {
        if self.one_body.is_empty() {
            self.one_body_arguments = row.arguments.clone();
        }
        let renamed = row.arguments.iter().zip(&self.one_body_arguments).filter(|(own, first)| own != first);
        let renamed: String = renamed.map(|(own, first)| format!("let {own} = {first}; ")).collect();
        let (function, verb) = (&row.function, qualify_verbs(&row.verb));
        self.one_body.push(format!("(\"MPI_{function}\", {index}, {place}, {function}, |call| {{ {renamed}{verb} }})"));
        if self.one_body.len() == ONE_BODY.len() {
            let (arguments, functions) = (self.one_body_arguments.join(", "), self.one_body.join(", "));
            let _ = writeln!(self.text, "c_wrappers_of_one_body!(\"{section}\", lang::C, ({arguments}), {functions});");
        }
    }

    /// Adds the wrapper of a row for some of its names in Fortran.
    fn add_fortran(&mut self, row: &TableRow, language: &str, flavours: Vec<String>) {
        if flavours.is_empty() {
            return;
        }
        let (function, arguments) = (&row.function, row.arguments.join(", "));
        // After the arguments of C come ierror and the hidden lengths.
        let extra: String = (0..=row.hidden).fold(String::new(), |extra, i| extra + &format!(", extra_{i}"));
        let extra = if arguments.is_empty() { extra.trim_start_matches(", ").to_owned() } else { extra };
        let mut entries = String::new();
        for flavour in flavours {
            let _ = write!(entries, "(\"{flavour}\", {}) ", self.names.len());
            self.names.push((profiling_name(&flavour), flavour));
        }
        let _ = writeln!(
            self.text,
            "fortran_wrapper!(\"{}\", lang::{language}, [{entries}], {function}, extra_0, ({arguments}{extra}), |call| {});",
            code_section("fortran", function, place_among_frequent(function) < n_frequent() && language == "Fortran"),
            qualify_verbs(&row.verb)
        );
    }

    /// Adds the names in Fortran of the functions that src/calls/wrappers/special.rs writes by hand. Returns their entries, a line for each function
    /// and flavour.
    fn add_special(&mut self) -> String {
        self.n_in_table = self.names.len();
        let mut lines = String::new();
        for (function, arguments) in SPECIAL {
            let upper = format!("MPI_{}", function.to_uppercase());
            for flavour in FORTRAN.map(|form| format!("mpi_{function}{form}")).into_iter().chain([upper]) {
                let _ = writeln!(
                    lines,
                    "fortran_entry!(\"{flavour}\", \".text.lbprof\", {}, NEXT, fortran_names::choose, wrap_{function}::<Fortran>);",
                    self.names.len()
                );
                self.names.push((profiling_name(&flavour), flavour));
                self.counts.push(arguments);
            }
        }
        lines
    }

    /// Returns the indexes of the names in Fortran, sorted by name.
    fn by_name(&self) -> Vec<usize> {
        let mut own: Vec<(&str, usize)> = self.names.iter().map(|names| names.1.as_str()).zip(0..).collect();
        own.retain(|(name, _)| name.starts_with("mpi_") || !name.bytes().any(|byte| byte.is_ascii_lowercase()));
        own.sort_unstable();
        own.into_iter().map(|(_, index)| index).collect()
    }

    /// Returns the tables of names and numbers of arguments.
    fn names(&self) -> String {
        let counts: String = self.counts.iter().map(|count| format!("{count}, ")).collect();
        let names: String = self.names.iter().map(|(next, own)| format!("    (c\"{next}\", c\"{own}\"),\n")).collect();
        format!(
            "/// By wrapper: the function to forward to, and the wrapper's own name.\npub static NAMES: &[(&std::ffi::CStr, &std::ffi::CStr)] = &[\n{names}];\n\n/// And how many arguments it has in C.\npub static ARGUMENTS: &[u8] = &[{counts}];\n\n/// The indexes of the wrappers in C that programs call most.\nconst FREQUENT: &[usize] = &{:?};\n\n/// The number of functions of the table, which come before those that are written by hand.\nconst N_IN_TABLE: usize = {};\n\n/// The indexes of the names in Fortran, sorted by name.\nconst BY_NAME: &[u16] = &{:?};\n",
            self.frequent,
            self.n_in_table,
            self.by_name()
        )
    }
}

/// Returns the names of a function in Fortran, with int or with large counts.
fn fortran_flavours(function: &str, large: bool) -> Vec<String> {
    let lower = function.to_lowercase();
    if large {
        return FORTRAN_LARGE.map(|form| format!("mpi_{lower}{form}")).into();
    }
    let mut flavours: Vec<String> = FORTRAN.map(|form| format!("mpi_{lower}{form}")).into();
    flavours.push(format!("MPI_{}", function.to_uppercase()));
    if function.starts_with("Win_allocate") {
        // Open MPI's specific of `use mpi` for a base pointer of type C_PTR.
        flavours.push(format!("mpi_{lower}_cptr_"));
    }
    flavours
}
