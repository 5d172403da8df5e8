/* WebAssembly's numeric instructions as ops. */
#ifndef CONFORMANCE_WASM_H
#define CONFORMANCE_WASM_H

#include "corpus.h"

/* How many operands `name` ("i32.add") takes; 0: it is no numeric instruction. */
size_t wasm_arity(const char *name);
/* NULL: no such instruction, or the graph has an error. */
arrjit_value wasm_build(arrjit_graph *graph, const char *name, const arrjit_value *operands);

#endif
