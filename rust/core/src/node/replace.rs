//! Substitution: rebuilds the nodes between the replaced variables and the outputs, and no others.

use rustc_hash::FxHashMap;

use super::container::Container;
use super::op::Op;
use super::traverse::Numbering;
use crate::node::{Body, Inputs, Node, Var};
use crate::value::error::Error;
use crate::value::id::DistinctTag;
use crate::value::ty::Signature;

/// `outputs` with every key of `replacements` replaced by its value, all at once.
///
/// The values are not searched for further replacements, so a value may be computed from the variable that it replaces.
/// Nodes never change, so this makes no cycle.
pub fn replace(
    container: &Container,
    outputs: &[Var],
    replacements: &[(Var, Var)],
) -> Result<Vec<Var>, Error> {
    check_types(replacements)?;
    rebuild(container, outputs, replacements, &mut Keep)
}

/// Checks that every new value fits wherever the old one stood.
pub(crate) fn check_types(replacements: &[(Var, Var)]) -> Result<(), Error> {
    for (position, (old, new)) in replacements.iter().enumerate() {
        if !old.ty().accepts(new.ty()) {
            let (expected, given) = (old.ty().clone(), new.ty().clone());
            return Err(Error::ReplacementType { position, expected, given });
        }
    }
    Ok(())
}

/// `outputs` with every key of `replacements` replaced, walking no further than `inputs`.
pub(crate) fn rebuild_keeping(
    container: &Container,
    outputs: &[Var],
    replacements: &[(Var, Var)],
    inputs: &[Var],
) -> Result<Vec<Var>, Error> {
    let inner = inputs.iter().filter(|input| !input.node().inputs().is_empty());
    let stops = inner.map(|input| (input.clone(), input.clone()));
    let pairs: Vec<(Var, Var)> = stops.chain(replacements.iter().cloned()).collect();
    rebuild(container, outputs, &pairs, &mut Keep)
}

/// The decisions of a rebuilding walk about nodes that are not replaced.
pub(crate) trait Rebuild {
    /// Whether a root input or nominal that nothing replaces may stay.
    fn root(&mut self, root: &Node) -> Result<(), Error>;

    /// Called with every application, operands first; may refuse it.
    fn apply(&mut self, _op: &Op) -> Result<(), Error> {
        Ok(())
    }

    /// The tag of the node that takes the place of a distinct node.
    fn tag(
        &mut self,
        old: DistinctTag,
        op: &Op,
        inputs: &Inputs,
        signature: &Signature,
    ) -> DistinctTag;
}

/// Everything that is not replaced stays.
pub(crate) struct Keep;

impl Rebuild for Keep {
    fn root(&mut self, _root: &Node) -> Result<(), Error> {
        Ok(())
    }

    fn tag(&mut self, old: DistinctTag, _: &Op, _: &Inputs, _: &Signature) -> DistinctTag {
        old
    }
}

/// Applies every distinct node anew.
pub(crate) struct Afresh<'a>(pub(crate) &'a Container);

impl Rebuild for Afresh<'_> {
    fn root(&mut self, _root: &Node) -> Result<(), Error> {
        Ok(())
    }

    fn tag(&mut self, _: DistinctTag, _: &Op, _: &Inputs, _: &Signature) -> DistinctTag {
        self.0.fresh_tag()
    }
}

/// `outputs` rebuilt in `container` with every key of `replacements` replaced by its value, all at once.
///
/// The walk goes depth first, operands left to right, and does not go past replaced variables.
pub(crate) fn rebuild(
    container: &Container,
    outputs: &[Var],
    replacements: &[(Var, Var)],
    rules: &mut impl Rebuild,
) -> Result<Vec<Var>, Error> {
    // Numbers tell the nodes of one container apart, so the walk keeps to that of the outputs.
    let source = container.common_container(outputs.iter());
    let pairs = || replacements.iter().filter(|(old, _)| source.holds(old));
    Numbering::with(|numbers| {
        let mut walk =
            Walk { container, numbers, became: Vec::new(), partial: FxHashMap::default() };
        walk.seed(pairs());
        outputs
            .iter()
            .map(|output| {
                if !source.holds(output) {
                    return container.adopt(output);
                }
                walk.visit(output, rules)?;
                container.adopt(&walk.now(output))
            })
            .collect()
    })
}

struct Walk<'a> {
    container: &'a Container,
    numbers: &'a mut Numbering,
    /// By a node's number: the variable in place of its first output, whose node has the others; `None` if the node
    /// stayed.
    became: Vec<Option<Var>>,
    /// The replacements of single outputs of nodes with several.
    partial: FxHashMap<(usize, u32), Var>,
}

impl Walk<'_> {
    fn seed<'v>(&mut self, replacements: impl Iterator<Item = &'v (Var, Var)>) {
        for (old, new) in replacements {
            if old.node().signature().types().len() > 1 {
                self.partial.insert(old.identity(), new.clone());
            } else if self.numbers.insert(old.node().id()) {
                self.became.push(Some(new.clone()));
            } else if let Some(number) = self.numbers.get(old.node().id()) {
                self.became[number] = Some(new.clone());
            }
        }
    }

    /// The variable in place of `var`, if it did not stay. Its node has been visited.
    fn changed(&self, var: &Var) -> Option<Var> {
        if !self.partial.is_empty()
            && let Some(new) = self.partial.get(&var.identity())
        {
            return Some(new.clone());
        }
        let first = self.became[self.numbers.get(var.node().id())?].as_ref()?;
        Some(Var::new(first.node().clone(), (first.index() + var.index()) as u32))
    }

    fn now(&self, var: &Var) -> Var {
        self.changed(var).unwrap_or_else(|| var.clone())
    }

    /// Gives `var`'s node a number, if it is to be visited and was not yet.
    fn enter(&mut self, var: &Var) -> bool {
        if !self.partial.is_empty() && self.partial.contains_key(&var.identity()) {
            return false;
        }
        let new = self.numbers.insert(var.node().id());
        if new {
            self.became.push(None);
        }
        new
    }

    fn visit(&mut self, output: &Var, rules: &mut impl Rebuild) -> Result<(), Error> {
        let mut stack: Vec<(&Node, u32)> = Vec::new();
        if self.enter(output) {
            stack.push((output.node(), 0));
        }
        while let Some((node, next)) = stack.last_mut() {
            let node: &Node = node;
            match node.inputs().get(*next as usize) {
                Some(input) => {
                    *next += 1;
                    if self.enter(input) {
                        stack.push((input.node(), 0));
                    }
                }
                None => {
                    if let Some(new) = self.leave(node, rules)? {
                        let number = self.numbers.get(node.id()).expect("entered before");
                        self.became[number] = Some(new);
                    }
                    stack.pop();
                }
            }
        }
        Ok(())
    }

    /// The variable in place of the first output of `node`, whose operands are done; `None` if it stays.
    fn leave(&self, node: &Node, rules: &mut impl Rebuild) -> Result<Option<Var>, Error> {
        match node.body() {
            Body::Apply { op, inputs, distinct } => {
                rules.apply(op)?;
                let mut changed = node.container_number() != self.container.number();
                let inputs: Inputs = inputs
                    .iter()
                    .map(|input| match self.changed(input) {
                        Some(new) => {
                            changed = true;
                            new
                        }
                        None => input.clone(),
                    })
                    .collect();
                let signature = node.signature();
                let tag = distinct.map(|old| rules.tag(old, op, &inputs, signature));
                if !changed && tag == *distinct {
                    return Ok(None);
                }
                let made = self.container.apply_tagged(
                    op.clone(),
                    inputs,
                    signature.clone(),
                    tag,
                    node.origin(),
                )?;
                Ok(Some(Var::new(made, 0)))
            }
            Body::Constant(data) => {
                let foreign = node.container_number() != self.container.number();
                Ok(foreign.then(|| self.container.constant((**data).clone())))
            }
            Body::Input { .. } | Body::Nominal { .. } => rules.root(node).map(|()| None),
        }
    }
}
