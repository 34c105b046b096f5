//! What patterns match.

mod laws;

use frazil_core::rewrite::machine::{Check, DTypeSet, Instruction, OpTest};
use frazil_core::rewrite::pattern::{Pattern, Unknown, Wildcard};
use frazil_core::{Container, DType, OpProps, Param, Ty, Var};
use laws::{
    add, apply, elementwise, general, known, law, many, matches, mul, neg, node, number, one, open,
    plain, scalar, sub,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn variadic_operands_match_in_every_choice(
        operands in prop::collection::vec(0..4usize, 2..6),
        commutative in any::<bool>(),
    ) {
        let pool = [scalar("a"), scalar("b"), scalar("c"), number(7.0)];
        let props = OpProps { pure: true, commutative, ..OpProps::default() };
        let total = plain(if commutative { "total" } else { "list" }, Param::None, props);
        let ty = Ty::scalar(DType::Float64);
        let chosen: Vec<&Var> = operands.iter().map(|&at| &pool[at]).collect();
        let root = &node(total.clone(), &chosen, &[ty.clone()])[0];
        let (x, rest) = (scalar("x"), scalar("rest"));
        let left = &node(total, &[&x, &number(7.0), &rest], &[ty.clone()])[0];
        let found = matches(left, &[open(&x), many(&rest)], root);
        let mut expected = 0;
        for (at, operand) in chosen.iter().enumerate() {
            for (seven, other) in chosen.iter().enumerate() {
                let in_order = at == 0 && seven == 1;
                if at != seven && **other == pool[3] && (commutative || in_order) {
                    expected += 1;
                    let rest: Vec<Var> = chosen
                        .iter()
                        .enumerate()
                        .filter(|(position, _)| *position != at && *position != seven)
                        .map(|(_, &var)| var.clone())
                        .collect();
                    prop_assert!(found.contains(&vec![vec![(*operand).clone()], rest]));
                }
            }
        }
        prop_assert_eq!(found.len(), expected);
    }
}

#[test]
fn commutative_operands_match_in_both_orders_and_others_do_not() {
    let (x, y, a) = (scalar("x"), scalar("y"), scalar("a"));
    let left = apply(add(), &[&x, &apply(neg(), &[&y])]);
    let unknowns = [open(&x), open(&y)];
    let negated = apply(neg(), &[&a]);
    for root in [apply(add(), &[&a, &negated]), apply(add(), &[&negated, &a])] {
        assert_eq!(matches(&left, &unknowns, &root), [vec![vec![a.clone()], vec![a.clone()]]]);
    }
    let left = apply(sub(), &[&x, &apply(neg(), &[&y])]);
    assert_eq!(matches(&left, &unknowns, &apply(sub(), &[&a, &negated])).len(), 1);
    assert_eq!(matches(&left, &unknowns, &apply(sub(), &[&negated, &a])).len(), 0);
}

#[test]
fn a_variable_met_again_must_be_the_same() {
    let (x, y, a, b) = (scalar("x"), scalar("y"), scalar("a"), scalar("b"));
    // x * (x + y): the machine must come back for the other order twice.
    let left = apply(mul(), &[&x, &apply(add(), &[&x, &y])]);
    let unknowns = [open(&x), open(&y)];
    for sum in [apply(add(), &[&a, &b]), apply(add(), &[&b, &a])] {
        for root in [apply(mul(), &[&a, &sum]), apply(mul(), &[&sum, &a])] {
            assert_eq!(matches(&left, &unknowns, &root), [vec![vec![a.clone()], vec![b.clone()]]]);
        }
    }
    let other = scalar("other");
    assert!(
        matches(&left, &unknowns, &apply(mul(), &[&other, &apply(add(), &[&a, &b])])).is_empty()
    );
}

#[test]
fn the_machine_is_small() {
    let x = scalar("x");
    let left = apply(sub(), &[&apply(neg(), &[&x]), &x]);
    let pattern = Pattern::compile(&left, &[open(&x)], &[], &[]).unwrap();
    let code = pattern.machine().instructions();
    assert!(matches!(
        code,
        [
            Instruction::Bind { register: 0, .. },
            Instruction::Bind { register: 1, .. },
            Instruction::Compare { register: 3, with: 2 },
        ] | [
            Instruction::Bind { register: 0, .. },
            Instruction::Bind { register: 1, .. },
            Instruction::Compare { .. },
        ]
    ));
}

#[test]
fn one_operand_is_found_among_many() {
    let props = OpProps { pure: true, commutative: true, ..OpProps::default() };
    let total = plain("total", Param::None, props);
    let ty = Ty::scalar(DType::Float64);
    let (rest, a, b) = (scalar("rest"), scalar("a"), scalar("b"));
    let left = &node(total.clone(), &[&number(0.0), &rest], &[ty.clone()])[0];
    let root = &node(total.clone(), &[&a, &number(0.0), &b], &[ty.clone()])[0];
    assert_eq!(matches(left, &[many(&rest)], root), [vec![vec![a.clone(), b.clone()]]]);
    assert!(
        matches(left, &[many(&rest)], &node(total.clone(), &[&a, &b], &[ty.clone()])[0]).is_empty()
    );
    let all = &node(total, &[&rest], &[ty.clone()])[0];
    assert_eq!(matches(all, &[many(&rest)], root).len(), 1);
}

#[test]
fn checks_are_about_types_and_constants() {
    let (x, c) = (scalar("x"), scalar("c"));
    let left = apply(add(), &[&x, &c]);
    let integer = Container::global().input(&Ty::scalar(DType::Int64), None, None);
    let float = scalar("float");
    let dtypes = DTypeSet::new(&[DType::Int64]);
    let unknowns = [Unknown { dtypes, ..open(&x) }, known(&c)];
    assert_eq!(matches(&left, &unknowns, &apply(add(), &[&number(2.0), &integer])).len(), 1);
    assert!(matches(&left, &unknowns, &apply(add(), &[&number(2.0), &float])).is_empty());
    assert!(matches(&left, &unknowns, &apply(add(), &[&float, &integer])).is_empty());

    let checked =
        |check| general("r", &left, Some(&x), &[open(&x), open(&c)], &[], &[check], false).unwrap();
    let mixed = apply(add(), &[&float, &integer]);
    let alike = apply(add(), &[&float, &scalar("other")]);
    for check in [Check::SameDType([0, 1].into()), Check::SameType([0, 1].into())] {
        assert_eq!(one(checked(check.clone()), &mixed), mixed);
        assert_eq!(one(checked(check), &alike), float);
    }
    assert_eq!(one(checked(Check::OneRing([0, 1].into())), &mixed), mixed);
    let short = Container::global().input(&Ty::scalar(DType::Float32), None, None);
    assert_eq!(
        one(checked(Check::OneRing([0, 1].into())), &apply(add(), &[&float, &short])),
        float
    );
    let constant = apply(add(), &[&number(2.0), &float]);
    assert_eq!(one(checked(Check::NotConstant(0)), &constant), float);
}

#[test]
fn wildcards_stand_for_one_op_at_a_time() {
    let (x, a) = (scalar("x"), scalar("a"));
    let ops = [neg(), elementwise("abs", 1, false)];
    let f = elementwise("f", 1, false);
    let wildcards = [Wildcard { op: f.clone(), test: OpTest::OneOf(ops.clone().into()) }];
    let twice = apply(f.clone(), &[&apply(f.clone(), &[&x])]);
    let once = apply(f, &[&x]);
    let rule = general("idempotent", &twice, Some(&once), &[open(&x)], &wildcards, &[], false);
    let rule = rule.unwrap();
    let [p, q] = ops;
    assert_eq!(
        one(rule.clone(), &apply(p.clone(), &[&apply(p.clone(), &[&a])])),
        apply(p.clone(), &[&a])
    );
    let mixed = apply(q, &[&apply(p, &[&a])]);
    assert_eq!(one(rule, &mixed), mixed);

    let ty = Ty::scalar(DType::Float64);
    let turn = |by| plain("turn", Param::Int(by), OpProps { pure: true, ..OpProps::default() });
    let any_turn = plain("any_turn", Param::None, OpProps::default());
    let wildcards =
        [Wildcard { op: any_turn.clone(), test: OpTest::Kind("rewriting.turn".into()) }];
    let left = &node(any_turn.clone(), &[&apply(neg(), &[&x])], &[ty.clone()])[0];
    let right = &apply(neg(), &[&node(any_turn, &[&x], &[ty.clone()])[0]]);
    let refused = general("turn", left, Some(right), &[open(&x)], &wildcards, &[], false);
    let rule = refused.unwrap();
    for by in [1, 2] {
        let root = &node(turn(by), &[&apply(neg(), &[&a])], &[ty.clone()])[0];
        let expected = apply(neg(), &[&node(turn(by), &[&a], &[ty.clone()])[0]]);
        assert_eq!(one(rule.clone(), root), expected);
    }
}

#[test]
fn two_outputs_in_one_pattern_are_of_one_application() {
    let ty = Ty::scalar(DType::Float64);
    let props = OpProps { pure: true, distinct: true, ..OpProps::default() };
    let pair = plain("fresh_pair", Param::None, props);
    let x = scalar("x");
    let written = node(pair.clone(), &[&x], &[ty.clone(), ty.clone()]);
    let left = apply(sub(), &[&written[0], &written[1]]);
    let rule = law("both", &left, &x, &[open(&x)]);
    let a = scalar("a");
    let (one_pair, other_pair) = (
        node(pair.clone(), &[&a], &[ty.clone(), ty.clone()]),
        node(pair, &[&a], &[ty.clone(), ty.clone()]),
    );
    assert_eq!(one(rule.clone(), &apply(sub(), &[&one_pair[0], &one_pair[1]])), a);
    for (first, second) in [(0, 0), (1, 0), (1, 1)] {
        let root = apply(sub(), &[&one_pair[first], &one_pair[second]]);
        assert_eq!(one(rule.clone(), &root), root);
    }
    let root = apply(sub(), &[&one_pair[0], &other_pair[1]]);
    assert_eq!(one(rule, &root), root);
}
