//! Cranelift's passes that a kernel goes through, from instructions of Cranelift's to those of the processor.

use crate::error::CodegenError;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CompiledCode, Context};
use regalloc2::Ctx;

/// The memory that the passes work in, one function after the other.
pub(crate) struct Passes {
    context: Context,
    registers: Ctx,
}

impl Passes {
    pub(crate) fn new() -> Self {
        Passes { context: Context::new(), registers: Ctx::default() }
    }

    /// The function that comes next, empty.
    pub(crate) fn next(&mut self) -> &mut Function {
        self.context.clear();
        &mut self.context.func
    }

    /// The function that was written last.
    pub(crate) fn function(&self) -> &Function {
        &self.context.func
    }

    /// The machine code of the function. [`Context::compile`] names the optimizer, too, which is never asked for and takes
    /// a tenth of the extension's size. It would also remove blocks that nothing reaches, and parameters that are always
    /// the same: no result depends on that.
    pub(crate) fn compile(&mut self, target: &dyn TargetIsa) -> Result<CompiledCode, CodegenError> {
        let refused = |error| CodegenError::Refused(format!("{error:?}"));
        let own = &mut self.context;
        own.compute_cfg();
        own.compute_domtree();
        if cfg!(debug_assertions) {
            own.verify(target).map_err(|errors| CodegenError::Refused(format!("{errors:?}")))?;
        }
        own.func.dfg.resolve_all_aliases();
        let (plane, registers) = (&mut ControlPlane::default(), &mut self.registers);
        let made = target.compile_function(&own.func, &own.domtree, registers, false, plane);
        Ok(made.map_err(refused)?.apply_params(&own.func.params))
    }
}
