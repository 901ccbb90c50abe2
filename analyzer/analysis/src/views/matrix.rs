//! Means, or the longest, by row and column.

/// A number for each row and column; NaN where there is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueMatrix {
    /// Number of columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub values: Vec<f32>,
}

impl ValueMatrix {
    /// A matrix without any number but 0.
    pub fn zeros(rows: usize, columns: usize) -> ValueMatrix {
        ValueMatrix { columns, values: vec![0.0; rows * columns] }
    }

    /// Adds to a place; to one that the matrix does not have, nothing.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        if let Some(sum) = self.values.get_mut(row * self.columns + column) {
            *sum += value as f32;
        }
    }

    /// Raises a place to `value` where that is more than what is there, or nothing is.
    pub fn raise(&mut self, row: usize, column: usize, value: f64) {
        if let Some(most) = self.values.get_mut(row * self.columns + column) {
            *most = most.max(value as f32);
        }
    }

    /// Divides each number by that in `counts`, a matrix of the same size; where that is 0 there is none.
    pub fn divide(&mut self, counts: &[u32]) {
        for (sum, &count) in self.values.iter_mut().zip(counts) {
            *sum = if count > 0 { *sum / count as f32 } else { f32::NAN };
        }
    }

    /// The sum of all numbers.
    pub fn sum(&self) -> f64 {
        self.values.iter().filter(|value| !value.is_nan()).map(|&value| f64::from(value)).sum()
    }
}
