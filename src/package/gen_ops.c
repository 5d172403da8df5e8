/* Build tool: makes the public header of operations and the functions it declares, from the op table.
 * Usage: gen_ops GOLDEN_FOLDER OUT_HEADER OUT_SOURCE OUT_CPP_HEADER. One builder a row that is elementwise or marked
 * F_BUILDER; its C parameters follow from the row's operand names and attributes. The C++ header is made in
 * gen_ops_cpp.c. */
#include "package/gen_ops.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What a row says in words that the table as data does not keep. Attributes are as written: their order is that of C
 * parameters. */
typedef struct row {
  const char *id, *attrs, *source;
} row;
static const row rows[AJ_OP_COUNT] = {
    {"NONE", "", ""},
#define OP(ID, name, operands, dtypes, rule, flags, attrs, routine, lowering, meaning, errors, source)                 \
  {#ID, #attrs, source},
#include "ir/ops.def"
#undef OP
};

void add(text *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = vsnprintf(to->s + to->count, sizeof to->s - to->count, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof to->s - to->count) {
    fprintf(stderr, "gen_ops: a text is too long\n");
    exit(1);
  }
  to->count += (size_t)length;
}

_Noreturn void stop(aj_op op, const char *why) {
  fprintf(stderr, "gen_ops: %s: %s\n", aj_ops[op].name, why);
  exit(1);
}

/* ---- attributes ---- */

form get_form(aj_op op, aj_attr_name attr) {
  const form rank = {NULL, "int32_t", "rank", aj_attrs[attr].name};
  switch (attr) {
  case AJ_ATTR_SHAPE: return (form){NULL, "int32_t", "rank", "dims"};
  case AJ_ATTR_START:
  case AJ_ATTR_LIMIT:
  case AJ_ATTR_STEP:
  case AJ_ATTR_LOW:
  case AJ_ATTR_HIGH:
  case AJ_ATTR_BASE_DILATION:
  case AJ_ATTR_WINDOW_DILATION:
  case AJ_ATTR_INTERIOR: return rank;
  case AJ_ATTR_SIZES: return aj_ops[op].max_operands == 255 ? (form){NULL, NULL, "count", "sizes"} : rank;
  case AJ_ATTR_AXES: return (form){NULL, "size_t", "axis_count", "axes"};
  case AJ_ATTR_LHS_BATCH:
  case AJ_ATTR_RHS_BATCH: return (form){NULL, "size_t", "batch_count", aj_attrs[attr].name};
  case AJ_ATTR_LHS_CONTRACT:
  case AJ_ATTR_RHS_CONTRACT: return (form){NULL, "size_t", "contract_count", aj_attrs[attr].name};
  case AJ_ATTR_OFFSET_AXES: return (form){NULL, "size_t", "offset_count", "offset_axes"};
  case AJ_ATTR_COLLAPSED_AXES: return (form){NULL, "size_t", "collapsed_count", "collapsed_axes"};
  case AJ_ATTR_X_BATCH:
  case AJ_ATTR_INDEX_BATCH: return (form){NULL, "size_t", "batch_count", aj_attrs[attr].name};
  case AJ_ATTR_START_MAP: return (form){NULL, "size_t", "start_count", "start_map"};
  case AJ_ATTR_AXIS:
  case AJ_ATTR_REVERSE:
  case AJ_ATTR_GROUPS:
  case AJ_ATTR_INDEX_AXIS: return (form){"int64_t", NULL, NULL, aj_attrs[attr].name};
  case AJ_ATTR_DESCENDING:
  case AJ_ATTR_UNIT:
  case AJ_ATTR_FULL:
  case AJ_ATTR_INVERSE:
  case AJ_ATTR_RIGHT: return (form){"int", NULL, NULL, aj_attrs[attr].name};
  case AJ_ATTR_DTYPE: return (form){"arrjit_dtype", NULL, NULL, "dtype"};
  case AJ_ATTR_VALUE:
  case AJ_ATTR_KIND:
  case AJ_ATTR_KINDS:
  case AJ_ATTR_CODE:
  case AJ_ATTR_MESSAGE:
  case AJ_ATTR_PAYLOAD:
  case AJ_ATTR_FIELD:
  case AJ_ATTR_RANK:
  case AJ_ATTR_SLOT:
  case AJ_ATTR_BINDS:
  case AJ_ATTR_CALLEE:
  case AJ_ATTR_CARRIED:
  case AJ_ATTR_FINALLY:
  case AJ_ATTR_MAPS:
  case AJ_ATTR_REDUCED:
  case AJ_ATTR_COMBINE:
  case AJ_ATTR_ARGS:
  case AJ_ATTR_COUNT: break;
  }
  stop(op, "an attribute has no C form: write its builder by hand, or say here how it is given");
}

static aj_attr_name find_attr_id(aj_op op, const char *id, size_t length) {
  static const char *const ids[] = {
#define ATTR(ID, name, form) #ID,
#include "ir/attrs.def"
#undef ATTR
  };
  for (int i = 0; i < AJ_ATTR_COUNT; i++)
    if (strlen(ids[i]) == length && memcmp(ids[i], id, length) == 0) return (aj_attr_name)i;
  stop(op, "an attribute of the row is not in attrs.def");
}

/* Attributes of a row in its order: "A(DTYPE) | A(SHAPE)". */
int list_attrs(aj_op op, aj_attr_name *out) {
  int count = 0;
  for (const char *at = rows[op].attrs; (at = strstr(at, "A(")); at++) {
    const char *id = at + 2;
    out[count++] = find_attr_id(op, id, strcspn(id, ")"));
  }
  return count;
}

/* ---- functions ---- */

static void add_operands(aj_op op, text *params, text *values, text *extra) {
  const aj_op_info *info = &aj_ops[op];
  const char *name;
  size_t length;
  for (uint32_t i = 0; i < info->min_operands; i++) {
    if (!aj_op_operand_name(op, i, &name, &length)) stop(op, "an operand has no name");
    add(params, ", arrjit_value %.*s", (int)length, name);
    add(values, "%s%.*s", i ? ", " : "", (int)length, name);
  }
  if (info->max_operands != 255) {
    if (info->max_operands != info->min_operands) stop(op, "an optional operand has no C form");
    add(extra, "0, NULL");
    return;
  }
  if (!aj_op_operand_name(op, info->min_operands, &name, &length)) stop(op, "an operand has no name");
  add(params, ", size_t count, const arrjit_value *%.*s", (int)length, name);
  add(extra, "count, %.*s", (int)length, name);
}

static int add_attrs(aj_op op, text *params, text *values) {
  aj_attr_name attrs[AJ_ATTR_COUNT];
  int count = list_attrs(op, attrs);
  const char *last_count = "";
  for (int i = 0; i < count; i++) {
    form f = get_form(op, attrs[i]);
    add(values, "%s{AJ_ATTR_", i ? ", " : "");
    for (const char *c = aj_attrs[attrs[i]].name; *c; c++) add(values, "%c", toupper((unsigned char)*c));
    if (f.type) {
      add(params, ", %s %s", f.type, f.name);
      add(values, ", .i = %s}", f.name);
      continue;
    }
    if (f.count_type && strcmp(last_count, f.count) != 0) add(params, ", %s %s", f.count_type, f.count);
    last_count = f.count;
    add(params, ", const int64_t *%s", f.name);
    /* A negative rank becomes a count far too large, which is refused. */
    add(values, ", .count = (size_t)%s, .ints = %s}", f.count, f.name);
  }
  return count;
}

int list_results(aj_op op, const char *const **out) {
  static const char *const lu[] = {"lu", "pivots", "permutation"}, *const qr[] = {"q", "r"}, *const eigh[] = {"w", "v"},
                           *const svd[] = {"u", "s", "vt"};
  aj_rule rule = aj_ops[op].rule;
  *out = rule == AJ_R_LU ? lu : rule == AJ_R_QR ? qr : rule == AJ_R_EIGH ? eigh : rule == AJ_R_SVD ? svd : NULL;
  if (!*out) return 1;
  return rule == AJ_R_LU || rule == AJ_R_SVD ? 3 : 2;
}

static void write_function(FILE *header, FILE *source, aj_op op) {
  text params = {{0}, 0}, operands = {{0}, 0}, extra = {{0}, 0}, attrs = {{0}, 0}, outs = {{0}, 0};
  const aj_op_info *info = &aj_ops[op];
  const char *const *results;
  int result_count = list_results(op, &results);
  add_operands(op, &params, &operands, &extra);
  int attr_count = add_attrs(op, &params, &attrs);
  for (int i = 0; results && i < result_count; i++) {
    add(&params, ", arrjit_value *out_%s", results[i]);
    add(&outs, "%sout_%s", i ? ", " : "", results[i]);
  }
  const char *type = results ? "void" : "arrjit_value";
  fprintf(header, "ARRJIT_API %s arrjit_%s(arrjit_graph *graph%s);\n\n", type, info->name, params.s);
  fprintf(source, "%s arrjit_%s(arrjit_graph *graph%s) {\n", type, info->name, params.s);
  if (info->min_operands) fprintf(source, "  const arrjit_value operands[] = {%s};\n", operands.s);
  if (attr_count) fprintf(source, "  const aj_graph_attr attrs[] = {%s};\n", attrs.s);
  if (results) fprintf(source, "  arrjit_value *const out[] = {%s};\n", outs.s);
  fprintf(source, "  %s(graph, AJ_OP_%s, %u, %s, %s, %d, %s", results ? "aj_graph_ops" : "return aj_graph_op",
          rows[op].id, info->min_operands, info->min_operands ? "operands" : "NULL", extra.s, attr_count,
          attr_count ? "attrs" : "NULL");
  if (results) fprintf(source, ", %d, out", result_count);
  fprintf(source, ");\n}\n\n");
}

/* ---- documentation ---- */

static bool is_factoring(const aj_op_info *info) { return info->rule >= AJ_R_CHOLESKY && info->rule <= AJ_R_SVD; }

const char *get_section(const aj_op_info *info) {
  static const char *const elementwise[] = {"elementwise, no operand", "elementwise, one operand",
                                            "elementwise, two operands", "elementwise, three operands"};
  if (info->flags & AJ_F_ELEMENTWISE) {
    if (info->flags & AJ_F_RAISES)
      return "checked twins: as the plain op, but they fail where it wraps or uses a stand-in";
    bool function = info->routine == AJ_ROUTINE_EXPAND && info->dtypes != AJ_D_COMPLEX; /* conj is none */
    return function ? "functions" : elementwise[info->min_operands];
  }
  if (info->rule <= AJ_R_DIM_SIZE) return "creation";
  if (info->rule <= AJ_R_PAD) return "movement";
  if (info->rule <= AJ_R_TAKE) return "indexing";
  if (info->rule <= AJ_R_SEARCH) return "sorting";
  if (is_factoring(info)) return "linear algebra";
  return info->rule <= AJ_R_SOLVE || info->rule == AJ_R_CUMULATIVE ? "reductions and products" : "exceptions";
}

static const char *get_result(const aj_op_info *info) {
  bool broadcasts = info->min_operands > 1;
  switch (info->rule) {
  case AJ_R_SAME: return broadcasts ? "the dtype of the operands, their joint shape" : "the type of x";
  case AJ_R_PART: return "the dtype of x, f32 for c64 and f64 for c128; the shape of x";
  case AJ_R_COMPLEX: return "c64 for f32, c128 for f64, the joint shape of the operands";
  case AJ_R_COMPARE: return broadcasts ? "bool, the joint shape of the operands" : "bool, the shape of x";
  case AJ_R_SELECT: return "the dtype of x and y, the joint shape of all three";
  case AJ_R_CONVERT:
  case AJ_R_BITCAST: return "dtype, the shape of x";
  case AJ_R_IOTA: return "dtype[dims]; dims may be symbols";
  case AJ_R_FULL:
  case AJ_R_RESHAPE:
  case AJ_R_BROADCAST: return "the dtype of x, shape dims; dims may be symbols";
  case AJ_R_DIM_SIZE:
  case AJ_R_EXN_I64: return "an i64 scalar";
  case AJ_R_TRANSPOSE: return "the dtype of x, its dims in the order of axes; axes has each axis once";
  case AJ_R_SAME_AXES:
  case AJ_R_CUMULATIVE:
  case AJ_R_DYNAMIC_UPDATE_SLICE: return "the type of x";
  case AJ_R_SLICE:
    return "the dtype of x, (limit - start) / step elements rounded up in each dim; rank is that of x, limit may "
           "have symbols";
  case AJ_R_CONCAT: return "their dtype and shape, extents along axis added; the other extents must be equal";
  case AJ_R_PAD: return "the dtype of x, its extents with the padding added; rank is that of x";
  case AJ_R_DYNAMIC_SLICE: return "the dtype of x, shape sizes; count is the rank of x, sizes may be symbols";
  case AJ_R_GATHER:
    return "the dtype of x; dims offset_axes are the windows' (dims of x but collapsed_axes and x_batch), the others "
           "those of indices without index_axis; x_batch and index_batch pair dims of x and indices that go along; "
           "rank is that of x";
  case AJ_R_SCATTER:
    return "the type of x; dims offset_axes of updates are the windows' (dims of x but collapsed_axes and x_batch), "
           "the others those of indices without index_axis; x_batch and index_batch pair dims of x and indices that "
           "go along";
  case AJ_R_TAKE: return "the dtype of x, its shape with the extent of axis replaced by the shape of indices";
  case AJ_R_SORT: return strcmp(info->name, "sort") == 0 ? "the type of x" : "i64, the shape of x";
  case AJ_R_SEARCH: return "i64, the shape of values";
  case AJ_R_REDUCE: return "the dtype of x, its shape without axes";
  case AJ_R_ARG: return "i64, the shape of x without axis";
  case AJ_R_DOT: return "their dtype; batch dims, free dims of lhs, free dims of rhs";
  case AJ_R_CONV:
    return "their dtype; batch, the windows in each spatial dim, results; rank is that of the spatial dims; groups 1, "
           "or a divisor of features and results";
  case AJ_R_FFT:
    return info->dtypes == AJ_D_PART ? "c64 for f32, c128 for f64; the shape of x, the last extent n / 2 + 1"
           : strcmp(info->name, "fft_last") == 0 ? "the type of x"
                                                 : "f32 for c64, f64 for c128; the shape of x, the last extent "
                                                   "sizes[0], which may be a symbol; rank is 1";
  case AJ_R_SOLVE: return "the type of b, [batch dims, n, m]; a is [batch dims, n, n], of its dtype";
  case AJ_R_CHOLESKY: return "the type of x, [batch dims, n, n]";
  case AJ_R_LU: return "the type of x, [batch dims, m, n]; i64[batch dims, the lesser extent], i64[batch dims, m]";
  case AJ_R_QR: return "the dtype of x, [batch dims, m, n]: [batch dims, m, k] and [batch dims, k, n]";
  case AJ_R_EIGH: return "w the dtype of x, f32 for c64 and f64 for c128, [batch dims, n]; v the type of x";
  case AJ_R_SVD:
    return "the dtype of x, [batch dims, m, n]: u [batch dims, m, k], vt [batch dims, l, n]; s, of reals, [batch dims, "
           "the lesser extent]";
  case AJ_R_EXN: return "an exception";
  case AJ_R_CONST:
  case AJ_R_REGIONS:
  case AJ_R_LOOP:
  case AJ_R_MAP:
  case AJ_R_COMBINE:
  case AJ_R_WINDOW:
  case AJ_R_CALL:
  case AJ_R_NONE:
  case AJ_R_CHECK:
  case AJ_R_CHECK_SHAPE:
  case AJ_R_CALLBACK:
  case AJ_R_EXN_BOOL:
  case AJ_R_EXN_FIELD:
  case AJ_R_KERNEL:
  case AJ_R_LANE_INDEX: break;
  }
  return NULL;
}

static const char *get_dtypes(uint32_t set) {
  if (set == AJ_D_ANY) return "any dtype";
  if (set == AJ_D_ORDERED) return "any dtype but complex";
  if (set == AJ_D_ARITH) return "integers, floats and complex";
  if (set == AJ_D_FIELD) return "floats and complex";
  if (set == AJ_D_COMPLEX) return "c64 and c128";
  if (set == AJ_D_PART) return "f32 and f64";
  if (set == AJ_D_NUM) return "integers and floats";
  if (set == AJ_D_FLOAT) return "floats";
  if (set == AJ_D_INT) return "integers";
  return set == AJ_D_BITS ? "integers and bool" : NULL;
}

void write_comment(FILE *out, const char *s) {
  enum { WIDTH = 116 };
  const char *lead = "/* ";
  while (strlen(s) > WIDTH) {
    int cut = WIDTH;
    while (cut > 0 && s[cut] != ' ') cut--;
    fprintf(out, "%s%.*s\n", lead, cut, s);
    s += cut + 1;
    lead = " * ";
  }
  fprintf(out, "%s%s", lead, s);
}

bool takes_all_axes(const aj_op_info *info) { return info->rule == AJ_R_REDUCE || info->rule == AJ_R_SAME_AXES; }

static void write_doc(FILE *out, const char *folder, aj_op op) {
  const aj_op_info *info = &aj_ops[op];
  const char *result = get_result(info), *dtypes = get_dtypes(info->dtypes);
  text doc = {{0}, 0};
  if (!result) stop(op, "the rule of a builder says nothing of its result");
  add(&doc, "%s. ", info->meaning);
  if (dtypes) add(&doc, "For %s. ", dtypes);
  add(&doc, "Result: %s.", result);
  if (takes_all_axes(info)) add(&doc, " axis_count ARRJIT_ALL_AXES: all axes, axes is not read.");
  if (is_factoring(info))
    add(&doc,
        " A matrix that has an infinite element or a NaN, where it is read, gives NaN. f16 and bf16 are computed in "
        "f32. Signs, phases and rounding are LAPACK's.");
  if (info->errors[0]) add(&doc, " Fails: %s.", info->errors);
  const char *const *results;
  if (list_results(op, &results) > 1) add(&doc, " Any of the pointers may be NULL.");
  if (rows[op].source[0]) add(&doc, " Source: %s.", rows[op].source);
  write_comment(out, doc.s);
  fputs("\n", out);
  write_example(out, folder, op);
}

static const char header_start[] =
    "/* libarrjit: operations on values of a graph. Generated from the op table when the library is built; do not "
    "edit.\n"
    " *\n"
    " * Elementwise functions broadcast as NumPy does; extents that are symbols and cannot be proved equal are checked "
    "when\n"
    " * the function runs (kind shape), only an extent that is literally 1 stretches. dtypes never convert by "
    "themselves.\n"
    " * All return the null value after an error, and when an operand does not fit: arrjit_graph_finish then reports "
    "the op, the\n"
    " * types that came and what was expected. Arrays are read during the call only. Values belong to the graph.\n"
    " * The macros capture the caller's file and line; call the function itself, `(arrjit_add)(g, x, y)`, to leave "
    "them out. */\n"
    "#ifndef ARRJIT_OPS_H\n#define ARRJIT_OPS_H\n\n#include \"arrjit/graph.h\"\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    "/* As an axis_count: all axes. */\n#define ARRJIT_ALL_AXES SIZE_MAX\n\n";

static const char source_start[] =
    "/* Builders of operations. Generated from the op table when the library is built; do not edit. */\n"
    "#define ARRJIT_NO_LOCATIONS\n#include \"api/graph.h\"\n#include \"arrjit/ops.h\"\n\n";

bool has_builder(aj_op op) { return aj_ops[op].flags & (AJ_F_ELEMENTWISE | AJ_F_BUILDER); }

static void write_all(const char *folder, FILE *header, FILE *source) {
  const char *section = "";
  fputs(header_start, header);
  fputs(source_start, source);
  for (int op = 1; op < AJ_OP_COUNT; op++) {
    if (!has_builder((aj_op)op)) continue;
    const char *now = get_section(&aj_ops[op]);
    if (strcmp(section, now) != 0) fprintf(header, "/* ---- %s ---- */\n\n", section = now);
    write_doc(header, folder, (aj_op)op);
    write_function(header, source, (aj_op)op);
  }
  fputs("#ifndef ARRJIT_NO_LOCATIONS\n", header);
  for (int op = 1; op < AJ_OP_COUNT; op++)
    if (has_builder((aj_op)op))
      fprintf(header, "#define arrjit_%s(g, ...) (arrjit_%s)(ARRJIT_AT_(g), __VA_ARGS__)\n", aj_ops[op].name,
              aj_ops[op].name);
  fputs("#endif\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n", header);
}

int main(int argc, char **argv) {
  FILE *out[3];
  if (argc != 5) {
    fprintf(stderr, "usage: gen_ops GOLDEN_FOLDER OUT_HEADER OUT_SOURCE OUT_CPP_HEADER\n");
    return 2;
  }
  for (int i = 0; i < 3; i++) {
    out[i] = fopen(argv[i + 2], "w");
    if (!out[i]) {
      perror(argv[i + 2]);
      return 1;
    }
  }
  write_all(argv[1], out[0], out[1]);
  write_cpp(out[2]);
  int failed = 0;
  for (int i = 0; i < 3; i++) failed |= fclose(out[i]);
  return failed ? 1 : 0;
}
