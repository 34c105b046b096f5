//! Frozen graphs as text: printed for people and tests, and parsed back to the same object.
//!
//! ```text
//! mul = frazil.scalar.elemwise.Elemwise [op frazil.scalar.Mul []]
//! graph *0: float64[?], *1: float64[]
//! %0 = float64[] 2.0
//! %1 = mul(*0, %0): float64[?]
//! return %1
//! ```
//!
//! Ops come first, each by its kind and parameters; then the inputs; then a line a node, operands first: a constant by
//! its type and elements, an application by its op, operands and output types, with `#` and the tag where it is
//! distinct. `%1.2` is the third output of `%1`. From `;` to the end of a line is a comment.
//!
//! A graph that an op holds stands before the op, which refers to it by name:
//!
//! ```text
//! inner = graph *0: float64[?]
//! return *0
//! Run = somewhere.Run [graph inner]
//! graph *0: float64[?]
//! %0 = Run(*0): float64[?]
//! return %0
//! ```

mod parse;
mod print;

pub use self::parse::parse;
pub use self::print::print;

/// The first word of a graph's definition.
const GRAPH: &str = "graph";

/// Whether the kind of an op may contain this character without quotes.
fn is_kind(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '<' | '>')
}
