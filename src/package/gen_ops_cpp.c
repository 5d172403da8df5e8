/* The C++ header of operations: one inline function a builder, on values instead of a graph and its values. Lists have
 * their counts with them; operands that share a dtype may be literals; file and line are the caller's. */
#include <string.h>

#include "package/gen_ops.h"

/* One function, as its parts are found. Lists that share a count in C are one group. */
typedef struct function {
  text params, graphs, args;
  text literals;     /* operands that may be literals: they are made values together */
  int literal_count; /* of them so far */
  const char *group; /* name of the count that lists are being collected for, or NULL */
  text sizes;
  text pending; /* arguments after that count */
  const char *count_type;
} function;

static const char *separate(const text *list) { return list->count ? ", " : ""; }

static bool has_exn(const aj_op_info *info) { return info->rule == AJ_R_EXN || info->rule == AJ_R_EXN_I64; }

/* Operands of one dtype: a literal takes it from the others. */
static bool takes_literal(const aj_op_info *info, uint32_t operand) {
  if (info->rule == AJ_R_PAD) return true;
  return (info->flags & AJ_F_ELEMENTWISE) && info->min_operands > 1 && !(info->rule == AJ_R_SELECT && operand == 0);
}

static void add_operand(function *f, const aj_op_info *info, uint32_t i, int length, const char *name) {
  const char *type = has_exn(info) ? "exn" : takes_literal(info, i) ? "operand" : "value";
  add(&f->params, "%sconst %s &%.*s", separate(&f->params), type, length, name);
  add(&f->graphs, "%s%.*s.graph()", separate(&f->graphs), length, name);
  if (!takes_literal(info, i)) {
    add(&f->args, ", %.*s.get()", length, name);
    return;
  }
  add(&f->literals, "%s%.*s", separate(&f->literals), length, name);
  add(&f->args, ", in[%d]", f->literal_count++);
}

/* Writes the count of the lists collected so far, and the lists. */
static void end_group(function *f) {
  if (!f->group) return;
  bool is_rank = strcmp(f->count_type, "int32_t") == 0;
  add(&f->args, is_rank ? ", static_cast<int32_t>(detail::count(at, {%s}))%s" : ", detail::count(at, {%s})%s",
      f->sizes.s, f->pending.s);
  f->sizes = f->pending = (text){{0}, 0};
  f->group = NULL;
}

static void add_list(function *f, const char *group, const char *count_type, const char *name, const char *data) {
  if (f->group && strcmp(f->group, group) != 0) end_group(f);
  f->group = group;
  f->count_type = count_type;
  add(&f->sizes, "%s%s.size()", separate(&f->sizes), name);
  add(&f->pending, ", %s%s", name, data);
}

static void add_operands(function *f, aj_op op) {
  const aj_op_info *info = &aj_ops[op];
  const char *name;
  size_t length;
  for (uint32_t i = 0; i < info->min_operands; i++)
    if (aj_op_operand_name(op, i, &name, &length)) add_operand(f, info, i, (int)length, name);
  if (info->max_operands != 255 || !aj_op_operand_name(op, info->min_operands, &name, &length)) return;
  char list[64];
  snprintf(list, sizeof list, "%.*s", (int)length, name);
  add(&f->params, "%sconst std::vector<value> &%s", separate(&f->params), list);
  add(&f->graphs, "%sdetail::graph_of(%s, at)", separate(&f->graphs), list);
  add_list(f, "count", "size_t", "raw", ".data()");
  f->sizes = (text){{0}, 0};
  add(&f->sizes, "%s.size()", list);
}

static void add_attrs(function *f, aj_op op) {
  aj_attr_name attrs[AJ_ATTR_COUNT];
  int count = list_attrs(op, attrs);
  for (int i = 0; i < count; i++) {
    form a = get_form(op, attrs[i]);
    if (a.type) {
      end_group(f);
      add(&f->params, "%s%s %s", separate(&f->params), a.type, a.name);
      add(&f->args, ", %s", a.name);
      continue;
    }
    bool all = takes_all_axes(&aj_ops[op]);
    add(&f->params, all ? "%sconst axis_set &%s = all_axes" : "%sconst ints &%s", separate(&f->params), a.name);
    add_list(f, a.count, a.count_type ? a.count_type : "size_t", a.name, ".data()");
  }
  end_group(f);
}

/* In C++ some of the names are operators. */
static bool is_keyword(const char *name) {
  static const char *const words[] = {"and", "or", "not", "xor", "switch", "union", "for", "while", "if", "try"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return false;
}

static void write_function(FILE *out, aj_op op) {
  function f = {.literal_count = 0};
  const aj_op_info *info = &aj_ops[op];
  const char *result = info->rule == AJ_R_EXN ? "exn" : "value", *list;
  size_t length;
  bool variadic = info->max_operands == 255 && aj_op_operand_name(op, info->min_operands, &list, &length);
  if (info->min_operands == 0 && !variadic) {
    add(&f.params, "graph_ref to");
    add(&f.graphs, "to");
  }
  add_operands(&f, op);
  add_attrs(&f, op);
  const char *const *names;
  char many[32];
  int results = list_results(op, &names);
  snprintf(many, sizeof many, "std::array<value, %d>", results);
  if (names) result = many;
  write_comment(out, info->meaning);
  fputs(" */\n", out);
  fprintf(out, "inline %s %s%s(%s, location at = location::here()) {\n", result, info->name,
          is_keyword(info->name) ? "_" : "", f.params.s);
  fprintf(out, "  arrjit_graph *const g = detail::enter(at, {%s});\n", f.graphs.s);
  if (f.literal_count) fprintf(out, "  const auto in = detail::join(g, {%s});\n", f.literals.s);
  if (variadic) fprintf(out, "  const auto raw = detail::raw(%.*s);\n", (int)length, list);
  if (!names) {
    fprintf(out, "  return arrjit::%s(g, (::arrjit_%s)(g%s));\n}\n", result, info->name, f.args.s);
    return;
  }
  fprintf(out, "  arrjit_value out[%d];\n  (::arrjit_%s)(g%s", results, info->name, f.args.s);
  for (int i = 0; i < results; i++) fprintf(out, ", &out[%d]", i);
  fprintf(out, ");\n  return {{");
  for (int i = 0; i < results; i++) fprintf(out, "%svalue(g, out[%d])", i ? ", " : "", i);
  fprintf(out, "}};\n}\n");
}

static const char start[] =
    "/* libarrjit: operations for C++. Generated from the op table when the library is built; do not edit.\n"
    " *\n"
    " * Each function is that of arrjit/ops.h, where result, dtypes and failures are told. Where operands share a "
    "dtype, "
    "all\n"
    " * but one may be numbers, which take it: max(x, 0.0). Lists are written in braces: transpose(x, {1, 0}). `at` is "
    "the\n"
    " * caller's file and line unless it is given. Throws build_error for what C could not say: operands of different "
    "graphs,\n"
    " * no value among them, lists of unequal length; all else is reported by graph::finish. */\n"
    "#ifndef ARRJIT_OPS_HPP\n#define ARRJIT_OPS_HPP\n\n#include <array>\n\n#include \"arrjit/ops.h\"\n#include "
    "\"arrjit/value.hpp\"\n\n"
    "namespace arrjit {\n";

void write_cpp(FILE *out) {
  const char *section = "";
  fputs(start, out);
  for (int op = 1; op < AJ_OP_COUNT; op++) {
    if (!has_builder((aj_op)op)) continue;
    const char *now = get_section(&aj_ops[op]);
    if (strcmp(section, now) != 0) fprintf(out, "\n/* ---- %s ---- */\n\n", section = now);
    write_function(out, (aj_op)op);
  }
  fputs("\n} // namespace arrjit\n#endif\n", out);
}
