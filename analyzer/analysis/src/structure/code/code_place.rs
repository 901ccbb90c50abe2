//! Places in a program's code, and how they are named.

use bincode::{Decode, Encode};
use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

/// The known facts about a place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodePlace {
    /// The function that calls.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Path of the executable or library; null where the address lies in none.
    pub module: Option<String>,
    /// The address that the call returns to, as the module's own tables state it; the raw address where there is no module; null if it is
    /// not known.
    #[serde(serialize_with = "known_address")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub offset: u64,
    /// The calls around it, the innermost first, that distinguish it from calls at the same place that the program reaches through others;
    /// empty where all calls at the place are reached in one way, and where that is not known. If its function is not known, those up to the
    /// first whose function is.
    pub callers: Vec<Caller>,
}

/// A call by which the program gets to a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Encode, Decode)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Caller {
    /// The function that calls.
    pub function: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Path of the executable or library; null where the address lies in none.
    pub module: Option<String>,
    /// The address that the call returns to, where the line is not known.
    #[serde(serialize_with = "known_address")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<u64>"))]
    pub offset: u64,
}

impl Caller {
    /// Converts a place, without its callers.
    pub fn from_place(place: &CodePlace) -> Caller {
        let CodePlace { function, file, line, module, offset, .. } = place.clone();
        Caller { function, file, line, module, offset }
    }

    /// Returns the place without its function: `halo.c:20`, or `+0x1234` if the line is not known.
    pub fn short_place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{}:{line}", base_name(file)),
            _ => format!("+{:#x}", self.offset),
        }
    }

    fn place(&self) -> CodePlace {
        let Caller { function, file, line, module, offset } = self.clone();
        CodePlace { function, file, line, module, offset, callers: Vec::new() }
    }
}

/// Writes an address. No call returns to 0, which stands for none.
fn known_address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*address).filter(|&address| address > 0).serialize(serializer)
}

/// Parts of the names that compilers give to the functions of parallel regions.
const OUTLINED: [&str; 2] = ["._omp_fn.", ".omp_outlined"];

/// Returns whether compilers give such a name to the function of a parallel region.
pub fn is_outlined(function: &str) -> bool {
    OUTLINED.iter().any(|mark| function.contains(mark))
}

impl CodePlace {
    /// Returns the function's name without return type and parameters; empty if it is not known.
    pub fn function_label(&self) -> &str {
        self.function.as_deref().map_or("", name_alone)
    }

    /// Returns the shortest name that distinguishes the place: `force (lj.c:120)`, `force (+0x1234)` if the line is not known, or `lmp+0x1234`.
    /// In a function that is called from several places, the outermost call that distinguishes them comes first:
    /// `step (md.c:55) via halo (halo.c:20)`. The function's return type and parameters are left out.
    pub fn label(&self) -> String {
        if self.callers.is_empty() { self.own_label() } else { self.through(&self.shortened().own_label()) }
    }

    /// Returns the last two parts of the function's name, see [`short_name`]; empty if it is not known.
    pub fn short_function(&self) -> &str {
        short_name(self.function_label())
    }

    pub(in crate::structure) fn shortened(&self) -> CodePlace {
        CodePlace { function: self.function.as_ref().map(|_| self.short_function().to_owned()), ..self.clone() }
    }

    /// Returns the names of the calls by which the program gets there, as far as they distinguish the place, followed by `own`. For a place without
    /// a name, only the calls with a name are listed, followed by its address.
    pub fn through(&self, own: &str) -> String {
        let is_unnamed = !self.is_named() && self.callers.iter().any(|caller| caller.place().is_named());
        let callers: Vec<CodePlace> = self.callers.iter().map(Caller::place).collect();
        let mut shown = callers.iter().filter(|caller| !is_unnamed || caller.is_named()).rev();
        let Some(outermost) = shown.next() else { return own.to_owned() };
        let between = shown.map(|caller| match caller.function_label() {
            "" => caller.own_label(),
            _ => caller.short_function().to_owned(),
        });
        let own = if is_unnamed { format!("+{:#x}", self.offset) } else { own.to_owned() };
        let through: Vec<String> = between.chain([own]).collect();
        format!("{} via {}", outermost.shortened().own_label(), through.join(", "))
    }

    /// Returns the place of a parallel region, whose code compilers move to a separate function, with the function in the source.
    /// The callers of a region with a name do not matter.
    pub fn of_region(&self) -> CodePlace {
        let Some(function) = &self.function else { return self.clone() };
        let function = before_mark(function, &OUTLINED);
        let function = function.strip_suffix(" [clone ").unwrap_or(function);
        CodePlace { function: Some(function.to_owned()), offset: 0, callers: Vec::new(), ..self.clone() }
    }

    pub(in crate::structure) fn is_named(&self) -> bool {
        self.function.is_some() || self.line.is_some()
    }

    /// Returns the label of the place alone, however the program gets there.
    pub fn own_label(&self) -> String {
        let source = self.file.as_deref().map(|file| match self.line {
            Some(line) => format!("{}:{line}", base_name(file)),
            None => base_name(file).to_owned(),
        });
        let module = self.module.as_deref().map(base_name);
        match (self.function.as_deref().map(name_alone), source, module) {
            (Some(function), Some(source), _) => format!("{function} ({source})"),
            (Some(function), None, _) => format!("{function} (+{:#x})", self.offset),
            (None, Some(source), _) => source,
            (None, None, Some(module)) => format!("{module}+{:#x}", self.offset),
            (None, None, None) => format!("{:#x}", self.offset),
        }
    }
}

/// Returns a function's name in its source, without return type, parameters, and the suffix that a compiler appends to the name of a copy:
/// `double sum<double>(double const*) [clone .isra.0]` becomes `sum<double>`.
fn name_alone(function: &str) -> &str {
    without_return_type(without_arguments(before_mark(
        function,
        &[" [clone", ".constprop.", ".isra.", ".part.", ".cold"],
    )))
}

fn before_mark<'a>(name: &'a str, marks: &[&str]) -> &'a str {
    let end = marks.iter().filter_map(|mark| name.find(mark)).filter(|&at| at > 0).min();
    &name[..end.unwrap_or(name.len())]
}

/// Removes the type before a qualified name, as in names of C++ templates.
fn without_return_type(name: &str) -> &str {
    // Operators have blanks and brackets of their own.
    let end = name.rfind("operator").unwrap_or(name.len());
    let mut depth = 0_i32;
    let mut from = 0;
    for (at, byte) in name.bytes().enumerate().take(end) {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b' ' if depth == 0 => from = at + 1,
            _ => {}
        }
    }
    if depth == 0 { name[from..].trim_start_matches(['*', '&']) } else { name }
}

/// Removes the list of arguments of a C++ name: `Pair::compute(int) const` becomes `Pair::compute`.
fn without_arguments(function: &str) -> &str {
    let name = function.strip_suffix(" const").unwrap_or(function);
    if !name.ends_with(')') {
        return function;
    }
    let mut depth = 0;
    for (at, char) in name.char_indices().rev() {
        match char {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at > 0 { &name[..at] } else { function };
        }
    }
    function
}

/// Returns the last part of a path, with the package for a file that has the same name in each package of Python.
pub fn base_name(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((folder, name @ ("__init__.py" | "__main__.py"))) => {
            let package = folder.rsplit('/').next().unwrap_or_default();
            &path[path.len() - package.len() - 1 - name.len()..]
        }
        Some((_, name)) => name,
        None => path,
    }
}

/// Returns for each place the index of the first one on its source line, or its own if the line is not known.
pub fn first_on_line(places: &[CodePlace]) -> Vec<u32> {
    let mut first: BTreeMap<CodePlace, u32> = BTreeMap::new();
    (0..)
        .zip(places)
        .map(|(at, place)| match place.line {
            Some(_) => *first.entry(CodePlace { offset: 0, ..place.clone() }).or_insert(at),
            None => at,
        })
        .collect()
}

/// The position of a call in the source: its place and column, then the same for each call that it was inlined into, up to a function of
/// the program. Places are without module and offset.
pub type SourcePosition = Vec<(CodePlace, Option<u32>)>;

/// Returns the last two parts of a qualified name of C++: `LAMMPS_NS::CommBrick::exchange` becomes `CommBrick::exchange`.
pub fn short_name(function: &str) -> &str {
    let mut depth = 0_i32;
    let mut parts = Vec::new();
    for (at, byte) in function.bytes().enumerate() {
        match byte {
            b'<' | b'(' => depth += 1,
            b'>' | b')' => depth -= 1,
            b':' if depth == 0 && function.as_bytes().get(at + 1) == Some(&b':') => parts.push(at + 2),
            _ => {}
        }
    }
    let from = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied().unwrap_or(0);
    function.get(from..).unwrap_or(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_same_name_in_each_package_are_named_with_it() {
        let names = ["/opt/dask/__init__.py", "__init__.py", "/opt/dask/core.py", "heat.py", "app/__main__.py"];
        let expected = ["dask/__init__.py", "__init__.py", "core.py", "heat.py", "app/__main__.py"];
        assert_eq!(names.map(base_name), expected);
    }

    #[test]
    fn a_region_is_of_the_function_in_the_source() {
        let function = |name: &str| {
            let place = CodePlace { function: Some(name.into()), offset: 0x10, ..CodePlace::default() };
            place.of_region().function.unwrap_or_default()
        };
        assert_eq!(function("assemble._omp_fn.0"), "assemble");
        assert_eq!(function("step(int) [clone ._omp_fn.12]"), "step(int)");
        assert_eq!(function("assemble.omp_outlined_debug__"), "assemble");
        assert_eq!(function("assemble"), "assemble");
    }

    #[test]
    fn a_label_says_the_best_that_is_known() {
        let mut place = CodePlace { module: Some("/opt/app/lmp".into()), offset: 0x1234, ..CodePlace::default() };
        assert_eq!(place.label(), "lmp+0x1234");
        place.function = Some("force".into());
        assert_eq!(place.label(), "force (+0x1234)");
        place.file = Some("/home/u/app/src/lj.c".into());
        place.line = Some(120);
        assert_eq!(place.label(), "force (lj.c:120)");
    }

    #[test]
    fn a_place_without_a_name_has_those_of_the_calls_around_it() {
        let module = Some("/opt/libpetsc.so".to_owned());
        let unnamed = |offset| CodePlace { module: module.clone(), offset, ..CodePlace::default() };
        let named = |name: &str| CodePlace { function: Some(name.into()), ..unnamed(0x20) };
        let callers = [unnamed(0x30), named("VecScatterEnd")].iter().map(Caller::from_place).collect();
        assert_eq!(CodePlace { callers, ..unnamed(0x10) }.label(), "VecScatterEnd (+0x20) via +0x10");
        let callers = vec![Caller::from_place(&unnamed(0x30))];
        assert_eq!(CodePlace { callers, ..unnamed(0x10) }.label(), "libpetsc.so+0x30 via libpetsc.so+0x10");
    }

    #[test]
    fn a_name_stands_alone() {
        assert_eq!(name_alone("void sum<double>(double const*, int)"), "sum<double>");
        assert_eq!(name_alone("std::vector<int, std::allocator<int> > a::f<int>(int)"), "a::f<int>");
        assert_eq!(name_alone("(anonymous namespace)::halo(int)"), "(anonymous namespace)::halo");
        assert_eq!(name_alone("bool ns::operator< <int>(A<int> const&, B)"), "ns::operator< <int>");
        assert_eq!(name_alone("Comm::operator bool() const"), "Comm::operator bool");
        assert_eq!(name_alone("exchange(Domain&) [clone .isra.0]"), "exchange");
        assert_eq!(name_alone("exchange.constprop.0"), "exchange");
        assert_eq!(name_alone("<app::Grid as app::Halo>::swap"), "<app::Grid as app::Halo>::swap");
        assert_eq!(name_alone("solve_"), "solve_");
    }

    #[test]
    fn a_label_leaves_out_the_arguments() {
        assert_eq!(without_arguments("lj::Pair::compute(int, std::function<void (int)>) const"), "lj::Pair::compute");
        assert_eq!(without_arguments("Pair::operator()(int)"), "Pair::operator()");
        assert_eq!(without_arguments("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
        assert_eq!(without_arguments("core::ops::call"), "core::ops::call");
        assert_eq!(without_arguments("odd)"), "odd)");
        assert_eq!(without_arguments("()"), "()");
    }

    #[test]
    fn the_last_two_parts_of_a_qualified_name_are_enough() {
        assert_eq!(short_name("LAMMPS_NS::CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short_name("CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short_name("a::b::Solver<std::vector<int>>::run"), "Solver<std::vector<int>>::run");
        assert_eq!(short_name("solve_"), "solve_");
    }
}
