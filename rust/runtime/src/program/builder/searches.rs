//! Sorting, and finding the positions of elements.

use frazil_core::DType;

use crate::arrays::search::Listed;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::instr::InstrKind;

use super::{Builder, Built};

impl Builder {
    /// The elements sorted along an axis, NaN last; equal ones keep their order.
    pub fn sort(&mut self, of: Slot, axis: usize) -> Built<Slot> {
        let (dtype, ndim) = self.check_axis(of, axis)?;
        self.made(dtype, ndim, |to| InstrKind::Sort { of, to, axis, positions: false })
    }

    /// The positions that sort the elements along an axis.
    pub fn argsort(&mut self, of: Slot, axis: usize) -> Built<Slot> {
        let (_, ndim) = self.check_axis(of, axis)?;
        self.made(DType::Int64, ndim, |to| InstrKind::Sort { of, to, axis, positions: true })
    }

    /// The position of the largest element along an axis, the first of several or of a NaN; 0 where
    /// there is none.
    pub fn argmax(&mut self, of: Slot, axis: usize) -> Built<Slot> {
        self.extreme(of, axis, true)
    }

    /// The position of the smallest element along an axis, as for [`Builder::argmax`].
    pub fn argmin(&mut self, of: Slot, axis: usize) -> Built<Slot> {
        self.extreme(of, axis, false)
    }

    fn extreme(&mut self, of: Slot, axis: usize, largest: bool) -> Built<Slot> {
        let (_, ndim) = self.check_axis(of, axis)?;
        self.made(DType::Int64, ndim - 1, |to| InstrKind::Extreme { of, to, axis, largest })
    }

    /// The number of positions that [`Builder::list`] has to list; if a number of repetitions is negative, the
    /// first such.
    pub fn count(&mut self, of: Slot, listed: Listed) -> Built<Slot> {
        self.check_listed(of, listed)?;
        self.made(DType::Int64, 0, |to| InstrKind::Count { of, to, listed })
    }

    /// The first `count` positions, a vector for each axis; if there are fewer, zeros follow.
    pub fn list(&mut self, of: Slot, count: Size, listed: Listed) -> Built<Vec<Slot>> {
        let ndim = self.check_listed(of, listed)?;
        self.check_sizes([count])?;
        let dynamic = self.depends([of], [count])?;
        let to: Built<Vec<Slot>> =
            (0..ndim).map(|_| self.result(DType::Int64, 1, dynamic)).collect();
        let to = to?;
        self.push(InstrKind::List { of, to: to.clone().into(), count, listed }, dynamic);
        Ok(to)
    }

    fn check_axis(&self, of: Slot, axis: usize) -> Built<(DType, usize)> {
        let info = self.info(of)?;
        if axis >= info.ndim {
            return Err(BuildError::NoAxis { axis, ndim: info.ndim });
        }
        Ok((info.dtype, info.ndim))
    }

    /// The rank of an operand whose positions are listed.
    fn check_listed(&self, of: Slot, listed: Listed) -> Built<usize> {
        let info = self.info(of)?;
        match listed {
            Listed::Nonzero if info.ndim == 0 => Err(BuildError::Rank {
                slot: of,
                given: 0,
                needed: "only arrays with axes have positions",
            }),
            Listed::Nonzero => Ok(info.ndim),
            Listed::Repeated => {
                self.check_rank(of, 1, "numbers of repetitions are a vector")?;
                if info.dtype.is_float() {
                    let needed = "numbers of repetitions are integers";
                    return Err(BuildError::UnsupportedDType {
                        slot: of,
                        given: info.dtype,
                        needed,
                    });
                }
                Ok(1)
            }
        }
    }
}
