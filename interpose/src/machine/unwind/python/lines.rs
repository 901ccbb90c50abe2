//! The table of lines of a Python function.
//!
//! In 3.9 and 3.10 (Objects/lnotab_notes.txt) it is pairs of a number of bytes and a signed number of lines to add after the bytes; in 3.10
//! the sum is the line of the bytes themselves, and −128 stands for no line. From 3.11 on (co_linetable, Objects/locations.md)
//! an entry is a byte with its highest bit set: | 1 | code, 4 bits | instructions − 1, 3 bits |, then bytes without that bit. By the code:
//!
//! | code | bytes | line | column |
//! |---|---|---|---|
//! | 0–9 | one | the same | code · 8 + bits 4–6 of the byte |
//! | 10–12 | two | code − 10 more | the first byte |
//! | 13 | a signed number | the number more | not known |
//! | 14 | a signed number, then three | the number more | the third number less 1 |
//! | 15 | none | there is none | |
//!
//! Numbers have 6 bits a byte, the lowest first; bit 6: another byte follows. The lowest bit of a signed one is its sign.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourcePosition {
    /// The line; 0: none.
    pub line: u32,
    /// The column, from 0 on; `None`: not known.
    pub column: Option<u32>,
    /// Up to where the table was read for that.
    pub bytes: usize,
}

/// Returns the position of an instruction in a table of pairs, like [`line_position`], by the byte at which it begins. `of_bytes`: a pair states the line of its
/// own bytes.
pub fn position_in_pairs(table: &[u8], first: u32, byte: usize, of_bytes: bool) -> Option<SourcePosition> {
    let (mut line, mut end) = (i64::from(first), 0);
    for (at, &[bytes, lines]) in (0..).zip(table.as_chunks().0) {
        end += usize::from(bytes);
        let is_past = byte < end;
        let has_line = !of_bytes || lines != 0x80;
        if has_line && (of_bytes || !is_past) {
            line += i64::from(lines as i8);
        }
        if is_past {
            let line = if has_line { u32::try_from(line).ok()? } else { 0 };
            return Some(SourcePosition { line, column: None, bytes: 2 * at + 2 });
        }
    }
    if of_bytes {
        return None;
    }
    // The last line of the older form goes on to the end.
    Some(SourcePosition { line: u32::try_from(line).ok()?, column: None, bytes: table.len() })
}

/// Returns the position of an instruction, given as its number in its function, whose table begins at line `first`, or `None` if the table does not reach
/// it.
pub fn line_position(table: &[u8], first: u32, instruction: usize) -> Option<SourcePosition> {
    let mut line = i64::from(first);
    let mut passed = 0;
    let mut at = 0;
    loop {
        let head = *table.get(at)?;
        let mut numbers = LineTableReader { table, at: at + 1 };
        let code = u32::from(head >> 3 & 15);
        let mut column = None;
        match code {
            0..=9 => column = Some(code << 3 | u32::from(*table.get(at + 1)?) >> 4 & 7),
            10..=12 => {
                line += i64::from(code - 10);
                column = Some(u32::from(*table.get(at + 1)?));
            }
            13 => line += numbers.signed()?,
            14 => {
                line += numbers.signed()?;
                numbers.unsigned()?;
                column = u32::try_from(numbers.unsigned()?).ok()?.checked_sub(1);
            }
            _ => {}
        }
        passed += usize::from(head & 7) + 1;
        at += 1 + table.get(at + 1..)?.iter().take_while(|&&byte| byte < 0x80).count();
        if instruction < passed {
            let line = if code == 15 { 0 } else { u32::try_from(line).ok()? };
            return Some(SourcePosition { line, column, bytes: at });
        }
    }
}

struct LineTableReader<'a> {
    table: &'a [u8],
    at: usize,
}

impl LineTableReader<'_> {
    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(6) {
            let byte = u64::from(*self.table.get(self.at)?);
            self.at += 1;
            value |= (byte & 63) << shift;
            if byte & 64 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        let magnitude = i64::try_from(value >> 1).ok()?;
        Some(if value & 1 == 0 { magnitude } else { -magnitude })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(table: &[u8], first: u32, instruction: usize) -> Option<(u32, Option<u32>)> {
        line_position(table, first, instruction).map(|found| (found.line, found.column))
    }

    #[test]
    fn each_kind_of_entry_has_its_line_and_column() {
        // 2 instructions on line 10, column 8·1 + 4; 1 on line 12, column 5; 8 on line 12 − 3; 1 without a line; 3 on line 9 + 70, column 200
        let long = [0x80 | 14 << 3 | 2, 12 | 64, 2, 0, 9 | 64, 3, 0];
        let table = [0x80 | 1 << 3 | 1, 4 << 4 | 2, 0x80 | 12 << 3, 5, 9, 0x80 | 13 << 3 | 7, 7, 0x80 | 15 << 3];
        let table = [&table[..], &long].concat();
        assert_eq!((of(&table, 10, 0), of(&table, 10, 1)), (Some((10, Some(12))), Some((10, Some(12)))));
        assert_eq!(of(&table, 10, 2), Some((12, Some(5))));
        assert_eq!((of(&table, 10, 3), of(&table, 10, 10)), (Some((9, None)), Some((9, None))));
        assert_eq!(of(&table, 10, 11), Some((0, None)));
        assert_eq!(of(&table, 10, 12), Some((9 + 70, Some(200))));
        assert_eq!(of(&table, 10, 15), None, "the table ends before");
        assert_eq!(line_position(&table, 10, 2).map(|found| found.bytes), Some(5));
    }

    #[test]
    fn tables_of_pairs_have_the_lines_that_python_gives() {
        // co_lnotab of a function of 3.9 at line 10: bytes 0 to 5 on line 11, 6 to 9 on line 14, then line 12; more than 127 lines take two pairs.
        let before = [0, 1, 6, 3, 4, 0xfe, 2, 127, 0, 73];
        let lines = |byte| position_in_pairs(&before, 10, byte, false).map(|found| found.line);
        assert_eq!([0, 5, 6, 9, 10, 12, 200].map(lines), [11, 11, 14, 14, 12, 212, 212].map(Some));
        // co_linetable of 3.10: the same lines, and 2 bytes without a line.
        let of_bytes = [6, 1, 4, 3, 2, 0x80, 2, 0xfe];
        let lines = |byte| position_in_pairs(&of_bytes, 10, byte, true).map(|found| (found.line, found.bytes));
        assert_eq!([0, 6, 10, 12].map(lines), [(11, 2), (14, 4), (0, 6), (12, 8)].map(Some));
        assert_eq!(lines(14), None, "the table ends before");
    }

    #[test]
    fn a_damaged_table_gives_nothing() {
        assert_eq!(of(&[], 1, 0), None);
        assert_eq!(of(&[0x80], 1, 0), None);
        assert_eq!(of(&[0x80 | 14 << 3, 64, 64], 1, 0), None);
        assert_eq!(of(&[0x80 | 13 << 3, 5], 1, 0), None, "a line before the first");
    }
}
