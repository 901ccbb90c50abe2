//! Lines in the order of their keys, however they come: sorted in memory as far as they fit, else in files that are merged.
//!
//! ```text
//!   lines ─→ a part in memory ─→ sorted, to a file ─┐
//!            the next one     ─→ sorted, to a file ─┼─→ merged
//!            the last one     ─→ sorted             ┘
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::PathBuf;

/// Bytes of a part in memory; few in tests, so that there are many parts.
const PART: usize = if cfg!(test) { 100 } else { 32 << 20 };

/// Maximum number of open files; more are merged into one.
const MOST_FILES: usize = 64;

/// Key of a line: its numbers are compared one after the other. Lines with equal keys stay in their order.
pub type Key = (u64, u64);

/// Sorts lines.
#[derive(Default)]
pub struct LineSorter {
    folder: PathBuf,
    lines: Vec<u8>,
    /// The lines of the part in memory: keys, and where they end.
    keys: Vec<(Key, usize)>,
    files: Vec<File>,
    /// The first error, after which no line is kept any more.
    error: Option<io::Error>,
}

impl LineSorter {
    /// Creates a sorter without lines. Its files in `folder` have no names, so they go away by themselves.
    pub fn new(folder: PathBuf) -> LineSorter {
        LineSorter { folder, ..LineSorter::default() }
    }

    /// Adds a line.
    pub fn add(&mut self, key: Key, line: &[u8]) {
        if self.error.is_some() {
            return;
        }
        self.lines.extend_from_slice(line);
        self.keys.push((key, self.lines.len()));
        let bytes = self.lines.len() + self.keys.len() * size_of::<(Key, usize)>();
        if bytes >= PART {
            self.error = self.put_aside().err();
        }
    }

    fn put_aside(&mut self) -> io::Result<()> {
        if self.files.len() >= MOST_FILES {
            let mut all = tempfile::tempfile_in(&self.folder)?;
            let mut out = BufWriter::new(&mut all);
            let files = std::mem::take(&mut self.files);
            merge_files(files, |key, line| write_line(&mut out, key, line))?;
            out.flush()?;
            drop(out);
            self.files.push(all);
        }
        let mut file = tempfile::tempfile_in(&self.folder)?;
        let mut out = BufWriter::new(&mut file);
        self.for_each_line(|key, line| write_line(&mut out, key, line))?;
        out.flush()?;
        drop(out);
        self.files.push(file);
        Ok(())
    }

    /// Passes the lines of the part in memory to `to`, in their order, and removes them.
    fn for_each_line(&mut self, mut to: impl FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut begin = 0;
        let mut order = Vec::with_capacity(self.keys.len());
        for (key, end) in self.keys.drain(..) {
            order.push((key, std::mem::replace(&mut begin, end), end));
        }
        order.sort_by_key(|&(key, ..)| key);
        order.into_iter().try_for_each(|(key, begin, end)| to(key, &self.lines[begin..end]))?;
        self.lines.clear();
        Ok(())
    }

    /// Passes all lines to `to`, in their order.
    ///
    /// Errors: writing or reading files fails, or `to` does.
    pub fn finish(mut self, mut to: impl FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.files.is_empty() {
            return self.for_each_line(to);
        }
        self.put_aside()?;
        merge_files(self.files, &mut to)
    }
}

fn write_line(out: &mut impl Write, key: Key, line: &[u8]) -> io::Result<()> {
    let (first, second) = key;
    let length = u32::try_from(line.len()).map_err(io::Error::other)?;
    out.write_all(&first.to_le_bytes())?;
    out.write_all(&second.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(line)
}

/// Reads the next line of a file and returns its key, or `None` at the end.
fn read_line(file: &mut impl Read, line: &mut Vec<u8>) -> io::Result<Option<Key>> {
    let (mut first, mut second, mut length) = ([0; 8], [0; 8], [0; 4]);
    match file.read_exact(&mut first) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    file.read_exact(&mut second)?;
    file.read_exact(&mut length)?;
    line.resize(u32::from_le_bytes(length) as usize, 0);
    file.read_exact(line)?;
    Ok(Some((u64::from_le_bytes(first), u64::from_le_bytes(second))))
}

/// Passes the lines of sorted files to `to`, in their order.
fn merge_files(files: Vec<File>, mut to: impl FnMut(Key, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut open = Vec::with_capacity(files.len());
    // Lines with equal keys come from the earlier file first.
    let mut next = BinaryHeap::new();
    for (at, mut file) in files.into_iter().enumerate() {
        file.rewind()?;
        let (mut file, mut line) = (BufReader::new(file), Vec::new());
        next.extend(read_line(&mut file, &mut line)?.map(|key| Reverse((key, at))));
        open.push((file, line));
    }
    while let Some(Reverse((key, at))) = next.pop() {
        let (file, line) = &mut open[at];
        to(key, line)?;
        next.extend(read_line(file, line)?.map(|key| Reverse((key, at))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_many_parts_are_sorted_and_equal_ones_stay_in_order() {
        let mut sorted = LineSorter::new(std::env::temp_dir());
        let mut expected = Vec::new();
        for n in 0..2000_u64 {
            // Any order of times; each comes several times.
            let key = ((n * 7919) % 501, n % 3);
            let line = format!("{} {} {n:04}\n", key.0, key.1);
            sorted.add(key, line.as_bytes());
            expected.push((key, line));
        }
        assert!(sorted.files.len() > 1 && sorted.files.len() <= MOST_FILES, "{}", sorted.files.len());
        expected.sort_by_key(|(key, _)| *key);
        let mut found = Vec::new();
        sorted.finish(|_, line| found.write_all(line)).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), expected.into_iter().map(|(_, line)| line).collect::<String>());
    }
}
