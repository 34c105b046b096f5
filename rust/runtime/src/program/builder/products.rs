//! Products of vectors and matrices.

use frazil_core::DType;

use crate::error::BuildError;
use crate::ids::Slot;
use crate::program::instr::InstrKind;

use super::{Builder, Built};

impl Builder {
    /// The product of two operands of one element type: both of rank 1 or 2, or both of a higher
    /// rank, as which they are as many pairs of matrices.
    pub fn dot(&mut self, a: Slot, b: Slot) -> Built<Slot> {
        let (dtype, ndim) = match self.info(a)? {
            info if info.ndim > 2 => (info.dtype, info.ndim),
            _ => self.product(a, b)?,
        };
        if ndim > 2 {
            self.check_rank(b, ndim, "both operands of a product of many matrices have one rank")?;
        }
        self.check_dtype(b, dtype)?;
        self.made(dtype, ndim, |to| InstrKind::Dot { a, b, to })
    }

    /// The element type and rank of a product.
    fn product(&self, a: Slot, b: Slot) -> Built<(DType, usize)> {
        let dtype = self.info(a)?.dtype;
        let mut ndim = 0;
        for slot in [a, b] {
            let info = self.info(slot)?;
            if !(1..=2).contains(&info.ndim) {
                let needed = "dot takes vectors and matrices";
                return Err(BuildError::Rank { slot, given: info.ndim, needed });
            }
            ndim += info.ndim - 1;
        }
        self.check_dtype(b, dtype)?;
        Ok((dtype, ndim))
    }

    /// `beta z + alpha a b`, where `a` or `b` is a matrix; `alpha` and `beta` are 0-d. All are
    /// `float32` or `float64`. Where `beta` is zero, `z` is not read.
    pub fn gemm(&mut self, z: Slot, alpha: Slot, a: Slot, b: Slot, beta: Slot) -> Built<Slot> {
        let (dtype, ndim) = self.product(a, b)?;
        self.check_float(a)?;
        for (slot, expected, needed) in [
            (z, ndim, "what a product is added to has its rank"),
            (alpha, 0, "a factor of gemm is 0-d"),
            (beta, 0, "a factor of gemm is 0-d"),
        ] {
            self.check_rank(slot, expected, needed)?;
            self.check_dtype(slot, dtype)?;
        }
        if ndim == 0 {
            let needed = "gemm takes a matrix and a vector, or two matrices";
            return Err(BuildError::Rank { slot: a, given: 1, needed });
        }
        let operands = Box::new([z, alpha, a, b, beta]);
        self.made(dtype, ndim, |to| InstrKind::Gemm { operands, to })
    }
}
