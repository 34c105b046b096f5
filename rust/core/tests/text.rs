//! Frozen graphs as text: golden texts, round trips, and texts that show no graph.

mod terms;

use frazil_core::persist::text::{parse, print};
use frazil_core::{Container, Error, FrozenFunctionGraph, Op, Param};
use proptest::prelude::*;
use terms::{Step, build, inputs, ops, recipe};

fn none(_: &str, _: &Param) -> Result<Option<Op>, Error> {
    Ok(None)
}

fn graph(container: &Container, recipe: &[Step], outputs: usize) -> FrozenFunctionGraph {
    let roots = inputs(container);
    let made = build(container, &roots, recipe);
    FrozenFunctionGraph::new(container, &roots, &made[made.len() - outputs..]).unwrap()
}

#[test]
fn a_graph_is_printed_so() {
    let container = Container::new();
    // fresh(x), fresh(x), their sum, a constant, its product with the sum.
    let recipe = [(3, 0, 0), (3, 0, 0), (0, 3, 4), (5, 0, 0), (1, 6, 5)];
    let expected = "\
fresh = terms.fresh [\"fresh\", 1]
add = terms.add [\"add\", 2]
mul = terms.mul [\"mul\", 2]
graph *0: int64[], *1: int64[], *2: int64[]
%0 = int64[] 7
%1 = fresh#1(*0): int64[]
%2 = fresh#2(*0): int64[]
%3 = add(%1, %2): int64[]
%4 = mul(%0, %3): int64[]
return %0, %4
";
    let graph = graph(&container, &recipe, 2);
    assert_eq!(print(&graph), expected);
    assert_eq!(parse(&container, expected, &mut none).unwrap(), graph);
    // Spaces, comments and the numbers of tags do not matter.
    let loose = expected
        .replace(", ", " ,\n  ")
        .replace("return", "; the end\nreturn")
        .replace("#1", " # 9")
        .replace("#2", "#4");
    assert_eq!(parse(&container, &loose, &mut none).unwrap(), graph);
}

#[test]
fn mistakes_are_shown_with_their_place() {
    ops();
    let container = Container::new();
    let check = |text: &str, expected: &str| {
        assert_eq!(parse(&container, text, &mut none).unwrap_err().to_string(), expected);
    };
    check("", "line 1, column 1: expected the name of an op, or `graph`");
    check("graph", "line 1, column 6: expected `return` or a node");
    check("graph\n%1 = int64[] 2", "line 2, column 3: expected node %0");
    check("graph\n%0 = int64[] 2.5\nreturn %0", "line 2, column 17: 2.5 is no int64");
    check("graph\n%0 = int8[] 128\nreturn %0", "line 2, column 16: 128 is no int8");
    check(
        "graph\n%0 = int8[2] [1]\nreturn %0",
        "line 2, column 17: a constant of shape [2] and dtype int8 does not have 1 bytes",
    );
    check(
        "graph\n%0 = int8[?] [1]\nreturn %0",
        "line 2, column 17: a constant's lengths are all known",
    );
    check(
        "graph *0: int64[]\n%0 = exp(*0): int64[]",
        "line 2, column 9: no op exp is defined above",
    );
    check("graph return *0", "line 1, column 16: there is no input *0");
    check("graph return %0", "a node reads output 0 of place 0, which does not exist before it");
    check(
        "e = no.such []",
        "no op no.such with these parameters is known here; import the module that defines it first",
    );
    let exp = "exp = terms.exp [\"exp\", 1]\ngraph *0: int64[]\n";
    check(
        &format!("{exp}%0 = exp(%0): int64[]\nreturn"),
        "a node reads output 0 of place 1, which does not exist before it",
    );
    check(&format!("{exp}%0 = exp(): int64[]\nreturn"), "exp takes 1 operands, 0 given");
    check(
        &format!("{exp}%0 = exp#1(*0): int64[]\nreturn"),
        "exp must have a tag exactly if it is distinct or not pure",
    );
    let deep = format!("e = k {}", "[".repeat(100_000));
    assert!(parse(&container, &deep, &mut none).unwrap_err().to_string().contains("too deep"));
    assert_eq!(container.stats().nodes, 0);
}

proptest! {
    #[test]
    fn printed_graphs_parse_to_themselves(recipe in recipe(20), outputs in 1..4usize) {
        ops();
        let container = Container::new();
        let graph = graph(&container, &recipe, outputs);
        let text = print(&graph);
        prop_assert_eq!(&parse(&container, &text, &mut none).unwrap(), &graph);
        let elsewhere = parse(&Container::new(), &text, &mut none).unwrap();
        prop_assert_eq!(elsewhere.digest(), graph.digest());
        prop_assert_eq!(print(&elsewhere), text);
    }

    #[test]
    fn no_text_does_harm(text in ".{0,80}") {
        let _ = parse(&Container::new(), &text, &mut none);
    }

    #[test]
    fn no_sequence_of_tokens_does_harm(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "graph", "return", "*0", "*1", "%0", "%1", "%18446744073709551616", "=", ":", ",", "(", ")", "[",
                "]", "#", "#1", ".", ".1", "int64[]", "float64[?, 3]", "bool[2]", "7", "-1", "nan:zz", "true", "\"",
                "\\u{", "x\"0", "op", "type", "dtype", "identity", "none", "e = terms.exp [\"exp\", 1]", "e(*0)",
                "graph *0: int64[]", "inner = graph", "graph inner", ";", "\n", "\u{e9}",
            ]),
            0..30,
        ),
    ) {
        ops();
        let _ = parse(&Container::new(), &tokens.join(" "), &mut none);
    }

    #[test]
    fn altered_text_gives_a_graph_or_an_error(
        recipe in recipe(12), at in any::<prop::sample::Index>(), c in any::<char>(), cut in any::<bool>(),
    ) {
        let container = Container::new();
        let mut text: Vec<char> = print(&graph(&container, &recipe, 1)).chars().collect();
        let at = at.index(text.len());
        if cut {
            text.truncate(at);
        } else {
            text[at] = c;
        }
        let text: String = text.into_iter().collect();
        if let Ok(graph) = parse(&container, &text, &mut none) {
            prop_assert_eq!(parse(&container, &print(&graph), &mut none).unwrap(), graph);
        }
    }
}
