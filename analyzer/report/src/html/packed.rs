//! Packs many numbers into a JSON string: base64 of gzip of little-endian numbers.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use half::f16;
use serde::{Serialize, Serializer};

/// An array of numbers: each is the stored value times `scale`.
#[derive(Clone, Debug, Serialize, crate::JsonSchema)]
pub(super) struct PackedNumbers {
    /// Encoding of the numbers, little-endian.
    #[serde(rename = "type")]
    kind: NumberEncoding,
    /// Factor of the stored numbers.
    scale: f64,
    /// Base64 of gzip of the stored numbers.
    data: String,
}

/// The encoding of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, crate::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NumberEncoding {
    /// 8 bits without sign.
    U8,
    /// 32 bits without sign; 4294967295: none.
    U32,
    /// 32 bits with sign.
    I32,
    /// IEEE half floats; NaN: none.
    F16,
    /// IEEE floats; NaN: none.
    F32,
}

/// Arrays by name, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct ByName(pub(super) Vec<(&'static str, PackedNumbers)>);

impl Serialize for ByName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

/// Number of entries from which half floats replace `f32`, with errors of at most 0.05 %.
const MOST_EXACT: usize = 1 << 16;

/// Scaled maximum of half floats, which end at 65,504.
const LARGEST_HALF: f32 = 60_000.0;

/// Packs floats. NaN marks a missing value.
pub(super) fn pack_floats(values: &[f32]) -> io::Result<PackedNumbers> {
    if values.len() <= MOST_EXACT {
        return pack_data(NumberEncoding::F32, 1.0, values.iter().flat_map(|value| value.to_le_bytes()));
    }
    let largest =
        values.iter().copied().filter(|value| value.is_finite()).fold(0.0, |most: f32, one| most.max(one.abs()));
    let scale = if largest > 0.0 { largest / LARGEST_HALF } else { 1.0 };
    pack_data(
        NumberEncoding::F16,
        f64::from(scale),
        values.iter().flat_map(|value| f16::from_f32(value / scale).to_le_bytes()),
    )
}

/// Packs whole numbers, scaled by `scale`. 2³² − 1 marks a missing value.
pub(super) fn whole_numbers(values: &[u32], scale: f64) -> io::Result<PackedNumbers> {
    pack_data(NumberEncoding::U32, scale, values.iter().flat_map(|value| value.to_le_bytes()))
}

pub(super) fn pack_signed(values: &[i32]) -> io::Result<PackedNumbers> {
    pack_data(NumberEncoding::I32, 1.0, values.iter().flat_map(|value| value.to_le_bytes()))
}

/// Packs small whole numbers, scaled by `scale`.
pub(super) fn pack_bytes(values: &[u8], scale: f64) -> io::Result<PackedNumbers> {
    pack_data(NumberEncoding::U8, scale, values.iter().copied())
}

fn pack_data(kind: NumberEncoding, scale: f64, bytes: impl Iterator<Item = u8>) -> io::Result<PackedNumbers> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&bytes.collect::<Vec<u8>>())?;
    let data = STANDARD.encode(encoder.finish()?);
    Ok(PackedNumbers { kind, scale, data })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn bytes(value: &PackedNumbers) -> Vec<u8> {
        let mut bytes = Vec::new();
        let data = STANDARD.decode(&value.data).unwrap();
        GzDecoder::new(data.as_slice()).read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn few_numbers_are_exact() {
        let value = pack_floats(&[0.0, 1.1, f32::NAN]).unwrap();
        assert_eq!((value.kind, value.scale), (NumberEncoding::F32, 1.0));
        let read: Vec<f32> = bytes(&value).chunks(4).map(|one| f32::from_le_bytes(one.try_into().unwrap())).collect();
        assert_eq!(read[..2], [0.0, 1.1]);
        assert!(read[2].is_nan());
    }

    #[test]
    fn many_numbers_differ_by_little_whatever_their_size() {
        let mut values: Vec<f32> = (0..70_000).map(|at| 1e-6 * (1.0 + at as f32)).collect();
        // One is ten thousand times the next.
        (values[0], values[1]) = (1e3, f32::NAN);
        let value = pack_floats(&values).unwrap();
        assert_eq!(value.kind, NumberEncoding::F16);
        let scale = value.scale;
        let read: Vec<f64> =
            bytes(&value).chunks(2).map(|one| scale * f16::from_le_bytes(one.try_into().unwrap()).to_f64()).collect();
        assert!(read[1].is_nan());
        for (read, value) in read.iter().zip(&values).filter(|(_, value)| !value.is_nan()) {
            assert!((read - f64::from(*value)).abs() <= 5e-4 * f64::from(*value), "{read} for {value}");
        }
    }

    #[test]
    fn whole_numbers_are_themselves() {
        assert_eq!(bytes(&whole_numbers(&[1, u32::MAX], 0.5).unwrap()), [1, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(bytes(&pack_signed(&[-1]).unwrap()), [255; 4]);
        assert_eq!(bytes(&pack_bytes(&[7, 255], 1.0 / 255.0).unwrap()), [7, 255]);
    }
}
