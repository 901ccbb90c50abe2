//! Where a process has its code and data, and which symbol is where.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context;
use object::{Object, ObjectSymbol};

use crate::round::{LineUse, TouchedLine};

const RECORDER: &str = "liblbprof.so";

/// A row of `/proc/<pid>/maps`.
struct Mapping {
    begin: u64,
    end: u64,
    offset: u64,
    path: String,
}

pub struct Image {
    mappings: Vec<Mapping>,
    /// Symbols by their addresses, of the files asked for so far.
    symbols: BTreeMap<String, BTreeMap<u64, String>>,
}

impl Image {
    pub fn read(pid: libc::pid_t) -> anyhow::Result<Image> {
        let text = fs::read_to_string(format!("/proc/{pid}/maps")).context("reading the mappings")?;
        let mappings = text.lines().filter_map(parse_mapping).collect();
        Ok(Image { mappings, symbols: BTreeMap::new() })
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|mapping| (mapping.begin..mapping.end).contains(&address))
    }

    pub fn is_recorder(&self, address: u64) -> bool {
        self.mapping(address).is_some_and(|mapping| mapping.path.ends_with(RECORDER))
    }

    /// Describes a line: use, address, and what is touched in it, from which byte of the line to which. `thread_pointer` is that of the thread.
    pub fn describe(&mut self, line: &TouchedLine, thread_pointer: u64) -> String {
        let kind = match line.line_use {
            LineUse::Code => "code",
            LineUse::Data => "data",
        };
        let places: BTreeSet<String> = line.touched.iter().map(|&address| self.name(address, thread_pointer)).collect();
        let offsets = |at: Option<&u64>| at.map_or(0, |address| address - line.address);
        let (first, last) = (offsets(line.touched.first()), offsets(line.touched.last()));
        let places = places.into_iter().collect::<Vec<_>>().join(", ");
        format!("{kind} {:#x} {first:>2}–{last:<2} {places}", line.address)
    }

    /// Returns the name of what has an address: a symbol of the recorder with the offset of the line in it, or a file.
    fn name(&mut self, address: u64, thread_pointer: u64) -> String {
        let before = thread_pointer.wrapping_sub(address);
        if before < 0x2000 {
            return format!("thread pointer - {:#x}", before.next_multiple_of(64));
        }
        let Some(at) = self.mappings.iter().position(|mapping| (mapping.begin..mapping.end).contains(&address)) else {
            return "unmapped".into();
        };
        // Data that a file has no bytes for lie in a mapping of their own, which follows the file's.
        let is_zeroed =
            |at: usize| self.mappings[at].path.is_empty() && self.mappings[at - 1].end == self.mappings[at].begin;
        let path = self.mappings[if at > 0 && is_zeroed(at) { at - 1 } else { at }].path.clone();
        if !path.ends_with(RECORDER) {
            return if path.is_empty() { "anonymous".into() } else { path };
        }
        // The address at which the file says that this is.
        let base = self.mappings.iter().find(|first| first.path == path).map_or(0, |first| first.begin - first.offset);
        let symbols = self.symbols.entry(path.clone()).or_insert_with(|| symbols_of(&path).unwrap_or_default());
        match symbols.range(..=address - base).next_back() {
            Some((begin, name)) => format!("{name}+{:#x}", (address - base - begin) & !63),
            None => format!("{RECORDER}+{:#x}", (address - base) & !63),
        }
    }
}

/// `7f00-7f10 r-xp 00001000 08:01 42    /path`.
fn parse_mapping(line: &str) -> Option<Mapping> {
    let mut words = line.split_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let offset = words.nth(1)?;
    let path = words.nth(2).unwrap_or_default().to_owned();
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some(Mapping { begin: number(begin)?, end: number(end)?, offset: number(offset)?, path })
}

fn symbols_of(path: &str) -> anyhow::Result<BTreeMap<u64, String>> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(&*bytes)?;
    let symbols = file.symbols().filter(|symbol| symbol.is_definition() && symbol.kind() != object::SymbolKind::Tls);
    Ok(symbols.filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned()))).collect())
}
