//! Conditions on operands that several kinds of instructions share.

use frazil_core::DType;

use crate::error::BuildError;
use crate::ids::Slot;

use super::{Builder, Built};

pub(crate) fn check_count(what: &'static str, given: usize, expected: usize) -> Built<()> {
    if given == expected { Ok(()) } else { Err(BuildError::Count { what, given, expected }) }
}

/// Checks that axes are below `ndim` and differ.
pub(super) fn check_axes(axes: &[usize], ndim: usize) -> Built<()> {
    for (at, &axis) in axes.iter().enumerate() {
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        if axes[..at].contains(&axis) {
            return Err(BuildError::RepeatedAxis { axis });
        }
    }
    Ok(())
}

impl Builder {
    /// The element type of matrices of floats, one or a stack of them, and their rank.
    pub(super) fn check_matrices(&self, slot: Slot) -> Built<(DType, usize)> {
        let info = self.info(slot)?;
        if info.ndim < 2 {
            let needed = "matrices are needed";
            return Err(BuildError::Rank { slot, given: info.ndim, needed });
        }
        self.check_float(slot)?;
        Ok((info.dtype, info.ndim))
    }

    pub(super) fn check_rank(
        &self,
        slot: Slot,
        expected: usize,
        needed: &'static str,
    ) -> Built<()> {
        let given = self.info(slot)?.ndim;
        if given == expected { Ok(()) } else { Err(BuildError::Rank { slot, given, needed }) }
    }

    pub(super) fn check_float(&self, slot: Slot) -> Built<()> {
        let given = self.info(slot)?.dtype;
        if matches!(given, DType::Float32 | DType::Float64) {
            return Ok(());
        }
        let needed = "float32 or float64 is needed";
        Err(BuildError::UnsupportedDType { slot, given, needed })
    }

    pub(crate) fn check_dtype(&self, slot: Slot, expected: DType) -> Built<()> {
        let given = self.info(slot)?.dtype;
        if given == expected { Ok(()) } else { Err(BuildError::DType { slot, given, expected }) }
    }
}
