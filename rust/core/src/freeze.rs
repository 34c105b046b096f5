//! Frozen graphs: closed graphs over nominal inputs, with a digest that names them everywhere.

use rustc_hash::FxHashSet;

use crate::container::Container;
use crate::digest::{Digest, DigestWriter};
use crate::error::Error;
use crate::node::{Body, Var};
use crate::replace::replace;
use crate::traverse::postorder;

/// A graph whose inputs are nominals: equal for all isomorphic graphs, in every process.
#[derive(Clone)]
pub struct FrozenFunctionGraph {
    inputs: Vec<Var>,
    outputs: Vec<Var>,
    digest: Digest,
}

impl FrozenFunctionGraph {
    /// The graph that computes `outputs` from `inputs`, which may be any variables but constants.
    ///
    /// An input that no output needs still counts. A root input that is not listed is an error that names it.
    pub fn new(
        container: &Container,
        inputs: &[Var],
        outputs: &[Var],
    ) -> Result<FrozenFunctionGraph, Error> {
        let mut seen = FxHashSet::default();
        for input in inputs {
            if matches!(input.node().body(), Body::Constant(_)) {
                return Err(Error::InvalidInput { what: input.describe() });
            }
            if !seen.insert(input.identity()) {
                return Err(Error::DuplicateInput { name: input.describe() });
            }
        }
        let nominals: Vec<Var> = inputs
            .iter()
            .enumerate()
            .map(|(position, input)| container.nominal(position as u32, input.ty()))
            .collect();
        let pairs: Vec<(Var, Var)> = inputs.iter().cloned().zip(nominals.iter().cloned()).collect();
        let frozen = replace(container, outputs, &pairs)?;
        let orphan = postorder(&frozen, &[]).into_iter().find(|node| match node.body() {
            Body::Input { .. } => true,
            Body::Nominal { position } => *position as usize >= nominals.len(),
            _ => false,
        });
        if let Some(node) = orphan {
            let var = Var::new(node.clone(), 0);
            return Err(Error::MissingInput { name: var.describe(), ty: var.ty() });
        }
        let mut writer = DigestWriter::new(b'G');
        writer.word(nominals.len() as u64);
        nominals.iter().for_each(|nominal| writer.digest(nominal.digest()));
        writer.word(frozen.len() as u64);
        frozen.iter().for_each(|output| writer.digest(output.digest()));
        Ok(FrozenFunctionGraph { inputs: nominals, outputs: frozen, digest: writer.finish() })
    }

    /// The nominal inputs.
    pub fn inputs(&self) -> &[Var] {
        &self.inputs
    }

    /// The outputs.
    pub fn outputs(&self) -> &[Var] {
        &self.outputs
    }

    /// The digest of inputs and outputs.
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

impl PartialEq for FrozenFunctionGraph {
    fn eq(&self, other: &FrozenFunctionGraph) -> bool {
        // Nodes are interned, so equal graphs have identical nominals and outputs.
        self.inputs == other.inputs && self.outputs == other.outputs
    }
}
