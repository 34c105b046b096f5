//! Arguments whose memory a call may write to.

use std::ops::Range;

use frazil_runtime::ArrayRef;
use pyo3::prelude::*;

use crate::ndarray::NumPy;

/// Replaces each donated argument that may not be written to after all, because it is read-only or
/// shares memory with another argument, by a copy.
///
/// All are arrays of frazil's types.
pub fn separate(
    numpy: &NumPy,
    objects: &mut [Bound<'_, PyAny>],
    donated: &[usize],
) -> PyResult<()> {
    for &at in donated {
        let Some(given) = numpy.view_any(&objects[at]) else { continue };
        let own = extent(&given);
        let shared = objects.iter().enumerate().any(|(other, object)| {
            let other = if other == at { None } else { numpy.view_any(object) };
            other.is_some_and(|other| overlap(&own, &extent(&other)))
        });
        if shared || !numpy.is_writable(&objects[at]) {
            // SAFETY: the array is alive and nobody writes to it during this call.
            let copy = unsafe { numpy.copy_of(objects[at].py(), &given)? };
            objects[at] = copy;
        }
    }
    Ok(())
}

/// The addresses between which the elements lie.
fn extent(array: &ArrayRef<'_>) -> Range<usize> {
    let start = array.data as usize;
    if array.dims.contains(&0) {
        return start..start;
    }
    let (mut low, mut high) = (start, start + array.dtype.itemsize());
    for (&length, &stride) in array.dims.iter().zip(array.strides) {
        let reach = (length - 1) * stride;
        if reach < 0 {
            low = low.wrapping_add_signed(reach as isize);
        } else {
            high = high.wrapping_add_signed(reach as isize);
        }
    }
    low..high
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}
