//! Lengths, and integers that stand for them.

use frazil_core::DType;

use crate::arrays::strided::read_integer;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::instr::InstrKind;
use crate::program::size::{SizeExpr, SizeOp};

use super::{Builder, Built};

/// When a size can be evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SizeInfo {
    /// The number of instructions that must have come before.
    pub(crate) ready: usize,
    /// Whether it depends on more than the shapes of the inputs.
    pub(crate) dynamic: bool,
}

impl Builder {
    /// A number.
    pub fn size_literal(&mut self, value: i64) -> Built<Size> {
        self.size(SizeExpr::Literal(value))
    }

    /// The length of an axis of a slot.
    pub fn size_of(&mut self, slot: Slot, axis: usize) -> Built<Size> {
        let ndim = self.info(slot)?.ndim;
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        if let Some(constant) = self.constants.iter().find(|constant| constant.slot == slot) {
            let length = constant.array.layout.dims[axis];
            return self.size(SizeExpr::Literal(length));
        }
        let input = self.inputs.iter().find(|input| input.slot == slot);
        if let Some(length) = input.and_then(|input| input.ty.shape[axis]) {
            return self.size(SizeExpr::Literal(length as i64));
        }
        self.size(SizeExpr::Dim(slot, axis as u32))
    }

    /// Two sizes combined.
    pub fn size_binary(&mut self, op: SizeOp, a: Size, b: Size) -> Built<Size> {
        self.check_sizes([a, b])?;
        self.size(SizeExpr::Binary(op, a, b))
    }

    /// `a` where `condition` is not zero, else `b`.
    pub fn size_where(&mut self, condition: Size, a: Size, b: Size) -> Built<Size> {
        self.check_sizes([condition, a, b])?;
        self.size(SizeExpr::Where(condition, a, b))
    }

    /// The value of a 0-d integer or boolean slot.
    pub fn size_value(&mut self, slot: Slot) -> Built<Size> {
        self.check_rank(slot, 0, "a size is 0-d")?;
        let dtype = self.info(slot)?.dtype;
        if dtype.is_float() {
            let needed = "a size is an integer";
            return Err(BuildError::UnsupportedDType { slot, given: dtype, needed });
        }
        if let Some(constant) = self.constants.iter().find(|constant| constant.slot == slot) {
            // SAFETY: a constant points at an aligned element of its type, kept alive by its
            // keeper.
            let value = unsafe { read_integer(dtype, constant.array.data) };
            return self.size(SizeExpr::Literal(value));
        }
        self.size(SizeExpr::Value(slot))
    }

    fn size(&mut self, expr: SizeExpr) -> Built<Size> {
        let size = self.sizes.add(expr);
        if size.index() == self.size_infos.len() {
            if size.index() >= (1 << 30) {
                return Err(BuildError::TooLarge);
            }
            let info = self.size_info(expr);
            self.size_infos.push(info);
        }
        Ok(size)
    }

    fn size_info(&self, expr: SizeExpr) -> SizeInfo {
        let of_slot = |slot: Slot| {
            let info = self.slots[slot.index()];
            SizeInfo { ready: info.made_by.map_or(0, |at| at + 1), dynamic: info.dynamic }
        };
        let of_sizes = |sizes: &[Size]| {
            let infos = sizes.iter().map(|size| self.size_infos[size.index()]);
            infos.fold(SizeInfo { ready: 0, dynamic: false }, |all, info| SizeInfo {
                ready: all.ready.max(info.ready),
                dynamic: all.dynamic || info.dynamic,
            })
        };
        match expr {
            SizeExpr::Literal(_) => of_sizes(&[]),
            SizeExpr::Dim(slot, _) => of_slot(slot),
            SizeExpr::Value(slot) => SizeInfo { dynamic: true, ..of_slot(slot) },
            SizeExpr::Binary(_, a, b) => of_sizes(&[a, b]),
            SizeExpr::Where(condition, a, b) => of_sizes(&[condition, a, b]),
        }
    }

    pub(crate) fn check_sizes(&self, sizes: impl IntoIterator<Item = Size>) -> Built<()> {
        for size in sizes {
            if !self.sizes.contains(size) {
                return Err(BuildError::NoSize(size));
            }
        }
        Ok(())
    }

    /// A 0-d `int64`.
    pub fn size_scalar(&mut self, size: Size) -> Built<Slot> {
        self.check_sizes([size])?;
        self.made(DType::Int64, 0, |to| InstrKind::Scalar { size, to })
    }

    /// Stops the call unless the sizes are equal; they stand for `{a}` and `{b}` in the message.
    pub fn require_equal(&mut self, a: Size, b: Size, message: &str) -> Built<()> {
        self.push_equal(a, b, message, false)
    }

    /// Stops the call as [`Self::require_equal`] does, with the error of an index that does not fit.
    pub fn require_indices(&mut self, a: Size, b: Size, message: &str) -> Built<()> {
        self.push_equal(a, b, message, true)
    }

    fn push_equal(&mut self, a: Size, b: Size, message: &str, of_index: bool) -> Built<()> {
        self.check_sizes([a, b])?;
        let dynamic = self.depends([], [a, b])?;
        self.push(InstrKind::RequireEqual { a, b, message: message.into(), of_index }, dynamic);
        Ok(())
    }

    /// Stops the call if `holds` is 0: `asserted` says whether the error is an assertion's.
    pub fn check(&mut self, holds: Size, message: &str, asserted: bool) -> Built<()> {
        self.check_sizes([holds])?;
        let dynamic = self.depends([], [holds])?;
        self.push(InstrKind::Check { holds, message: message.into(), asserted }, dynamic);
        Ok(())
    }
}
