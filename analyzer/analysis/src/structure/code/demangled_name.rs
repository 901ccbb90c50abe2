//! Demangles names of C++ and Rust functions from symbol tables and debug information.
//!
//! Names of nested templates need deep recursion, on a thread with enough stack. A name that is cut, or nested too deeply, is shown up to the part
//! that can be read: `amrex::FillPatch<…>`.

use std::fmt;
use std::thread;

use addr2line::gimli::{DW_LANG_Rust, DwLang};
use cpp_demangle::{DemangleOptions, DemangleWrite, ParseOptions, Symbol};

/// Maximum depth of nested templates in a name.
const MAX_DEPTH: u32 = 512;

/// Depth up to which the stack of any thread is enough.
const USUAL_DEPTH: u32 = 96;

/// Bytes of stack for [`MAX_DEPTH`]: a level takes about ten thousand in a build without optimization.
const STACK_BYTES: usize = 16 << 20;

/// Maximum length of a demangled name in bytes. A short mangled name can stand for any length.
const MAX_BYTES: usize = 64 << 10;

/// Returns the name in the source of a mangled `name`, and any other as it is. `language` is the language of its source file, if it is known.
pub(super) fn demangled_name(name: &str, language: Option<DwLang>) -> String {
    let is_rust = name.starts_with("_R") || language == Some(DW_LANG_Rust) || has_rust_hash(name);
    let rust = if is_rust { addr2line::demangle(name, DW_LANG_Rust) } else { None };
    if let Some(demangled) = rust {
        return demangled;
    }
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let demangled = demangle_cpp(name, USUAL_DEPTH).or_else(|| demangle_deeply(name));
    demangled.or_else(|| readable_part(name)).unwrap_or_else(|| name.to_owned())
}

/// Returns whether a name ends as in Rust's older scheme, which is otherwise the same as the scheme of C++.
fn has_rust_hash(name: &str) -> bool {
    const HASH_LETTERS: usize = 16;
    let hash = name.rsplit_once("17h").and_then(|(_, end)| end.get(..HASH_LETTERS));
    hash.is_some_and(|hash| hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn demangle_deeply(name: &str) -> Option<String> {
    let name = name.to_owned();
    let deep = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || demangle_cpp(&name, MAX_DEPTH));
    deep.ok()?.join().ok()?
}

fn demangle_cpp(name: &str, depth: u32) -> Option<String> {
    let options = ParseOptions::default().recursion_limit(depth);
    let symbol = Symbol::new_with_options(name.as_bytes(), &options).ok()?;
    let mut text = BoundedText::default();
    symbol.structured_demangle(&mut text, &DemangleOptions::default().recursion_limit(depth)).ok()?;
    Some(text.0)
}

#[derive(Default)]
struct BoundedText(String);

impl DemangleWrite for BoundedText {
    fn write_string(&mut self, part: &str) -> fmt::Result {
        if self.0.len().saturating_add(part.len()) > MAX_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// Returns the qualified name at the start of a mangled one, `a::f<…>`, or `None` if it does not start with one.
fn readable_part(name: &str) -> Option<String> {
    let mut rest = name.strip_prefix("_Z")?;
    // The prefix of nested names, and their qualifiers.
    rest = rest.strip_prefix('N').map_or(rest, |nested| nested.trim_start_matches(['r', 'V', 'K', 'R', 'O']));
    let mut parts: Vec<&str> = Vec::new();
    if let Some(within) = rest.strip_prefix("St") {
        parts.push("std");
        rest = within;
    }
    loop {
        let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Some(length) = rest.get(..n_digits).and_then(|digits| digits.parse::<usize>().ok()) else { break };
        let after = rest.get(n_digits..)?;
        let Some(part) = after.get(..length) else {
            parts.push(after);
            break;
        };
        parts.push(part);
        rest = after.get(length..)?;
    }
    let is_read = parts.iter().any(|part| !part.is_empty() && *part != "std");
    is_read.then(|| format!("{}<…>", parts.join("::")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(mangled: &str) -> String {
        demangled_name(mangled, None)
    }

    #[test]
    fn names_of_cpp_and_rust_are_taken_apart_and_others_left() {
        assert_eq!(name("_ZN5amrex9FillPatchERNS_8MultiFabE"), "amrex::FillPatch(amrex::MultiFab&)");
        assert_eq!(name("_ZN3lmp4Pair7computeEi"), "lmp::Pair::compute(int)");
        assert_eq!(name("_RNvC3app4step"), "app::step");
        assert_eq!(name("_ZN3app4step17h0123456789abcdefE"), "app::step");
        assert_eq!(name("solve_"), "solve_");
        // A unit of C may have been compiled into one of C++.
        assert_eq!(demangled_name("_Z4stepi", Some(addr2line::gimli::DW_LANG_C11)), "step(int)");
    }

    fn nested(depth: usize) -> String {
        format!("_Z1fI{}i{}Evv", "1WI".repeat(depth), "E".repeat(depth))
    }

    #[test]
    fn templates_in_one_another_are_taken_apart() {
        let expected = format!("void f<{}int{}>()", "W<".repeat(40), " >".repeat(39) + ">");
        assert_eq!(name(&nested(40)).replace(" >", ">"), expected.replace(" >", ">"));
        assert_eq!(name(&nested(5000)), "f<…>");
    }

    #[test]
    fn what_is_cut_is_shown_as_cut() {
        assert_eq!(name("_ZN5amrex20FillPatchSingleLevelINS_8MultiF"), "amrex::FillPatchSingleLevel<…>");
        assert_eq!(name("_ZN5amrex20FillPatchSin"), "amrex::FillPatchSin<…>");
        assert_eq!(name("_ZNSt6vectorIiSaI"), "std::vector<…>");
        assert_eq!(name("_ZNK3lmp4Pa"), "lmp::Pa<…>");
        assert_eq!(name("_ZZ"), "_ZZ");
        assert_eq!(name("_Z"), "_Z");
        assert_eq!(name("_ZN99999999999999999999999a"), "_ZN99999999999999999999999a");
    }

    #[test]
    fn a_name_that_would_never_end_is_cut() {
        // Each substitution is twice the one before.
        let levels: String = (0..40)
            .map(|level| format!("1PI{0}{0}E", if level == 0 { "i".into() } else { format!("S{level}_") }))
            .collect();
        assert!(name(&format!("_Z1f{levels}")).len() <= MAX_BYTES);
    }
}
