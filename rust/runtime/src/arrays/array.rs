//! Arrays that cross the border of the runtime.

use std::any::Any;
use std::num::NonZeroUsize;
use std::ops::Range;

use frazil_core::DType;

use crate::allocation::buffer::Buffer;
use crate::arrays::layout::Layout;

/// A number by which the caller of programs knows the owner of memory, such as the address of a
/// Python object. The runtime passes it on and never looks behind it.
pub type Owner = Option<NonZeroUsize>;

/// An array of the caller.
#[derive(Clone, Copy, Debug)]
pub struct ArrayRef<'a> {
    /// The element type.
    pub dtype: DType,
    /// The first element, aligned to its type.
    pub data: *const u8,
    /// The length of each axis.
    pub dims: &'a [i64],
    /// The bytes from one element to the next along each axis.
    pub strides: &'a [i64],
    /// Who owns the memory.
    pub owner: Owner,
}

#[cfg(test)]
impl<'a> ArrayRef<'a> {
    /// The vector of some numbers, whose count `dims` has.
    pub(crate) fn vector(numbers: &'a [f64], dims: &'a [i64; 1]) -> ArrayRef<'a> {
        assert_eq!(dims[0], numbers.len() as i64);
        let data = numbers.as_ptr().cast();
        ArrayRef { dtype: DType::Float64, data, dims, strides: &[8], owner: None }
    }
}

impl ArrayRef<'_> {
    /// The addresses between which the elements lie.
    fn extent(&self) -> Range<usize> {
        let start = self.data as usize;
        if self.dims.contains(&0) {
            return start..start;
        }
        let (mut low, mut high) = (start, start + self.dtype.itemsize());
        for (&length, &stride) in self.dims.iter().zip(self.strides) {
            let reach = (length - 1) * stride;
            if reach < 0 {
                low = low.wrapping_add_signed(reach as isize);
            } else {
                high = high.wrapping_add_signed(reach as isize);
            }
        }
        low..high
    }

    /// Whether the two may have memory in common: whether their ranges of addresses do.
    pub fn overlaps(&self, other: &ArrayRef<'_>) -> bool {
        let (own, theirs) = (self.extent(), other.extent());
        own.start < theirs.end && theirs.start < own.end
    }
}

impl Layout {
    /// The layout of an output.
    pub(crate) fn of(spec: &OutputSpec<'_>) -> Layout {
        Layout { dims: spec.dims.into(), strides: spec.strides.into() }
    }
}

/// An array with the owner that keeps its memory alive.
pub struct KeptArray {
    /// The element type.
    pub dtype: DType,
    /// The first element, aligned to its type.
    pub data: *const u8,
    /// The places of the others.
    pub layout: Layout,
    /// Who owns the memory.
    pub owner: Owner,
    /// Dropped when the memory is no longer read.
    pub keep: Box<dyn Any + Send + Sync>,
}

impl KeptArray {
    /// The array without its keeper.
    pub fn as_ref(&self) -> ArrayRef<'_> {
        ArrayRef {
            dtype: self.dtype,
            data: self.data,
            dims: &self.layout.dims,
            strides: &self.layout.strides,
            owner: self.owner,
        }
    }
}

// SAFETY: the memory is kept alive by `keep`, which may be sent; the runtime only ever reads it.
unsafe impl Send for KeptArray {}
// SAFETY: as above: a shared reference reads at most.
unsafe impl Sync for KeptArray {}

/// An array whose memory the runtime allocated and gives away.
#[derive(Debug)]
pub struct OwnedArray {
    /// The element type.
    pub dtype: DType,
    /// The memory; the first element lies at its start.
    pub buffer: Buffer,
    /// The address of the elements.
    pub layout: Layout,
}

/// An array that the caller should allocate for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSpec<'a> {
    /// The element type.
    pub dtype: DType,
    /// The length of each axis.
    pub dims: &'a [i64],
    /// The strides in bytes that the elements must have; they fill the memory without gaps.
    pub strides: &'a [i64],
}
