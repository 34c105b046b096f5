//! `frazil._core`: the core and the runtime for Python. Converts values and maps errors; what it decides is about
//! Python alone.

mod apply;
mod array;
mod blas;
mod builder;
mod c_function;
mod callable;
mod cell;
mod compiled_forms;
mod container;
mod digest;
mod donation;
mod draws;
mod error;
mod explain;
mod first_pages;
mod fork;
mod frozen_graph;
mod function;
mod fusion;
mod graph;
mod guard;
mod holders;
mod memory;
mod native_code;
mod ndarray;
mod object_table;
mod once;
mod op;
mod operand;
mod owned;
mod persist;
mod pickled;
mod plan;
mod program;
mod reach;
mod rewrite;
mod signals;
mod sorts;
mod source_line;
mod traced;
mod types;
mod variable;
mod walks;
mod wrapped;

/// Nodes are made and dropped much faster than the system's allocator, which gives memory back to the system and
/// asks for it again, likes it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The graph and the runtime, in Rust.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::apply::{FrozenApply, apply, check_inner_lengths};
    #[pymodule_export]
    use crate::blas::{find_kernel_function, set_routines};
    #[pymodule_export]
    use crate::builder::ProgramBuilder;
    #[pymodule_export]
    use crate::c_function::CFunction;
    #[pymodule_export]
    use crate::cell::shared;
    #[pymodule_export]
    use crate::compiled_forms::CallCache;
    #[pymodule_export]
    use crate::container::{Container, ContainerStats};
    #[pymodule_export]
    use crate::digest::digest_of;
    #[pymodule_export]
    use crate::draws::{distribution_form, distributions, set_bit_generator, set_sampler};
    #[pymodule_export]
    use crate::error::DebugModeError;
    #[pymodule_export]
    use crate::error::InconsistencyError;
    #[pymodule_export]
    use crate::error::MissingInputError;
    #[pymodule_export]
    use crate::error::RuleCycleError;
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::frozen_graph::{FrozenFunctionGraph, load_graph};
    #[pymodule_export]
    use crate::function::Function;
    #[pymodule_export]
    use crate::fusion::{LoopBody, cut_graph};
    #[pymodule_export]
    use crate::graph::{FunctionGraph, Transaction};
    #[pymodule_export]
    use crate::guard::Guards;
    #[pymodule_export]
    use crate::holders::replace_held;
    #[pymodule_export]
    use crate::memory::{allocated_bytes, memory_plan, take_peak_bytes};
    #[pymodule_export]
    use crate::native_code::{
        NativeCode, compile_kernels, has_quick_functions, kernel_listing, kernels_hold,
        made_code_fault, native_code_fault, register_bits, vector_bits,
    };
    #[pymodule_export]
    use crate::op::OpBase;
    #[pymodule_export]
    use crate::pickled::{load_input, load_variable};
    #[pymodule_export]
    use crate::plan::{Refusal, Schedule, plan};
    #[pymodule_export]
    use crate::program::{Program, set_heat_handler};
    #[pymodule_export]
    use crate::reach::{Reach, ReachedFiles};
    #[pymodule_export]
    use crate::rewrite::{PyRuleSet, RewriteRule};
    #[pymodule_export]
    use crate::sorts::set_sorter;
    #[pymodule_export]
    use crate::source_line::{at_lines_of_others, at_one_line, set_internal_path};
    #[pymodule_export]
    use crate::traced::{Traced, set_trace, set_traced};
    #[pymodule_export]
    use crate::types::{TensorType, promote};
    #[pymodule_export]
    use crate::variable::{
        Constant, NominalVariable, SharedVariable, Variable, constant, elemwise_function,
        elemwise_type, nominal, register_elemwise, register_operator,
    };
    #[pymodule_export]
    use crate::walks::{
        first_alike, gradient_carriers, graph_replace, is_continuous, root_inputs, toposort,
    };

    /// Makes the objects that all others need.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::native_code::register_bits()?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("LEVELS", frazil_runtime::LEVELS)?;
        module.add("SETS", frazil_runtime::SETS)?;
        module.add("TILE", frazil_runtime::TILE)?;
        module.add("TURNS", frazil_runtime::TURNS)?;
        crate::first_pages::keep_small();
        crate::fork::settle(module.py());
        crate::fork::watch(module.py())
    }
}
