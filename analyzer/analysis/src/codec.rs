//! Values ↔ bytes that travel between processes or lie in temporary files. The only file of the analyzer that knows which crate encodes them.
//!
//! Both ends are the same program (each message states the version), so the bytes are described nowhere: they are no format.

use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};

type Config<const MEMORY: usize> = Configuration<LittleEndian, Varint, Limit<MEMORY>>;

/// Most bytes of memory for each byte of a value: the largest element that takes one byte is a table of some pointers.
const MEMORY_A_BYTE: usize = 256;

const SMALL_BYTES: usize = 1 << 20;
const LARGE_BYTES: usize = 1 << 36;

/// Encodes a value.
pub fn encode_value<T: Encode>(value: &T) -> Vec<u8> {
    // Writing to memory fails only for types that have no encoding: none of ours.
    bincode::encode_to_vec(value, bincode::config::standard()).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Decodes a value, or returns `None` if `bytes` are no value, or something follows it. Allocations are bounded by the number of
/// bytes, so that a wrong length takes no memory.
pub fn decode_value<T: Decode<()>>(bytes: &[u8]) -> Option<T> {
    // Few limits: the code that decodes is generated for each of them.
    match bytes.len() {
        0..=SMALL_BYTES => decode_within::<T, { SMALL_BYTES * MEMORY_A_BYTE }>(bytes),
        _ => decode_within::<T, { LARGE_BYTES * MEMORY_A_BYTE }>(bytes),
    }
}

fn decode_within<T: Decode<()>, const MEMORY: usize>(bytes: &[u8]) -> Option<T> {
    let config: Config<MEMORY> = bincode::config::standard().with_limit::<MEMORY>();
    let (value, taken) = bincode::decode_from_slice(bytes, config).ok()?;
    (taken == bytes.len()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_comes_back_and_nothing_else_is_one() {
        let value = vec![(7_u32, "seven".to_owned()), (8, String::new())];
        let bytes = encode_value(&value);
        assert_eq!(decode_value(&bytes), Some(value));
        assert_eq!(decode_value::<Vec<(u32, String)>>(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode_value::<Vec<(u32, String)>>(&[bytes, vec![0]].concat()), None);
    }

    #[test]
    fn a_wrong_length_takes_no_memory() {
        let bytes = encode_value(&(u64::MAX >> 8));
        assert_eq!(decode_value::<Vec<[u64; 16]>>(&bytes), None);
        assert_eq!(decode_value::<String>(&bytes), None);
    }
}
