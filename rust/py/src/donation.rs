//! Arguments whose memory a call may write to.

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
        let shared = objects.iter().enumerate().any(|(other, object)| {
            let other = if other == at { None } else { numpy.view_any(object) };
            other.is_some_and(|other| given.overlaps(&other))
        });
        if shared || !numpy.is_writable(&objects[at]) {
            // SAFETY: the array is alive and no thread writes to it during this call.
            let copy = unsafe { numpy.copy_of(objects[at].py(), &given)? };
            objects[at] = copy;
        }
    }
    Ok(())
}
