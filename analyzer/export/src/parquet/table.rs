//! A table as a Parquet file: its columns, and rows that are written in groups.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

/// The format of the files: the value of the key `schema`.
pub const SCHEMA: &str = "lbprof-parquet/1";

/// Rows of a group, which are in memory at a time.
const GROUP: usize = 1 << 16;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers of ranks, threads and the like: 32 bits.
    Number,
    /// Counts and bytes: 64 bits.
    Count,
    /// Nanoseconds since the start of the run: 64 bits.
    Time,
    /// Seconds, or another figure.
    Real,
    /// A text in UTF-8.
    Text,
}

impl ColumnKind {
    /// Its name in the documents.
    pub fn name(self) -> &'static str {
        match self {
            ColumnKind::Number => "int32",
            ColumnKind::Count | ColumnKind::Time => "int64",
            ColumnKind::Real => "double",
            ColumnKind::Text => "text",
        }
    }
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetColumn {
    /// Its name.
    pub name: String,
    /// Type of the cells.
    pub kind: ColumnKind,
    /// True if it may have no value.
    pub optional: bool,
    /// Meaning of the cells.
    pub meaning: &'static str,
}

impl ParquetColumn {
    pub(super) fn required(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
        ParquetColumn { name: name.to_owned(), kind, optional: false, meaning }
    }

    pub(super) fn optional(name: &str, kind: ColumnKind, meaning: &'static str) -> ParquetColumn {
        ParquetColumn { optional: true, ..ParquetColumn::required(name, kind, meaning) }
    }
}

/// A cell of a row.
#[derive(Clone, Debug)]
pub enum ParquetCell {
    /// A whole number.
    Whole(i64),
    /// A figure.
    Real(f64),
    /// A text.
    Text(ByteArray),
    /// No value.
    Null,
}

/// Makes cells of values.
macro_rules! cells_from {
    ($($T:ty: |$value:ident| $cell:expr;)*) => {
        $(impl From<$T> for ParquetCell {
            fn from($value: $T) -> ParquetCell {
                $cell
            }
        })*
    };
}

cells_from! {
    u32: |number| ParquetCell::Whole(number.into());
    i32: |number| ParquetCell::Whole(number.into());
    i64: |number| ParquetCell::Whole(number);
    bool: |is_so| ParquetCell::Whole(is_so.into());
    // No count of a run reaches the largest number.
    u64: |count| ParquetCell::Whole(i64::try_from(count).unwrap_or(i64::MAX));
    f64: |value| if value.is_finite() { ParquetCell::Real(value) } else { ParquetCell::Null };
    &str: |text| ParquetCell::Text(ByteArray::from(text));
    String: |text| ParquetCell::Text(ByteArray::from(text.into_bytes()));
    ByteArray: |text| ParquetCell::Text(text);
}

impl<T: Into<ParquetCell>> From<Option<T>> for ParquetCell {
    fn from(value: Option<T>) -> ParquetCell {
        value.map_or(ParquetCell::Null, T::into)
    }
}

struct ColumnValues {
    kind: ColumnKind,
    optional: bool,
    levels: Vec<i16>,
    numbers: Vec<i32>,
    counts: Vec<i64>,
    reals: Vec<f64>,
    texts: Vec<ByteArray>,
}

impl ColumnValues {
    fn new(column: &ParquetColumn) -> ColumnValues {
        let &ParquetColumn { kind, optional, .. } = column;
        let (levels, numbers, counts, reals, texts) = Default::default();
        ColumnValues { kind, optional, levels, numbers, counts, reals, texts }
    }

    fn push(&mut self, cell: ParquetCell) {
        let is_there = match (self.kind, cell) {
            // The numbers of ranks, threads and lines fit.
            (ColumnKind::Number, ParquetCell::Whole(value)) => {
                let number = i32::try_from(value).ok();
                self.numbers.extend(number);
                number.is_some()
            }
            (ColumnKind::Count | ColumnKind::Time, ParquetCell::Whole(value)) => {
                self.counts.push(value);
                true
            }
            (ColumnKind::Real, ParquetCell::Real(value)) => {
                self.reals.push(value);
                true
            }
            (ColumnKind::Text, ParquetCell::Text(text)) => {
                self.texts.push(text);
                true
            }
            _ => false,
        };
        if self.optional {
            self.levels.push(is_there.into());
        } else if !is_there {
            self.push_nothing();
        }
    }

    fn push_nothing(&mut self) {
        match self.kind {
            ColumnKind::Number => self.numbers.push(-1),
            ColumnKind::Count | ColumnKind::Time => self.counts.push(0),
            ColumnKind::Real => self.reals.push(f64::NAN),
            ColumnKind::Text => self.texts.push(ByteArray::from("")),
        }
    }

    fn write(&mut self, writer: &mut SerializedColumnWriter) -> Result<(), ParquetError> {
        fn write_values<T: DataType>(
            to: &mut ColumnWriterImpl<T>,
            values: &mut Vec<T::T>,
            levels: Option<&[i16]>,
        ) -> Result<(), ParquetError> {
            to.write_batch(values, levels, None)?;
            values.clear();
            Ok(())
        }
        let levels = self.optional.then_some(self.levels.as_slice());
        match self.kind {
            ColumnKind::Number => write_values(writer.typed::<Int32Type>(), &mut self.numbers, levels),
            ColumnKind::Count | ColumnKind::Time => write_values(writer.typed::<Int64Type>(), &mut self.counts, levels),
            ColumnKind::Real => write_values(writer.typed::<DoubleType>(), &mut self.reals, levels),
            ColumnKind::Text => write_values(writer.typed::<ByteArrayType>(), &mut self.texts, levels),
        }?;
        self.levels.clear();
        Ok(())
    }
}

/// A table that is written.
pub struct ParquetTable<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnValues>,
    rows: usize,
    error: Option<ParquetError>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// The table of this name with these columns, written to `out`.
    pub fn new(out: W, name: &str, columns: &[ParquetColumn]) -> io::Result<ParquetTable<W>> {
        let schema = table_schema(name, columns).map_err(io::Error::other)?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(writer_properties(columns)));
        let file = file.map_err(io::Error::other)?;
        Ok(ParquetTable { file, columns: columns.iter().map(ColumnValues::new).collect(), rows: 0, error: None })
    }

    /// Adds a row. Cells that are missing at its end are null.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = ParquetCell>) {
        if self.error.is_some() {
            return;
        }
        let mut cells = row.into_iter();
        for column in &mut self.columns {
            column.push(cells.next().unwrap_or(ParquetCell::Null));
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.error = self.write_group().err();
        }
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for values in &mut self.columns {
            if let Some(mut column) = group.next_column()? {
                values.write(&mut column)?;
                column.close()?;
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes what is left, and the file's end.
    ///
    /// Errors: the first that there was in writing.
    pub fn finish(mut self) -> io::Result<()> {
        let last = match self.error.take() {
            Some(error) => Err(error),
            None if self.rows > 0 => self.write_group(),
            None => Ok(()),
        };
        let closed = last.and_then(|()| self.file.finish().map(drop));
        closed.map_err(io::Error::other)?;
        self.file.inner_mut().flush()
    }
}

fn table_schema(name: &str, columns: &[ParquetColumn]) -> Result<Type, ParquetError> {
    let mut fields = Vec::new();
    for column in columns {
        let (physical, logical) = match column.kind {
            ColumnKind::Number => (Physical::INT32, None),
            ColumnKind::Count | ColumnKind::Time => (Physical::INT64, None),
            ColumnKind::Real => (Physical::DOUBLE, None),
            ColumnKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if column.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(repetition);
        fields.push(Arc::new(builder.with_logical_type(logical).build()?));
    }
    Type::group_type_builder(name).with_fields(fields).build()
}

fn writer_properties(columns: &[ParquetColumn]) -> WriterProperties {
    let about = KeyValue::new("schema".to_owned(), super::SCHEMA.to_owned());
    let all = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("lb-report ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![about]));
    // Times ascend, and no two are the same: their differences are small.
    let times = columns.iter().filter(|column| column.kind == ColumnKind::Time);
    let paths = times.map(|column| ColumnPath::from(column.name.as_str()));
    let all = paths.fold(all, |all, path| {
        let all = all.set_column_dictionary_enabled(path.clone(), false);
        all.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
    });
    all.build()
}
