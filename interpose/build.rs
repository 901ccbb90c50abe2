//! Makes the wrappers from calls.table: for each row a body in C and in Fortran, with int and with large counts, and the
//! entry points that lead to them. The rows stay in the table; what a wrapper does is in src/wrappers/mod.rs.

// A build that cannot go on says so and stops.
#![expect(clippy::expect_used, clippy::panic, reason = "a build script's way to fail")]

use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// Suffixes of Fortran names, and whether they take large counts: mpif.h and mpi without, with one and with two underscores;
/// mpi_f08; mpi_f08 with descriptors; their large-count forms in MPICH 4.0 (`_large_`) and in later ones and Intel MPI (`_c_`).
const FORTRAN: [(&str, bool); 9] = [
    ("", false),
    ("_", false),
    ("__", false),
    ("_f08_", false),
    ("_f08ts_", false),
    ("_c_f08_", true),
    ("_c_f08ts_", true),
    ("_f08_large_", true),
    ("_f08ts_large_", true),
];

/// Functions that src/wrappers/special.rs writes by hand, as Fortran calls them, and the number of arguments before ierror.
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

/// Functions that programs call most, those that are called together beside one another: the code of their wrappers and what that uses lie together in this
/// order, so that few cache lines and pages serve a call where the program's own data fill the caches. As many as `state/thread.rs` has place for.
const FREQUENT: [&str; 40] = [
    "Isend",
    "Irecv",
    "Waitall",
    "Wait",
    "Send",
    "Recv",
    "Sendrecv",
    "Allreduce", //
    "Barrier",
    "Bcast",
    "Reduce",
    "Test",
    "Testall",
    "Waitany",
    "Waitsome",
    "Iprobe", //
    "Start",
    "Startall",
    "Alltoall",
    "Alltoallv",
    "Allgather",
    "Allgatherv",
    "Gather",
    "Gatherv", //
    "Scatter",
    "Scatterv",
    "Testany",
    "Testsome",
    "Probe",
    "Issend",
    "Ssend",
    "Rsend", //
    "Iallreduce",
    "Ibarrier",
    "Put",
    "Get",
    "Win_fence",
    "Sendrecv_replace",
    "Bsend",
    "Reduce_scatter_block",
];

/// A row of the table.
struct TableRow {
    function: String,
    large: bool,
    arguments: Vec<String>,
    verb: String,
    /// Hidden lengths that Fortran appends for CHARACTER arguments.
    hidden: usize,
}

fn parse(line: &str) -> Option<TableRow> {
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

/// `start_request(request, send(dest, tag))` → `verbs::start_request(call, request, verbs::send(call, dest, tag))`.
fn call(verb: &str) -> String {
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

/// The name of the function behind a Fortran wrapper: `mpi_send_` → `pmpi_send_`, `MPI_SEND` → `PMPI_SEND`.
fn profiling(flavour: &str) -> String {
    format!("{}{flavour}", if flavour.starts_with('M') { 'P' } else { 'p' })
}

fn main() {
    println!("cargo::rerun-if-changed=calls.table");
    println!("cargo::rerun-if-changed=build.rs");
    // The names with which the linker marks a section (system/own_code.rs) are for this library alone.
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,start-stop-visibility=hidden");
    let table = fs::read_to_string("calls.table").expect("calls.table lies beside build.rs");
    let mut rows = Vec::new();
    for (number, line) in table.lines().enumerate() {
        if !line.starts_with('#') && !line.trim().is_empty() {
            rows.push(parse(line).unwrap_or_else(|| panic!("calls.table:{}: not a row", number + 1)));
        }
    }
    // Their code comes in the order in which they are written.
    rows.sort_by_key(|row| place_among_frequent(&row.function));
    let mut wrappers = WrapperList { frequent: vec![0; FREQUENT.len()], ..WrapperList::default() };
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

/// The place of a function in [`FREQUENT`], or their number if it is none of them.
fn place_among_frequent(function: &str) -> usize {
    FREQUENT.iter().position(|&frequent| frequent == function).unwrap_or(FREQUENT.len())
}

/// Functions of [`FREQUENT`] that are called in turn and share code.
const IN_TURN: [&str; 3] = ["Isend", "Irecv", "Waitall"];

/// Functions of [`IN_TURN`] that have one body in C: their arguments differ by a name alone.
const ONE_BODY: [&str; 2] = ["Isend", "Irecv"];

/// The section of a wrapper's code. A frequent one has its own, where the body follows the entry, at the begin of a cache line; those of [`IN_TURN`] share one, so
/// that they lie in few pages.
fn section(language: &str, function: &str, is_frequent: bool) -> String {
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
    /// Adds those of a row with int or with large counts: one in C, then those in Fortran.
    fn add(&mut self, row: &TableRow, large: bool) {
        let suffix = if large { "_c" } else { "" };
        let (function, arguments) = (&row.function, row.arguments.join(", "));
        let index = self.names.len();
        self.names.push((format!("PMPI_{function}{suffix}"), format!("MPI_{function}{suffix}")));
        let place = FREQUENT.iter().rev().position(|frequent| frequent == function && !large).unwrap_or(FREQUENT.len());
        if let Some(frequent) = self.frequent.get_mut(place) {
            *frequent = index;
        }
        let section = section("c", function, place < FREQUENT.len());
        if ONE_BODY.contains(&function.as_str()) && !large {
            self.add_to_one_body(row, &section, index, place);
        } else {
            let _ = writeln!(
                self.text,
                "c_wrapper!(\"MPI_{function}{suffix}\", \"{section}\", lang::{}, {function}{suffix}, {index}, {place}, {function}, ({arguments}), |call| {});",
                if large { "CLarge" } else { "C" },
                call(&row.verb)
            );
        }
        // Where a buffer is looked at, entries that pass it as a descriptor have a body of their own.
        let looks = ["sendbuf", "recvbuf"].iter().any(|buffer| row.verb.contains(buffer));
        let (described, plain): (Vec<String>, Vec<String>) =
            flavours(function, large).into_iter().partition(|flavour| looks && flavour.contains("_f08ts_"));
        let language = if large { "FortranLarge" } else { "Fortran" };
        self.add_fortran(row, suffix, language, plain);
        self.add_fortran(row, suffix, &format!("{language}Described"), described);
        self.counts.resize(self.names.len(), row.arguments.len());
    }

    /// Adds a function of [`ONE_BODY`], whose arguments have the names of the first one's.
    fn add_to_one_body(&mut self, row: &TableRow, section: &str, index: usize, place: usize) {
        if self.one_body.is_empty() {
            self.one_body_arguments = row.arguments.clone();
        }
        let renamed = row.arguments.iter().zip(&self.one_body_arguments).filter(|(own, first)| own != first);
        let renamed: String = renamed.map(|(own, first)| format!("let {own} = {first}; ")).collect();
        let (function, verb) = (&row.function, call(&row.verb));
        self.one_body.push(format!("(\"MPI_{function}\", {index}, {place}, {function}, |call| {{ {renamed}{verb} }})"));
        if self.one_body.len() == ONE_BODY.len() {
            let (arguments, functions) = (self.one_body_arguments.join(", "), self.one_body.join(", "));
            let _ = writeln!(self.text, "c_wrappers_of_one_body!(\"{section}\", lang::C, ({arguments}), {functions});");
        }
    }

    /// Adds the wrapper of a row for some of its names in Fortran; none where there are none.
    fn add_fortran(&mut self, row: &TableRow, suffix: &str, language: &str, flavours: Vec<String>) {
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
            self.names.push((profiling(&flavour), flavour));
        }
        let _ = writeln!(
            self.text,
            "fortran_wrapper!(\"{}\", lang::{language}, {function}{suffix}, [{entries}], {function}, extra_0, ({arguments}{extra}), |call| {});",
            section("fortran", function, FREQUENT.contains(&function.as_str()) && language == "Fortran"),
            call(&row.verb)
        );
    }

    /// Adds the names in Fortran of the functions that src/wrappers/special.rs writes by hand. Returns their entries: a line `fortran_init!("mpi_init_", 4711);` for each
    /// function and flavour.
    fn add_special(&mut self) -> String {
        self.n_in_table = self.names.len();
        let mut lines = String::new();
        for (function, arguments) in SPECIAL {
            let upper = format!("MPI_{}", function.to_uppercase());
            let small = FORTRAN.iter().filter(|form| !form.1).map(|form| format!("mpi_{function}{}", form.0));
            for flavour in small.chain([upper]) {
                let _ = writeln!(lines, "fortran_{function}!(\"{flavour}\", {});", self.names.len());
                self.names.push((profiling(&flavour), flavour));
                self.counts.push(arguments);
            }
        }
        lines
    }

    /// The indexes of the names in Fortran, sorted by name.
    fn by_name(&self) -> Vec<usize> {
        let mut own: Vec<(&str, usize)> = self.names.iter().map(|names| names.1.as_str()).zip(0..).collect();
        own.retain(|(name, _)| name.starts_with("mpi_") || !name.bytes().any(|byte| byte.is_ascii_lowercase()));
        own.sort_unstable();
        own.into_iter().map(|(_, index)| index).collect()
    }

    /// The tables of names and numbers of arguments.
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

/// The names of a function in Fortran, with int or with large counts.
fn flavours(function: &str, large: bool) -> Vec<String> {
    let lower = function.to_lowercase();
    let forms = FORTRAN.iter().filter(|form| form.1 == large);
    let mut flavours: Vec<String> = forms.map(|form| format!("mpi_{lower}{}", form.0)).collect();
    if !large {
        flavours.push(format!("MPI_{}", function.to_uppercase()));
    }
    if !large && function.starts_with("Win_allocate") {
        // Open MPI's specific of `use mpi` for a base pointer of type C_PTR.
        flavours.push(format!("mpi_{lower}_cptr_"));
    }
    flavours
}
