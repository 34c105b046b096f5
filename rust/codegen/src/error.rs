//! Errors of texts and of compilation.

/// Why there is no machine code of a kernel.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    /// The text describes no kernel.
    #[error("line {line} of a kernel's description, {text:?}: {fault}")]
    Malformed {
        /// The number of the line.
        line: usize,
        /// The line.
        text: String,
        /// The fault.
        fault: &'static str,
    },
    /// The kernel makes no sense as a whole.
    #[error("a kernel's description makes no sense: {0}")]
    Senseless(String),
    /// A function is needed whose address was not given.
    #[error("no address was given for the function {0}")]
    Unknown(String),
    /// The kernel holds an op for which the compiler has no code.
    #[error("the code generator refused a kernel: {0}")]
    Refused(String),
    /// The system gives no memory that code may run in.
    #[error("the system gives no executable memory: {0}")]
    Memory(std::io::Error),
    /// There is no code generator for this processor.
    #[error("there is no code generator for this processor: {0}")]
    Processor(String),
    /// Profilers cannot be told of the code.
    #[error("the names of kernels could not be written for profilers: {0}")]
    Dump(#[source] std::io::Error),
}
