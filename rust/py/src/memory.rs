//! The memory that calls need, and the memory of the process.

use frazil_runtime::{PlannedBranch, PlannedBuffer, Slot};
use pyo3::prelude::*;

use crate::function::Function;

/// Totals; whether each call takes as much; the branches; the buffers.
type Plan = (Totals, bool, Vec<Branch>, Vec<Entry>);
/// Bytes of temporaries, of scratch, of the programs of branches, of memory found beside outputs, and
/// of each output.
type Totals = (usize, usize, Option<usize>, Option<usize>, Vec<Option<usize>>);
/// The instruction of a branch, the bytes of either program, and the origin.
type Branch = (String, usize, usize, Option<Py<PyAny>>);
/// A buffer: name, bytes, place, the instruction that makes it, the operand that it takes over, the last
/// instruction that needs it, and the origin to blame.
type Entry =
    (String, Option<usize>, String, String, Option<String>, Option<String>, Option<Py<PyAny>>);

/// The memory that a call of `function` needs for inputs of these dims, each in C order.
#[pyfunction]
pub fn memory_plan(py: Python<'_>, function: &Function, dims: Vec<Vec<i64>>) -> PyResult<Plan> {
    let program = function.program();
    let runtime = program.runtime();
    let plan = runtime.memory_plan(&dims).map_err(|error| program.raise(py, error, |_| None))?;
    let name = |slot: Slot| slot.to_string();
    let entry = |buffer: &PlannedBuffer| {
        (
            name(buffer.slot),
            buffer.bytes,
            buffer.location.to_string(),
            runtime.line(buffer.made_by),
            buffer.over.map(name),
            buffer.last.map(|at| runtime.line(at)),
            buffer.origin.and_then(|origin| program.blamed(py, origin)),
        )
    };
    let outputs = plan.outputs.iter().zip(&plan.lies_in).enumerate();
    let outputs = outputs.map(|(position, (bytes, lies_in))| match lies_in {
        Some(input) if function.borrows(position, *input) => Some(0),
        _ => *bytes,
    });
    let outputs = outputs.collect();
    let entries = plan.buffers.iter().map(entry).collect();
    let branch = |branch: &PlannedBranch| {
        let [then, otherwise] = branch.bytes;
        let node = branch.origin.and_then(|origin| program.blamed(py, origin));
        (runtime.line(branch.at), then, otherwise, node)
    };
    let branches = plan.branches.iter().map(branch).collect();
    let totals = (plan.arena, plan.scratch, plan.choices, plan.found, outputs);
    Ok((totals, plan.exact, branches, entries))
}

/// The bytes in all buffers of the runtime, idle ones included.
#[pyfunction]
pub fn allocated_bytes() -> usize {
    frazil_runtime::allocated_bytes()
}

/// The most bytes that there were in buffers of the runtime since the last call of this function.
#[pyfunction]
pub fn take_peak_bytes() -> usize {
    frazil_runtime::take_peak_bytes()
}
