//! Arrays of elements that are given: copies, updates, joins, ranges.

use frazil_core::DType;

use crate::arrays::view::Index;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::instr::InstrKind;

use super::{Builder, Built, SlotInfo};

impl Builder {
    /// A fresh array in C order.
    pub fn copy(&mut self, of: Slot) -> Built<Slot> {
        let info = self.info(of)?;
        self.made(info.dtype, info.ndim, |to| InstrKind::Copy { of, to })
    }

    /// `of` with the elements that `view` picks set to `value`, broadcast: in place if nothing reads
    /// the memory of `of` afterwards and the run may write to it, else in a fresh copy.
    pub fn set(&mut self, of: Slot, view: &[Index<Size>], value: Slot) -> Built<Slot> {
        self.update(of, view, value, false)
    }

    /// As [`Builder::set`], with the elements that `view` picks increased by `value`.
    pub fn increment(&mut self, of: Slot, view: &[Index<Size>], value: Slot) -> Built<Slot> {
        self.update(of, view, value, true)
    }

    fn update(
        &mut self,
        of: Slot,
        view: &[Index<Size>],
        value: Slot,
        accumulate: bool,
    ) -> Built<Slot> {
        let ndim = self.check_indices(of, view)?;
        let info = self.info(of)?;
        let given = self.info(value)?;
        self.check_dtype(value, info.dtype)?;
        if given.ndim > ndim {
            return Err(BuildError::Rank {
                slot: value,
                given: given.ndim,
                needed: "the value has more axes than what it is stored into",
            });
        }
        let view: Box<[Index<Size>]> = view.into();
        self.made(info.dtype, info.ndim, |to| InstrKind::Update { of, to, view, value, accumulate })
    }

    /// `count` integers, the first `start`, each larger by `step`; they wrap around.
    pub fn range(&mut self, start: Size, step: Size, count: Size) -> Built<Slot> {
        self.check_sizes([start, step, count])?;
        self.made(DType::Int64, 1, |to| InstrKind::Range { start, step, count, to })
    }

    /// The number of terms of the progression from `start` on in steps of `step` has before `stop`, all
    /// three 0-d and of one element type. A step of zero fails, as do ends without a distance.
    pub fn count_terms(&mut self, start: Slot, stop: Slot, step: Slot) -> Built<Slot> {
        self.check_terms(&[start, stop, step])?;
        self.made(DType::Int64, 0, |to| InstrKind::CountTerms { start, stop, step, to })
    }

    /// The first `count` terms of a progression: as NumPy computes them, `start`, `start + step`, and
    /// then `start` and so many times the difference of the two.
    pub fn terms(&mut self, start: Slot, step: Slot, count: Size) -> Built<Slot> {
        let dtype = self.check_terms(&[start, step])?;
        self.check_sizes([count])?;
        self.made(dtype, 1, |to| InstrKind::Terms { start, step, count, to })
    }

    fn check_terms(&self, given: &[Slot]) -> Built<DType> {
        let dtype = self.info(given[0])?.dtype;
        for &slot in given {
            self.check_rank(slot, 0, "a progression is given by 0-d values")?;
            self.check_dtype(slot, dtype)?;
        }
        Ok(dtype)
    }

    /// The parts one after the other along an axis.
    pub fn join(&mut self, parts: &[Slot], axis: usize) -> Built<Slot> {
        let Some(&first) = parts.first() else {
            return Err(BuildError::Count { what: "parts of a join", given: 0, expected: 1 });
        };
        let SlotInfo { dtype, ndim, .. } = self.info(first)?;
        if axis >= ndim {
            return Err(BuildError::NoAxis { axis, ndim });
        }
        for &slot in parts {
            self.check_rank(slot, ndim, "all parts of a join have one rank")?;
            self.check_dtype(slot, dtype)?;
        }
        let parts: Box<[Slot]> = parts.into();
        self.made(dtype, ndim, |to| InstrKind::Join { parts, to, axis })
    }

    /// A fresh array of `dims` whose elements are that of the 0-d slot `value`.
    pub fn full(&mut self, dtype: DType, value: Slot, dims: &[Size]) -> Built<Slot> {
        self.check_rank(value, 0, "full takes a 0-d value")?;
        self.check_dtype(value, dtype)?;
        self.check_sizes(dims.iter().copied())?;
        let dims: Box<[Size]> = dims.into();
        let ndim = dims.len();
        self.made(dtype, ndim, |to| InstrKind::Full { value, to, dims })
    }
}
