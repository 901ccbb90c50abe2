//! Values ↔ bytes of headers, definitions, profiles and columns. Fields at fixed offsets are coded by [`crate::record::FIXED`].
//!
//! docs/log-format.md defines the bytes. In short: integers above one byte as [`put_varint`] writes them (signed ones
//! after [`encode_zigzag`]), `u8` and `f64` as they are, lists and strings after their length, enums after their variant's index.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};

/// Maximum number of bytes that decoding one value may allocate. A hostile length fails instead of taking memory.
const MEMORY: usize = 64 << 20;

const CONFIG: Configuration<LittleEndian, Varint, Limit<MEMORY>> = bincode::config::standard().with_limit::<MEMORY>();

pub(crate) fn put_value<T: Encode>(value: &T, out: &mut Vec<u8>) {
    // Writing to memory fails only for types that have no encoding (a locked mutex, a path that is not UTF-8): none of ours.
    if let Err(error) = bincode::encode_into_std_write(value, out, CONFIG) {
        unreachable!("{error}");
    }
}

/// Writes `value` into `out` without allocating. Returns its number of bytes, or `None` if they do not fit.
pub(crate) fn put_into<T: Encode>(value: &T, out: &mut [u8]) -> Option<usize> {
    bincode::encode_into_slice(value, out, CONFIG).ok()
}

/// Decodes the value at the begin of `bytes`. Returns it and its number of bytes, or `None` if there is none.
pub(crate) fn decode_value<T: Decode<()>>(bytes: &[u8]) -> Option<(T, usize)> {
    bincode::decode_from_slice(bytes, CONFIG).ok()
}

/// Appends an integer: one byte up to 250; else 251, 252 or 253 and two, four or eight bytes, little-endian.
pub(crate) fn put_varint(value: u64, out: &mut Vec<u8>) {
    match value {
        0..=250 => out.push(value as u8),
        251..=0xffff => {
            out.push(251);
            out.extend_from_slice(&(value as u16).to_le_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(252);
            out.extend_from_slice(&(value as u32).to_le_bytes());
        }
        _ => {
            out.push(253);
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Takes an integer off the front of `bytes`, or returns `None` if they end within it or begin with 254 or 255.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(match first {
        0..=250 => u64::from(first),
        251 => u64::from(u16::from_le_bytes(take_array(bytes)?)),
        252 => u64::from(u32::from_le_bytes(take_array(bytes)?)),
        253 => u64::from_le_bytes(take_array(bytes)?),
        _ => return None,
    })
}

pub(crate) fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (array, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*array)
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(field_bytes(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(field_bytes(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(field_bytes(bytes, at))
}

/// Returns the `N` bytes at the offset of a field, or zeros if there are fewer.
fn field_bytes<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

pub(crate) fn take_slice<'a>(bytes: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
    let (slice, rest) = bytes.split_at_checked(n)?;
    *bytes = rest;
    Some(slice)
}

pub(crate) fn put_columns(columns: &[Vec<u8>], out: &mut Vec<u8>) {
    for column in columns {
        put_varint(column.len() as u64, out);
    }
    for column in columns {
        out.extend_from_slice(column);
    }
}

/// Returns the columns that `bytes` hold after their sizes, and nothing else.
pub(crate) fn take_columns<const N: usize>(mut bytes: &[u8]) -> Option<[&[u8]; N]> {
    let mut sizes = [0; N];
    for size in &mut sizes {
        *size = usize::try_from(take_varint(&mut bytes)?).ok()?;
    }
    let mut columns = [&[][..]; N];
    for (column, size) in columns.iter_mut().zip(sizes) {
        *column = take_slice(&mut bytes, size)?;
    }
    bytes.is_empty().then_some(columns)
}

/// Maps small numbers of either sign to small numbers: 0, −1, 1, −2 … become 0, 1, 2, 3 …
pub(crate) fn encode_zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

pub(crate) fn decode_zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: [u64; 12] =
        [0, 1, 250, 251, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, 1 << 63, u64::MAX - 1, u64::MAX, 1000];

    #[test]
    fn the_columns_write_integers_as_the_definitions_do() {
        for value in EDGES {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            put_varint(value, &mut ours);
            put_value(&value, &mut theirs);
            assert_eq!(ours, theirs);
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            put_varint(encode_zigzag(value as i64), &mut ours);
            put_value(&(value as i64), &mut theirs);
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn a_hostile_length_takes_no_memory() {
        let mut bytes = Vec::new();
        put_varint(1 << 40, &mut bytes);
        assert!(decode_value::<Vec<u64>>(&bytes).is_none());
        assert!(decode_value::<String>(&bytes).is_none());
    }
}
