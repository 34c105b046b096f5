//! Arrays of tests, and runs over them; each test file uses some of this.

#![allow(dead_code)]

use frazil_core::DType;
use frazil_runtime::*;

use crate::kernels::strides;

/// A `float64` array of the test.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub data: Vec<f64>,
    pub dims: Vec<i64>,
    pub strides: Vec<i64>,
}

impl Array {
    pub fn new(dims: &[i64], data: &[f64]) -> Array {
        Array { data: data.to_vec(), dims: dims.to_vec(), strides: strides(dims) }
    }

    pub fn range(dims: &[i64]) -> Array {
        let count = dims.iter().product::<i64>();
        Array::new(dims, &(0..count).map(|at| at as f64).collect::<Vec<_>>())
    }

    pub fn as_ref(&self) -> ArrayRef<'_> {
        ArrayRef {
            dtype: DType::Float64,
            data: self.data.as_ptr().cast(),
            dims: &self.dims,
            strides: &self.strides,
            owner: None,
        }
    }
}

/// The elements of an output in C order.
pub fn elements<T: Copy>(array: &OwnedArray) -> Vec<T> {
    let mut offsets = vec![0];
    for (&length, &stride) in array.layout.dims.iter().zip(&array.layout.strides) {
        offsets = offsets
            .iter()
            .flat_map(|&base| (0..length).map(move |at| base + at * stride))
            .collect();
    }
    let start = array.buffer.as_ptr();
    // SAFETY: the layout of an output lies inside its buffer.
    offsets.iter().map(|&at| unsafe { start.offset(at as isize).cast::<T>().read() }).collect()
}

pub fn run(program: &Program, inputs: &[&Array]) -> Result<Vec<OwnedArray>, Error> {
    let inputs: Vec<ArrayRef<'_>> = inputs.iter().map(|array| array.as_ref()).collect();
    // SAFETY: the arrays outlive the run.
    let mut run = unsafe { program.bind(&inputs)? };
    run.execute(&Conduct::ALONE)?;
    Ok((0..program.outputs().len()).map(|at| run.take_output(at).unwrap()).collect())
}

pub fn floats(program: &Program, inputs: &[&Array]) -> Vec<Vec<f64>> {
    run(program, inputs).unwrap().iter().map(elements).collect()
}

pub fn vector(shape: &[Option<u64>]) -> ArrayType {
    ArrayType::new(DType::Float64, shape)
}
