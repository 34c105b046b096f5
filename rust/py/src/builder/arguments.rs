//! Arguments of the builder's methods, converted for the runtime.

use frazil_core::DType;
use frazil_runtime::{
    ArrayType, Decomposition, Fold, Index, IndexedSpec, Next, OnError, Scalar, Size, Slot,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::types::TensorType;

/// The initial value of a state of a scan, and where it comes from then: "output" or "input", and a
/// number.
pub(super) type StateArgument = (u32, String, usize);

pub(super) fn next(source: &str, number: usize) -> PyResult<Next> {
    match source {
        "output" => Ok(Next::Output(number)),
        "input" => Ok(Next::Input(number)),
        _ => Err(PyValueError::new_err(format!(
            "a state comes from an \"output\" or an \"input\", given {source:?}"
        ))),
    }
}

pub(super) fn slots(slots: Vec<u32>) -> Vec<Slot> {
    slots.into_iter().map(Slot).collect()
}

pub(super) fn numbers(slots: Vec<Slot>) -> Vec<u32> {
    slots.into_iter().map(|slot| slot.0).collect()
}

pub(super) fn sizes(sizes: Vec<u32>) -> Vec<Size> {
    sizes.into_iter().map(Size).collect()
}

/// Dtype and axes of a write; for a reduction, its first value and its scalar op's name.
pub(super) type WriteArgument<'py> =
    (Bound<'py, PyAny>, Vec<i64>, Option<(Bound<'py, PyAny>, String)>);

/// Slot, axes and indexed axes of an operand that indices move.
pub(super) type IndexedArgument = (u32, Vec<i64>, Vec<usize>);

/// The same of one that is written to, and whether values are added to what is there.
pub(super) type TargetArgument = (u32, Vec<i64>, Vec<usize>, bool);

pub(super) fn sources_of(arguments: Vec<IndexedArgument>) -> PyResult<Vec<IndexedSpec>> {
    let alike = |(slot, own, indexed)| (slot, own, indexed, false);
    targets_of(arguments.into_iter().map(alike).collect())
}

pub(super) fn targets_of(arguments: Vec<TargetArgument>) -> PyResult<Vec<IndexedSpec>> {
    let spec = |(slot, own, indexed, adds)| {
        Ok(IndexedSpec { slot: Slot(slot), axes: axes(own)?, indexed, adds })
    };
    arguments.into_iter().map(spec).collect()
}

/// -1 stands for no axis.
pub(super) fn axes(axes: Vec<i64>) -> PyResult<Vec<Option<usize>>> {
    axes.into_iter()
        .map(|axis| match axis {
            -1 => Ok(None),
            _ => usize::try_from(axis).map(Some).map_err(|_| {
                PyValueError::new_err(format!("an axis is -1 or not negative, given {axis}"))
            }),
        })
        .collect()
}

pub(super) fn indices(view: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Index<Size>>> {
    view.into_iter()
        .map(|index| {
            Ok(if let Ok(range) = index.cast::<PyTuple>() {
                let (start, stop, step): (Option<u32>, Option<u32>, u32) = range.extract()?;
                Index::Range { start: start.map(Size), stop: stop.map(Size), step: Size(step) }
            } else {
                Index::At(Size(index.extract()?))
            })
        })
        .collect()
}

/// The decomposition of this name.
pub(super) fn decomposition(name: &str) -> PyResult<Decomposition> {
    let unknown = || PyValueError::new_err(format!("there is no decomposition {name:?}"));
    Decomposition::from_name(name).ok_or_else(unknown)
}

/// The effect of a matrix without a factor, or of a system without a solution.
pub(super) fn failure(on_error: &str) -> PyResult<OnError> {
    match on_error {
        "raise" => Ok(OnError::Raise),
        "nan" => Ok(OnError::Nan),
        _ => Err(PyValueError::new_err(format!(
            "on_error must be 'raise' or 'nan', given {on_error:?}"
        ))),
    }
}

/// The element that a reduction starts from.
pub(super) fn identity(dtype: DType, value: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if dtype == DType::Bool {
        return Ok(Scalar::from_i128(dtype, value.is_truthy()? as i128));
    }
    if !dtype.is_float()
        && let Ok(index) = value.call_method0("__index__")
    {
        return Ok(Scalar::from_i128(dtype, index.extract()?));
    }
    Ok(Scalar::from_f64(dtype, value.extract()?))
}

/// The reduction of this name.
pub(super) fn fold(name: &str) -> PyResult<Fold> {
    Fold::from_name(name).ok_or_else(|| {
        let known = Fold::ALL.map(Fold::name).join(", ");
        PyValueError::new_err(format!("there is no reduction {name:?}; there are {known}"))
    })
}

/// The runtime's type of the arrays of a frazil type.
pub(super) fn array_type(ty: &TensorType) -> ArrayType {
    ArrayType::new(ty.0.dtype(), ty.0.shape())
}
