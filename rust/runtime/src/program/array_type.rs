//! The facts that a program knows of an array before it runs.

use std::fmt;

use frazil_core::DType;
use serde::{Deserialize, Serialize};

use crate::program::listing::list;

/// Element type and known lengths of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayType {
    /// The element type.
    pub dtype: DType,
    /// The length of each axis, where it is known.
    pub shape: Box<[Option<u64>]>,
}

impl ArrayType {
    /// The type of arrays of `dtype` and `shape`.
    pub fn new(dtype: DType, shape: &[Option<u64>]) -> ArrayType {
        ArrayType { dtype, shape: shape.into() }
    }

    /// Whether an array of these lengths has this type's shape.
    pub(crate) fn admits(&self, dims: &[i64]) -> bool {
        let fits =
            |(known, &given): (&Option<u64>, &i64)| known.is_none_or(|known| known == given as u64);
        self.shape.len() == dims.len() && self.shape.iter().zip(dims).all(fits)
    }

    /// The known lengths, as numbers of arrays.
    pub(crate) fn lengths(&self) -> Vec<Option<i64>> {
        self.shape.iter().map(|known| known.map(|known| known as i64)).collect()
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |dim: &Option<u64>| dim.map_or("?".to_owned(), |length| length.to_string());
        write!(f, "{}[{}]", self.dtype, list(self.shape.iter().map(known)))
    }
}
