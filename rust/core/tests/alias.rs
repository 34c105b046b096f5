//! Which variables may share memory, against a model of memory.

mod memory;

use frazil_core::node::alias::{ViewPath, roots, view_sources};
use frazil_core::node::traverse::toposort;
use frazil_core::{Container, Var};
use memory::{Memory, Writes, build, either, input, one, recipe, view};
use proptest::prelude::*;

/// How two variables come to share memory, if they may.
fn view_path(a: &Var, b: &Var) -> Option<ViewPath> {
    let others = roots(b);
    let root = roots(a).into_iter().find(|root| others.contains(root))?;
    ViewPath::through(&root, a, b)
}

proptest! {
    #[test]
    fn variables_alias_exactly_if_they_share_a_cell(recipe in recipe(12)) {
        let container = Container::new();
        let graph = build(&container, &memory::pure_ops(), &recipe);
        let writes = Writes::new();
        let mut memory = Memory::new(&graph.leaves, |_| true, &writes);
        for node in toposort(&graph.vars, &[]) {
            prop_assert!(memory.run(node));
        }
        for a in &graph.vars {
            for b in &graph.vars {
                let shared = !memory.cells(a).is_disjoint(memory.cells(b));
                let path = view_path(a, b);
                prop_assert_eq!(path.is_some(), shared);
                if let Some(path) = path {
                    prop_assert!(path.first[0] == *a && path.second[0] == *b);
                    prop_assert!(path.first.last() == path.second.last());
                    prop_assert!(roots(path.root()) == [path.root().clone()]);
                    for leg in [&path.first, &path.second] {
                        for step in leg.windows(2) {
                            prop_assert!(view_sources(&step[0]).contains(&&step[1]));
                        }
                    }
                }
            }
            let cells: usize = roots(a).iter().map(|root| memory.cells(root).len()).sum();
            prop_assert_eq!(cells, memory.cells(a).len());
        }
    }
}

#[test]
fn a_path_is_the_shortest() {
    let container = Container::new();
    let x = input(&container, "x");
    let long = one(&container, view(), &[&one(&container, view(), &[&x])]);
    let both = one(&container, either(), &[&long, &x]);
    let path = view_path(&both, &long).unwrap();
    assert_eq!(path.first, [both, x.clone()]);
    assert_eq!(path.second.len(), 3);
    assert_eq!(path.root(), &x);
}

#[test]
fn a_deep_chain_of_views_needs_no_deep_stack() {
    let container = Container::new();
    let x = input(&container, "x");
    let mut var: Var = x.clone();
    for _ in 0..200_000 {
        var = one(&container, view(), &[&var]);
    }
    assert_eq!(roots(&var), [x.clone()]);
    assert_eq!(view_path(&var, &x).unwrap().first.len(), 200_001);
}
