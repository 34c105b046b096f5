//! The nodes that have instructions on registers of 256 bits. A block with others goes by Cranelift's registers.

use crate::dtype::Dtype;
use crate::vector::x86::translate::{FloatOp, Graph, Id, IntegerOp, Node, ShiftOp};
use crate::vector::{BYTES, Given};

impl Graph {
    /// The registers that hold as many bytes as a block of a kernel.
    pub(super) fn parts_of_block(&self) -> u32 {
        BYTES / self.registers.bytes()
    }
}

/// Whether all nodes of a block have instructions of AVX2. Elements are equally wide, but for bools in memory.
pub(super) fn have_short_forms(graph: &Graph) -> bool {
    let widest = graph.registers.bytes() / graph.lanes;
    let nodes = graph.nodes.iter().zip(&graph.sizes);
    widest >= 4 && nodes.into_iter().all(|(node, &size)| has_form(graph, node, size, widest))
}

fn has_form(graph: &Graph, node: &Node, size: u32, widest: u32) -> bool {
    match *node {
        // Compared with itself: none or all, whatever the size.
        Node::CompareIntegers { predicate: 3 | 7, .. } => true,
        Node::CompareIntegers { signed, args, .. } => signed && are_wide(graph, &args, widest),
        Node::CompareFloats(_, x, y) => are_wide(graph, &[x, y], widest),
        Node::Masks(..) | Node::NotMask(_) => true,
        Node::Given(
            Given::Load { dtype: Dtype::Bool, .. }
            | Given::LateLoad { dtype: Dtype::Bool, .. }
            | Given::Uniform { dtype: Dtype::Bool, .. },
        ) => true,
        Node::Constant(_) => size >= 4,
        Node::Given(_) | Node::Sqrt(_) | Node::Round(..) => size == widest,
        Node::Fma(_) | Node::Choose { .. } | Node::Extreme { .. } => size == widest,
        Node::Float(op, ..) => size == widest && !matches!(op, FloatOp::Scale | FloatOp::Nearer),
        Node::Integer(op, ..) => match op {
            IntegerOp::Add | IntegerOp::Sub => size == widest,
            IntegerOp::And | IntegerOp::Or | IntegerOp::Xor => size == widest,
            IntegerOp::Mul | IntegerOp::Most(_) | IntegerOp::Least(_) => size == 4 && widest == 4,
        },
        Node::Shift(op, ..) => size == widest && (size == 4 || op != ShiftOp::RightWithSign),
        Node::Convert(..)
        | Node::Mantissa(_)
        | Node::Exponent(_)
        | Node::Entry { .. }
        | Node::Edges(_)
        | Node::Gather(..) => false,
    }
}

fn are_wide(graph: &Graph, args: &[Id], widest: u32) -> bool {
    args.iter().all(|&arg| graph.sizes[arg] == widest)
}
