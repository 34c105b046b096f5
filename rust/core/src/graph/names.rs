//! Display names of a graph's variables: a name given in the graph hides the variable's own name.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::node::Var;
use crate::value::element_text;

/// The names that a user gave in one graph. Copies share the table until one of them changes.
#[derive(Clone, Default)]
pub(crate) struct Names(Option<Arc<FxHashMap<(usize, u32), Named>>>);

#[derive(Clone)]
struct Named {
    // Keeps the variable alive, so that no other variable gets its identity.
    _var: Var,
    name: Arc<str>,
}

impl Names {
    /// The name of `var`: in this graph, or its own.
    pub(crate) fn get(&self, var: &Var) -> Option<Arc<str>> {
        let given = self.0.as_ref().and_then(|table| table.get(&var.identity()));
        given.map(|named| Arc::clone(&named.name)).or_else(|| var.name())
    }

    /// The names with `var` called `name`.
    pub(crate) fn with(&self, var: &Var, name: &str) -> Names {
        let mut table = self.0.as_deref().cloned().unwrap_or_default();
        table.insert(var.identity(), Named { _var: var.clone(), name: name.into() });
        Names(Some(Arc::new(table)))
    }

    /// The names of those variables that `keep` accepts; it is not called if there are no names.
    pub(crate) fn retain(&self, keep: impl Fn((usize, u32)) -> bool) -> Names {
        let Some(table) = &self.0 else { return Names(None) };
        let kept: FxHashMap<_, _> = table
            .iter()
            .filter(|(identity, _)| keep(**identity))
            .map(|(identity, named)| (*identity, named.clone()))
            .collect();
        Names((!kept.is_empty()).then(|| Arc::new(kept)))
    }

    /// Whether no name was given here.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// The names of `variables`: from `names`, or numbers by position.
///
/// No generated name equals a given one.
pub(crate) fn all_names(names: &Names, variables: &[Var]) -> Vec<Arc<str>> {
    let given: FxHashSet<Arc<str>> = variables.iter().filter_map(|var| names.get(var)).collect();
    let name = |(position, var): (usize, &Var)| -> Arc<str> {
        if let Some(name) = names.get(var) {
            return name;
        }
        if let Some(data) = var.constant() {
            return element_text::short(data).into();
        }
        let mut name = format!("v{position}");
        while given.contains(name.as_str()) {
            name.push('_');
        }
        name.into()
    };
    variables.iter().enumerate().map(name).collect()
}
