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
    /// Creates the caller at a place.
    pub fn from_place(place: &CodePlace) -> Caller {
        let CodePlace { function, file, line, module, offset, .. } = place.clone();
        Caller { function, file, line, module, offset }
    }

    /// Returns the place without its function: `halo.c:20`, or `+0x1234` where the line is not known.
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

/// An address; no call returns to 0, which stands for none.
fn known_address<S: Serializer>(address: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Some(*address).filter(|&address| address > 0).serialize(serializer)
}

/// Parts of the names that compilers give to functions which they make of parallel regions.
const OUTLINED: [&str; 2] = ["._omp_fn.", ".omp_outlined"];

/// Returns whether a function's name is one that compilers give to what they make of a parallel region.
pub fn is_outlined(function: &str) -> bool {
    OUTLINED.iter().any(|mark| function.contains(mark))
}

impl CodePlace {
    /// The function's name without return type and parameters; empty where it is not known.
    pub fn function_label(&self) -> &str {
        self.function.as_deref().map_or("", name_alone)
    }

    /// The shortest name that distinguishes it from others: `force (lj.c:120)`, `force (+0x1234)` where the line is not known, or
    /// `lmp+0x1234`; of a function that is called from several places after the outermost call that distinguishes them:
    /// `step (md.c:55) via halo (halo.c:20)`. The function's return type and parameters are left out.
    pub fn label(&self) -> String {
        match self.callers.is_empty() {
            true => self.own_label(),
            false => self.through(&self.shortened().own_label()),
        }
    }

    /// Returns the function's name without its return type and parameters; empty where it is not known.
    pub fn short_function(&self) -> &str {
        short(self.function_label())
    }

    /// Returns the place with the short name of the function.
    fn shortened(&self) -> CodePlace {
        CodePlace { function: self.function.as_ref().map(|_| self.short_function().to_owned()), ..self.clone() }
    }

    /// Returns a name of it after those of the calls by which the program gets there, as far as they distinguish it. Of a place without a name only
    /// those with one, and then its address.
    pub fn through(&self, own: &str) -> String {
        let is_unnamed = !self.is_named() && self.callers.iter().any(|caller| caller.place().is_named());
        let callers: Vec<CodePlace> = self.callers.iter().map(Caller::place).collect();
        let mut shown = callers.iter().filter(|caller| !is_unnamed || caller.is_named()).rev();
        let Some(outermost) = shown.next() else { return own.to_owned() };
        let between = shown.map(|caller| match caller.function_label() {
            "" => caller.own_label(),
            function => short(function).to_owned(),
        });
        let own = if is_unnamed { format!("+{:#x}", self.offset) } else { own.to_owned() };
        let through: Vec<String> = between.chain([own]).collect();
        format!("{} via {}", outermost.shortened().own_label(), through.join(", "))
    }

    /// Returns the place of a parallel region, whose code compilers move to a function of its own: of that, the function in the source.
    /// From where it is reached does not matter where it has a name.
    pub fn of_region(&self) -> CodePlace {
        let Some(function) = &self.function else { return self.clone() };
        let end = OUTLINED.iter().filter_map(|mark| function.find(mark)).filter(|&at| at > 0).min();
        let function = &function[..end.unwrap_or(function.len())];
        let function = function.strip_suffix(" [clone ").unwrap_or(function);
        CodePlace { function: Some(function.to_owned()), offset: 0, callers: Vec::new(), ..self.clone() }
    }

    /// Returns whether its function or line is known.
    pub(super) fn is_named(&self) -> bool {
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

/// A function's name as its source has it: without return type, parameters, and what a compiler appends to the name of a copy:
/// `double sum<double>(double const*) [clone .isra.0]` is `sum<double>`.
fn name_alone(function: &str) -> &str {
    const COPIES: [&str; 5] = [" [clone", ".constprop.", ".isra.", ".part.", ".cold"];
    let end = COPIES.iter().filter_map(|mark| function.find(mark)).filter(|&at| at > 0).min();
    without_return_type(without_arguments(&function[..end.unwrap_or(function.len())]))
}

/// A qualified name without the type before it, as names of C++ templates have it.
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

/// A function's name without the list of its arguments, as C++ names have it: `Pair::compute(int) const` is `Pair::compute`.
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

/// The last part of a path; of a file that has the same name in each package of Python's, with that package.
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

/// For each place the index of the first one on its source line; its own where the line is not known.
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

/// The position of a call in the source: its place and column, then those of the calls that it was inlined into, up to a function of the
/// program. Places are without module and offset.
pub type SourcePosition = Vec<(CodePlace, Option<u32>)>;

/// A qualified name of C++ by its last two parts: `LAMMPS_NS::CommBrick::exchange` is `CommBrick::exchange`.
pub fn short(function: &str) -> &str {
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
    // The last part, and the one before it.
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
        assert_eq!(short("LAMMPS_NS::CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short("CommBrick::exchange"), "CommBrick::exchange");
        assert_eq!(short("a::b::Solver<std::vector<int>>::run"), "Solver<std::vector<int>>::run");
        assert_eq!(short("solve_"), "solve_");
    }
}
