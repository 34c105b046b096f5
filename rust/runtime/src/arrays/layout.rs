//! Lengths and strides of one array.

use smallvec::SmallVec;

use crate::error::Fault;

/// One number an axis.
pub type Axes = SmallVec<[i64; 4]>;

/// The places of an array's elements, relative to its first: lengths, and strides in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The length of each axis, never negative.
    pub dims: Axes,
    /// Bytes from one element to the next along each axis.
    pub strides: Axes,
}

impl Layout {
    /// The layout of fresh memory in C order.
    pub(crate) fn fresh(dims: &[i64], itemsize: usize) -> Result<Layout, Fault> {
        let order: SmallVec<[usize; 4]> = (0..dims.len()).collect();
        Layout::fresh_in_order(dims, itemsize, &order)
    }

    /// The layout of fresh memory whose axes are laid out in `order`, outermost first.
    pub(crate) fn fresh_in_order(
        dims: &[i64],
        itemsize: usize,
        order: &[usize],
    ) -> Result<Layout, Fault> {
        let mut layout = Layout { dims: dims.into(), strides: SmallVec::from_elem(0, dims.len()) };
        let mut stride = itemsize as i64;
        for &axis in order.iter().rev() {
            let length = dims[axis];
            if length < 0 {
                return Err(Fault::NegativeLength { axis, length });
            }
            layout.strides[axis] = stride;
            // An axis without elements counts as one, as in NumPy: the strides stay representable.
            stride = stride.checked_mul(length.max(1)).ok_or(Fault::TooLarge)?;
        }
        Ok(layout)
    }

    /// Whether each element lies where it does in C order without gaps.
    pub(crate) fn is_c_order(&self, itemsize: usize) -> bool {
        if self.is_empty() {
            return true;
        }
        let mut expected = itemsize as i64;
        for (&length, &stride) in self.dims.iter().zip(&self.strides).rev() {
            if length > 1 {
                if stride != expected {
                    return false;
                }
                expected *= length;
            }
        }
        true
    }

    /// The number of axes.
    pub fn ndim(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    pub fn len(&self) -> i64 {
        if self.is_empty() { 0 } else { self.dims.iter().product() }
    }

    /// Whether each element has a place of its own, as far as strides tell at a glance.
    pub(crate) fn is_apart(&self, itemsize: usize) -> bool {
        let moving = self.dims.iter().zip(&self.strides).filter(|&(&length, _)| length > 1);
        let mut moving: SmallVec<[(u64, i64); 4]> =
            moving.map(|(&length, &stride)| (stride.unsigned_abs(), length)).collect();
        moving.sort_unstable();
        let mut span = itemsize as u64;
        for (stride, length) in moving {
            if stride < span {
                return false;
            }
            span = span.saturating_add(stride.saturating_mul(length as u64 - 1));
        }
        true
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }
}

/// The bytes that `dims` elements of `itemsize` take, if they can be addressed.
pub(crate) fn byte_count(dims: &[i64], itemsize: usize) -> Result<usize, Fault> {
    let mut bytes = itemsize as i64;
    let mut empty = false;
    for (axis, &length) in dims.iter().enumerate() {
        if length < 0 {
            return Err(Fault::NegativeLength { axis, length });
        }
        empty |= length == 0;
        bytes = bytes.checked_mul(length.max(1)).ok_or(Fault::TooLarge)?;
    }
    Ok(if empty { 0 } else { bytes as usize })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_in_c_order() {
        let layout = Layout::fresh(&[2, 3, 4], 8).unwrap();
        assert_eq!(layout.strides[..], [96, 32, 8]);
        assert_eq!(layout.len(), 24);
        let layout = Layout::fresh_in_order(&[2, 3, 4], 8, &[2, 0, 1]).unwrap();
        assert_eq!(layout.strides[..], [24, 8, 48]);
    }

    #[test]
    fn elements_that_share_a_place_are_found() {
        let layout =
            |dims: &[i64], strides: &[i64]| Layout { dims: dims.into(), strides: strides.into() };
        assert!(layout(&[3, 4], &[32, 8]).is_apart(8));
        assert!(layout(&[3, 4], &[-8, 24]).is_apart(8));
        assert!(layout(&[3, 1], &[16, 0]).is_apart(8));
        assert!(layout(&[], &[]).is_apart(8));
        assert!(!layout(&[3, 4], &[0, 8]).is_apart(8));
        assert!(!layout(&[3, 4], &[8, 8]).is_apart(8));
        assert!(!layout(&[2], &[4]).is_apart(8));
    }

    #[test]
    fn what_cannot_be_addressed_is_an_error() {
        assert!(matches!(Layout::fresh(&[1 << 40, 1 << 40], 8), Err(Fault::TooLarge)));
        assert!(matches!(byte_count(&[0, 1 << 40, 1 << 40], 8), Err(Fault::TooLarge)));
        assert!(matches!(
            Layout::fresh(&[3, -1], 8),
            Err(Fault::NegativeLength { axis: 1, length: -1 })
        ));
        assert_eq!(byte_count(&[0, 5], 8).unwrap(), 0);
        assert_eq!(byte_count(&[], 8).unwrap(), 8);
    }
}
