//! Substitution: rebuilds what lies between the replaced variables and the outputs, and nothing else.

use rustc_hash::FxHashMap;

use crate::container::Container;
use crate::error::Error;
use crate::node::{Body, Inputs, Var};
use crate::traverse::{Numbering, postorder};

/// `outputs` with every key of `replacements` replaced by its value, all at once.
///
/// What is put in is not searched for further replacements.
pub fn replace(
    container: &Container,
    outputs: &[Var],
    replacements: &[(Var, Var)],
) -> Result<Vec<Var>, Error> {
    for (position, (old, new)) in replacements.iter().enumerate() {
        if !old.ty().accepts(new.ty()) {
            let (expected, given) = (old.ty(), new.ty());
            return Err(Error::ReplacementType { position, expected, given });
        }
    }
    let map: FxHashMap<_, _> =
        replacements.iter().map(|(old, new)| (old.identity(), new)).collect();
    let order = postorder(outputs, &[]);
    Numbering::with(|numbers| {
        // What each node became; `None` where it stayed.
        let mut rebuilt: Vec<Option<crate::intern::Node>> = Vec::with_capacity(order.len());
        let look_up = |numbers: &Numbering, rebuilt: &[Option<_>], var: &Var| -> Option<Var> {
            if let Some(&new) = map.get(&var.identity()) {
                return Some(new.clone());
            }
            let number = numbers.get(var.node().id())?;
            let node: &crate::intern::Node = rebuilt[number].as_ref()?;
            Some(Var::new(node.clone(), var.index() as u32))
        };
        for node in order {
            numbers.insert(node.id());
            let changed =
                node.inputs().iter().any(|input| look_up(numbers, &rebuilt, input).is_some());
            rebuilt.push(match node.body() {
                Body::Apply { op, inputs, distinct } if changed => {
                    let inputs: Inputs = inputs
                        .iter()
                        .map(|input| {
                            look_up(numbers, &rebuilt, input).unwrap_or_else(|| input.clone())
                        })
                        .collect();
                    let (signature, origin) = (node.signature(), node.origin());
                    Some(container.apply_tagged(*op, inputs, signature, *distinct, origin)?)
                }
                _ => None,
            });
        }
        Ok(outputs
            .iter()
            .map(|output| look_up(numbers, &rebuilt, output).unwrap_or_else(|| output.clone()))
            .collect())
    })
}
