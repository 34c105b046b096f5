//! A processor that has no registers as functions of vectors are made for: no emitter asks for the code of one, and no block
//! has any.

use crate::dtype::Dtype;
use crate::op::Reduction;
use crate::vector::{Block, Registers, RowPlan, RowsCode, StageCode, Steps};

pub(crate) fn may_hold(_own: Registers, _function: &'static str, _size: u32) -> bool {
    false
}

pub(crate) fn fill(_own: Registers, _bits: u64, _size: u32, _bytes: u32) -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

pub(crate) fn steps_code(_block: &Block, _steps: Steps) -> Option<Vec<u8>> {
    None
}

pub(crate) fn rows_code(_block: &Block) -> Option<RowsCode> {
    None
}

pub(crate) fn walked_code(_block: &Block, _plan: &RowPlan) -> Option<RowsCode> {
    None
}

pub(crate) fn tile_code(_block: &Block) -> Option<Vec<u8>> {
    None
}

pub(crate) fn fold_columns(_own: Registers, _reduce: Reduction, _dtype: Dtype) -> Option<Vec<u8>> {
    None
}

pub(crate) fn columns_of_rows(_own: Registers) -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

pub(crate) fn rows_of_columns(_own: Registers) -> Vec<u8> {
    unreachable!("there are no functions of vectors")
}

pub(crate) fn code(_block: &Block) -> Option<Vec<u8>> {
    None
}

pub(crate) fn stage_code(_block: &Block) -> Option<StageCode> {
    None
}
