//! The values that a loop reads for each node, views looked through: broadcast, added and dropped dimensions.

use smallvec::SmallVec;

use super::Request;
use super::kind::{Axes, Domain, Kind, REPEATED};
use super::numbered::{Marks, Numbered, VarId};
use crate::node::Var;

/// A variable that is read element by element.
pub(super) struct Operand {
    /// The variable, which is no view.
    pub base: VarId,
    /// Its axis for each dimension of the domain.
    pub axes: Axes,
    /// Whether it moves along all dimensions of the domain.
    pub(super) moves: bool,
    /// Whether it moves along all dimensions but the innermost, of several.
    pub(super) repeats_row: bool,
}

/// The values that a loop over the domain of a fusible node reads for it.
pub(super) struct Reading {
    /// The domain.
    pub over: VarId,
    /// The operand that is needed as a whole array.
    pub(super) whole: Option<VarId>,
    /// The values that are read element by element.
    pub operands: SmallVec<[Operand; 3]>,
    /// The node's result.
    pub output: VarId,
    /// Whether the node puts rows at indices.
    pub(super) puts_rows: bool,
}

/// The readings of all fusible nodes.
pub(super) struct Readings(Vec<Option<Reading>>);

impl Readings {
    pub(super) fn new(request: &Request, graph: &mut Numbered) -> Readings {
        let given: Vec<_> = request
            .given
            .iter()
            .map(|own| (own.at, graph.number(&own.domain), own.puts_rows))
            .collect();
        let mut given = given.into_iter().peekable();
        let views = Views::new(request, graph);
        let kinds = request.kind_of.iter().map(|&kind| &request.kinds[kind]);
        let readings = kinds.enumerate().map(|(at, kind)| {
            let told = given.next_if(|(own, ..)| *own == at).map(|(_, over, puts)| (over, puts));
            if !kind.fusible {
                return None;
            }
            let output = graph.outputs(at).next()?;
            let inputs = graph.inputs(at);
            let (over, puts_rows) = match (kind.domain, told) {
                (Domain::Given, Some(told)) => told,
                (Domain::First, _) => (inputs[0], false),
                _ => (output, false),
            };
            let whole = kind.whole.then(|| inputs[0]);
            let operands = views.operands(kind, inputs, graph.var(over));
            Some(Reading { over, whole, operands, output, puts_rows })
        });
        Readings(readings.collect())
    }

    pub(super) fn get(&self, at: usize) -> Option<&Reading> {
        self.0[at].as_ref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Reading> {
        self.0.iter().flatten()
    }
}

/// For each view the variable beneath it, and for each of its dimensions the axis there.
struct Views(Vec<Option<(VarId, Axes)>>);

impl Views {
    fn new(request: &Request, graph: &mut Numbered) -> Views {
        let (inputs, written): (Vec<_>, Vec<_>) = (
            request.inputs.iter().map(|x| graph.number(x)).collect(),
            request.written.iter().map(|x| graph.number(x)).collect(),
        );
        let (mut roots, mut overwritten) = (Marks::new(graph.len()), Marks::new(graph.len()));
        roots.extend(inputs);
        overwritten.extend(written);
        let mut seen: Vec<Option<(VarId, Axes)>> = (0..graph.len()).map(|_| None).collect();
        for (at, &kind) in request.kind_of.iter().enumerate() {
            let Some(view) = &request.kinds[kind].view else { continue };
            let Some(output) = graph.outputs(at).next() else { continue };
            if roots.contains(output) || (view.filled && overwritten.contains(output)) {
                continue;
            }
            let source = graph.inputs(at)[0];
            let (base, inner) = match &seen[source.index()] {
                Some((base, inner)) => (*base, through(&view.axes, inner)),
                None => {
                    let var = graph.var(source);
                    let own = (0..var.ty().ndim() as i32).collect();
                    (source, through(&view.axes, &moving(var, own)))
                }
            };
            seen[output.index()] = Some((base, moving(graph.var(output), inner)));
        }
        Views(seen)
    }

    fn operands(&self, kind: &Kind, inputs: &[VarId], over: &Var) -> SmallVec<[Operand; 3]> {
        let own = kind.operands.iter().map(|(position, outer)| {
            let x = inputs[*position];
            let (base, axes) = match self.0.get(x.index()).and_then(Option::as_ref) {
                Some((base, inner)) => (*base, through(outer, inner)),
                None => (x, outer.clone()),
            };
            let (moves, repeats_row) = motion(&axes, over);
            Operand { base, axes, moves, repeats_row }
        });
        own.collect()
    }
}

/// The axes of the variable beneath a view that moves like `outer`.
pub(super) fn through(outer: &[i32], inner: &[i32]) -> Axes {
    outer
        .iter()
        .map(|&axis| if axis == REPEATED { REPEATED } else { inner[axis as usize] })
        .collect()
}

/// `axes` without those along which `x` is known to have one element.
fn moving(x: &Var, mut axes: Axes) -> Axes {
    for (axis, length) in axes.iter_mut().zip(x.ty().shape()) {
        if *length == Some(1) {
            *axis = REPEATED;
        }
    }
    axes
}

/// Whether an operand moves along all dimensions of a domain, and whether along all but the innermost.
fn motion(axes: &[i32], over: &Var) -> (bool, bool) {
    let shape = over.ty().shape();
    let lengths = shape.iter().filter(|length| **length != Some(1)).count();
    let own = axes.iter().filter(|axis| **axis != REPEATED).count();
    if own == lengths {
        return (true, false);
    }
    let moving = || axes.iter().zip(shape).filter(|(_, length)| **length != Some(1)).rev();
    let last_repeats = moving().next().is_some_and(|(axis, _)| *axis == REPEATED);
    let rest_moves = moving().skip(1).all(|(axis, _)| *axis != REPEATED);
    (false, lengths > 1 && last_repeats && rest_moves)
}
