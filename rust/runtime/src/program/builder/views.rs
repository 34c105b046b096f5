//! The elements of a slot at other positions.

use crate::arrays::view::Index;
use crate::error::BuildError;
use crate::ids::{Size, Slot};
use crate::program::instr::{InstrKind, View};

use super::checks::{check_axes, check_count};
use super::{Builder, Built};

impl Builder {
    /// The axes in another order: a view.
    pub fn transpose(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        check_count("axes of a transpose", axes.len(), ndim)?;
        check_axes(axes, ndim)?;
        self.view(of, View::Transpose(axes.into()), ndim)
    }

    /// Axes of length 1 at these positions of the result: a view.
    pub fn expand_dims(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim + axes.len();
        check_axes(axes, ndim)?;
        self.view(of, View::ExpandDims(axes.into()), ndim)
    }

    /// Without these axes, each of length 1: a view.
    pub fn drop_dims(&mut self, of: Slot, axes: &[usize]) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        check_axes(axes, ndim)?;
        self.view(of, View::DropDims(axes.into()), ndim - axes.len())
    }

    /// New axes in front, and axes of length 1 repeated: a view.
    pub fn broadcast_to(&mut self, of: Slot, dims: &[Size]) -> Built<Slot> {
        let given = self.info(of)?.ndim;
        if given > dims.len() {
            return Err(BuildError::Rank {
                slot: of,
                given,
                needed: "broadcasting cannot take axes away",
            });
        }
        self.check_sizes(dims.iter().copied())?;
        self.view(of, View::BroadcastTo(dims.into()), dims.len())
    }

    /// The elements that basic indexing picks: a view. Axes without an index are kept whole.
    pub fn slice(&mut self, of: Slot, view: &[Index<Size>]) -> Built<Slot> {
        let ndim = self.check_indices(of, view)?;
        self.view(of, View::Slice(view.into()), ndim)
    }

    /// The rank of the view that indices make of a slot.
    pub(super) fn check_indices(&self, of: Slot, view: &[Index<Size>]) -> Built<usize> {
        let given = self.info(of)?.ndim;
        if view.len() > given {
            return Err(BuildError::Rank { slot: of, given, needed: "too many indices" });
        }
        for index in view {
            index.try_map(|size| self.check_sizes([size]))?;
        }
        let dropped = view.iter().filter(|index| matches!(index, Index::At(_))).count();
        Ok(given - dropped)
    }

    /// The elements whose position along the second of two axes is larger by `offset`, as a last
    /// axis: a view.
    pub fn diagonal(&mut self, of: Slot, axes: [usize; 2], offset: i64) -> Built<Slot> {
        let ndim = self.info(of)?.ndim;
        check_axes(&axes, ndim)?;
        self.view(of, View::Diagonal { axes, offset }, ndim - 1)
    }

    /// The same elements under other dims: a view where strides allow, else a copy. One of the dims
    /// may be the literal -1 and takes the elements that the others leave; a size that only turns out to be -1
    /// is an error.
    pub fn reshape(&mut self, of: Slot, dims: &[Size]) -> Built<Slot> {
        self.check_sizes(dims.iter().copied())?;
        let dtype = self.info(of)?.dtype;
        let mut rests = (0..dims.len()).filter(|&axis| self.sizes.literal(dims[axis]) == Some(-1));
        let rest = rests.next();
        if rests.next().is_some() {
            return Err(BuildError::SeveralRests);
        }
        let dims: Box<[Size]> = dims.into();
        let ndim = dims.len();
        self.made(dtype, ndim, |to| InstrKind::Reshape { of, to, dims, rest })
    }

    fn view(&mut self, of: Slot, view: View, ndim: usize) -> Built<Slot> {
        let dtype = self.info(of)?.dtype;
        self.made(dtype, ndim, |to| InstrKind::View { of, to, view })
    }
}
