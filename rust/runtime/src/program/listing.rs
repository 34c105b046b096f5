//! Instructions as text.

use std::fmt;

use crate::arrays::view::Index;
use crate::ids::Size;
use crate::linalg::lapack::OnError;
use crate::program::instr::{InstrKind, Loop, View};
use crate::program::scan_kernel::ScanKernel;

/// Writes things with commas between.
pub(crate) fn list<T: fmt::Display>(things: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = things.into_iter().map(|thing| thing.to_string()).collect();
    texts.join(", ")
}

impl fmt::Display for Index<Size> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |size: &Option<Size>| size.map_or(String::new(), |size| size.to_string());
        match self {
            Index::At(at) => write!(f, "{at}"),
            Index::Range { start, stop, step } => {
                write!(f, "{}:{}:{step}", bound(start), bound(stop))
            }
        }
    }
}

fn axes(axes: &[Option<usize>]) -> String {
    list(axes.iter().map(|axis| axis.map_or("_".to_owned(), |axis| axis.to_string())))
}

/// The text in place of a result where an instruction has none.
fn or_nan(on_error: OnError) -> &'static str {
    match on_error {
        OnError::Raise => "",
        OnError::Nan => " or nan",
    }
}

fn part(lower: bool) -> &'static str {
    if lower { "lower" } else { "upper" }
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "loop k{}({})", self.kernel.number, list(&self.dims))?;
        for read in &self.reads {
            write!(f, " {}[{}]", read.slot, axes(&read.axes))?;
        }
        for source in &self.sources {
            let by = list(&source.indexed);
            write!(f, " {}[{}] indexed along {by}", source.slot, axes(&source.axes))?;
        }
        f.write_str(" ->")?;
        for write in &self.writes {
            write!(f, " [{}]", axes(&write.axes))?;
            if let Some(identity) = &write.identity {
                write!(f, " from {identity}")?;
            }
        }
        for target in &self.targets {
            let by = list(&target.indexed);
            write!(f, " [{}] from {} indexed along {by}", axes(&target.axes), target.of)?;
        }
        match &self.rows {
            None => Ok(()),
            Some(buffers) if buffers.is_empty() => f.write_str(" by rows"),
            Some(buffers) => write!(f, " by rows, buffers {}", list(buffers)),
        }?;
        let Some(short) = &self.short else { return Ok(()) };
        let (last, number) = (self.dims.last(), short.code.kernel.number);
        let last = list(last.as_slice());
        write!(f, ", by k{number} where {last} is at most {}", short.limit)
    }
}

impl fmt::Display for ScanKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scan k{}({})", self.kernel.number, self.steps)?;
        for read in &self.reads {
            write!(f, " {}[{}]", read.slot, if read.walks { "t" } else { "" })?;
        }
        f.write_str(" ->")?;
        for write in &self.writes {
            write!(f, " [{}]", if write.walks { "t" } else { "" })?;
        }
        if self.backwards { f.write_str(" backwards") } else { Ok(()) }
    }
}

impl fmt::Display for InstrKind {
    // One arm an instruction: to read it is to go down a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.writes().is_empty() {
            write!(f, "{} = ", list(self.writes()))?;
        }
        match self {
            InstrKind::Loop(code) => code.fmt(f),
            InstrKind::View { of, view, .. } => match view {
                View::Transpose(axes) => write!(f, "transpose {of} [{}]", list(axes)),
                View::ExpandDims(axes) => write!(f, "expand_dims {of} [{}]", list(axes)),
                View::DropDims(axes) => write!(f, "drop_dims {of} [{}]", list(axes)),
                View::BroadcastTo(dims) => write!(f, "broadcast_to {of} ({})", list(dims)),
                View::Slice(view) => write!(f, "slice {of} [{}]", list(view)),
                View::Diagonal { axes, offset } => {
                    write!(f, "diagonal {of} [{}] {offset}", list(axes))
                }
            },
            InstrKind::Reshape { of, dims, .. } => write!(f, "reshape {of} ({})", list(dims)),
            InstrKind::Copy { of, .. } => write!(f, "copy {of}"),
            InstrKind::Update { of, view, value, accumulate, .. } => {
                let verb = if *accumulate { "increment" } else { "set" };
                write!(f, "{verb} {of} [{}] {value}", list(view))
            }
            InstrKind::Full { value, dims, .. } => write!(f, "full {value} ({})", list(dims)),
            InstrKind::Dot { a, b, .. } => write!(f, "dot {a} {b}"),
            InstrKind::Gemm { operands, .. } => write!(f, "gemm {}", list(**operands)),
            InstrKind::Cholesky { of, lower, on_error, .. } => {
                write!(f, "cholesky {of} {}{}", part(*lower), or_nan(*on_error))
            }
            InstrKind::CholeskyGradient { factor, gradient, .. } => {
                write!(f, "cholesky_gradient {factor} {gradient}")
            }
            InstrKind::Solve { a, b, form, on_error, .. } => {
                write!(f, "solve {a} {b} {}", part(form.lower))?;
                let marks = [(form.transposed, " transposed"), (form.unit, " unit")];
                let mut marks = marks.iter().filter(|(set, _)| *set);
                marks.try_for_each(|(_, mark)| f.write_str(mark))?;
                f.write_str(or_nan(*on_error))
            }
            InstrKind::Lu { of, .. } => write!(f, "lu {of}"),
            InstrKind::LuSolve { factors, pivots, b, transposed, on_error, .. } => {
                let mark = if *transposed { " transposed" } else { "" };
                write!(f, "lu_solve {factors} {pivots} {b}{mark}{}", or_nan(*on_error))
            }
            InstrKind::BandSolve { a, b, form, on_error, .. } => {
                write!(f, "{} {a} {b}", if form.packed { "solve_banded" } else { "solve" })?;
                match form.bands {
                    Some([below, above]) => write!(f, " bands {below} {above}")?,
                    None => f.write_str(" bands found")?,
                }
                f.write_str(if form.transposed { " transposed" } else { "" })?;
                f.write_str(or_nan(*on_error))
            }
            InstrKind::Decompose { of, what, on_error, .. } => {
                write!(f, "{} {of}{}", what.name(), or_nan(*on_error))
            }
            InstrKind::Range { start, step, count, .. } => {
                write!(f, "range {start} {step} {count}")
            }
            InstrKind::CountTerms { start, stop, step, .. } => {
                write!(f, "count terms {start} {stop} {step}")
            }
            InstrKind::Terms { start, step, count, .. } => {
                write!(f, "terms {start} {step} {count}")
            }
            InstrKind::Join { parts, axis, .. } => write!(f, "join {} [{axis}]", list(parts)),
            InstrKind::Sort { of, axis, positions, .. } => {
                write!(f, "{} {of} [{axis}]", if *positions { "argsort" } else { "sort" })
            }
            InstrKind::Extreme { of, axis, largest, .. } => {
                write!(f, "{} {of} [{axis}]", if *largest { "argmax" } else { "argmin" })
            }
            InstrKind::Count { of, listed, .. } => write!(f, "count {listed} {of}"),
            InstrKind::List { of, count, listed, .. } => write!(f, "list {listed} {of} {count}"),
            InstrKind::Draw(code) => {
                let operands = [code.state].into_iter().chain(code.parameters.iter().copied());
                write!(f, "draw {} {} ({})", code.distribution, list(operands), list(&code.dims))
            }
            InstrKind::Scalar { size, .. } => write!(f, "scalar {size}"),
            InstrKind::RequireEqual { a, b, message, .. } => {
                write!(f, "require {a} == {b} {message:?}")
            }
            InstrKind::Check { holds, message, asserted } => {
                let kind = if *asserted { "assert" } else { "check" };
                write!(f, "{kind} {holds} {message:?}")
            }
            InstrKind::ScanKernel(code) => code.fmt(f),
            InstrKind::Call(call) => {
                write!(f, "call {} {}", call.function.foreign.name(), list(&call.inputs))
            }
            InstrKind::Inner(code) => code.fmt(f),
        }
    }
}
