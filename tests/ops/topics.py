"""The cases of all ops on arrays, by topic."""

import equation_cases
import fourier_cases
import graph_cases
import matrix_cases
import product_cases
import reduction_cases
import shape_cases

TOPICS = {
    "reductions": reduction_cases.REDUCTIONS,
    "moments": reduction_cases.MOMENTS,
    "orders": reduction_cases.ORDERS,
    "cumulations": reduction_cases.CUMULATIONS,
    "shapes": shape_cases.SHAPES,
    "creation": shape_cases.CREATION,
    "parts": shape_cases.PARTS,
    "indices": shape_cases.INDICES,
    "joined arrays": shape_cases.JOINED,
    "products": product_cases.PRODUCTS,
    "matrices": matrix_cases.MATRICES,
    "equations": equation_cases.EQUATIONS,
    "Fourier transforms": fourier_cases.FOURIER,
    "inner graphs": graph_cases.INNER,
    "accumulated products": graph_cases.ACCUMULATED,
}
