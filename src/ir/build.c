/* Making checked nodes. The first error sticks in the builder with op, types and the host's place; whoever calls on
 * gets NULL. */
#include "ir/build.h"

#include <string.h>

#include "ir/infer.h"

void aj_builder_init(aj_builder *b, aj_module *module) { *b = (aj_builder){.module = module}; }

bool aj_builder_ok(const aj_builder *b) { return b->error.status == ARRJIT_OK; }

/* Adds the place to an error just written. */
static void place_error(aj_builder *b) {
  arrjit_error *error = &b->error;
  error->line = b->source.line;
  const char *file = b->source.file ? b->source.file : "";
  size_t length = strlen(file), room = sizeof error->file - 1;
  if (length > room) file += length - room; /* the end of a path tells more than its start */
  aj_bounded_printf(error->file, sizeof error->file, "%s", file);
}

/* What an error is named by: the host's call, but a construct that spans several calls by its op. */
static const char *name_error(const aj_builder *b, aj_op op) {
  if (b->call && !(op && aj_ops[op].flags & AJ_F_REGIONS)) return b->call;
  return op ? aj_ops[op].name : "";
}

aj_value *aj_builder_fail(aj_builder *b, arrjit_status status, aj_op op, const char *format, ...) {
  if (!aj_builder_ok(b)) return NULL;
  char text[sizeof b->error.message];
  va_list args;
  va_start(args, format);
  aj_bounded_vprintf(text, sizeof text, format, args);
  va_end(args);
  const char *name = name_error(b, op);
  aj_error_set(&b->error, status, "%s%s%s", name, *name ? ": " : "", text);
  aj_bounded_printf(b->error.op, sizeof b->error.op, "%s", name);
  place_error(b);
  return NULL;
}

aj_node *aj_builder_no_memory(aj_builder *b) {
  aj_builder_fail(b, ARRJIT_MEMORY, AJ_OP_NONE, "no memory for the graph");
  return NULL;
}

/* " built at model.c:12", with the end of a long path; "" when the place is unknown. */
static void print_place(const aj_source *source, const char *verb, char *out, size_t size) {
  enum { SHOWN = 60 };
  out[0] = 0;
  if (!source->file) return;
  size_t length = strlen(source->file);
  const char *file = length > SHOWN ? source->file + (length - SHOWN) : source->file;
  aj_bounded_printf(out, size, " %s at %s%s:%d", verb, file == source->file ? "" : "...", file, (int)source->line);
}

/* Which value of which arm: its name in the host's program is not known here. */
static void fail_ended(aj_builder *b, aj_op op, const char *name, int length, const aj_value *value) {
  char type[120], built[100] = "", begun[100];
  const aj_region *region = value->region;
  aj_type_print(b->module, value->type, type, sizeof type);
  if (value->def) print_place(&value->def->source, "built", built, sizeof built);
  print_place(&region->begun, "begun", begun, sizeof begun);
  aj_builder_fail(b, ARRJIT_MISUSE, op,
                  "%.*s was made inside an arm or body that has ended: it is %s%s, %s,%s in %s%s; yield it to use it "
                  "outside",
                  length, name, value->def ? "the result of " : "a value given to it",
                  value->def ? aj_ops[value->def->op].name : "", type, built,
                  region->part ? region->part : region->func->name, begun);
}

const char *aj_lane_name(aj_lane_kind kind) {
  static const char *const names[] = {"", "map", "combiner", "comparator"};
  return names[kind];
}

bool aj_builder_check_operand(aj_builder *b, aj_op op, uint32_t index, const aj_value *value) {
  const char *name = "operand", *problem = NULL;
  size_t length = strlen(name);
  if (!value)
    problem = "is the null value";
  else if (value->region->func->module != b->module)
    problem = "is a value of another graph";
  else if (value->region->func != b->func)
    problem = "is a value of another function; pass it as an argument";
  else if (value->region->closed)
    problem = "was made inside an arm that has ended";
  else if (b->lane == AJ_LANE_MAP && value->type->rank > 0)
    problem = "is an array, but inside a map there are scalars; pass it as an argument of map";
  else if (b->lane == AJ_LANE_COMBINER && value->type->rank > 0)
    problem = "is an array, but inside a combiner there are scalars";
  else if (b->lane == AJ_LANE_COMPARATOR && value->type->rank > 0)
    problem = "is an array, but inside a comparator there are scalars";
  if (!problem) return true;
  aj_op_operand_name(op, index, &name, &length);
  if (value && value->region->closed && value->region->func == b->func)
    fail_ended(b, op, name, (int)length, value);
  else
    aj_builder_fail(b, ARRJIT_MISUSE, op, "%.*s %s", (int)length, name, problem);
  return false;
}

bool aj_builder_check_predicate(aj_builder *b, aj_op op, const char *name, const aj_value *value) {
  const aj_node probe = {.op = op};
  aj_infer in = {.func = b->func, .op = op, .attrs_of = &probe, .name = name_error(b, op), .error = &b->error};
  if (!aj_builder_ok(b)) return false;
  if (aj_infer_predicate(&in, value->type, name, true) == ARRJIT_OK) return true;
  place_error(b);
  return false;
}

static bool check_limits(aj_builder *b, aj_op op, uint32_t attr_count, const aj_attr *attrs) {
  aj_module *module = b->module;
  if (!b->region) aj_builder_fail(b, ARRJIT_MISUSE, op, "no function is open to build in");
  if (b->max_nodes && module->node_total >= (uint64_t)b->max_nodes)
    aj_builder_fail(b, ARRJIT_LIMIT, op, "the graph has %lld nodes, as many as max_nodes allows",
                    (long long)b->max_nodes);
  if (op != AJ_OP_CONST) return aj_builder_ok(b);
  for (uint32_t i = 0; i < attr_count; i++)
    if (attrs[i].name == AJ_ATTR_VALUE) module->const_bytes += attrs[i].count;
  if (b->max_const_bytes && module->const_bytes > (uint64_t)b->max_const_bytes)
    aj_builder_fail(b, ARRJIT_LIMIT, op, "the graph's constants have %llu bytes; max_const_bytes is %lld",
                    (unsigned long long)module->const_bytes, (long long)b->max_const_bytes);
  return aj_builder_ok(b);
}

/* Code after a terminator is unreachable: it is checked like any other, then dropped. */
static bool place_node(aj_builder *b, aj_node *node) {
  node->source = b->source;
  node->origin = b->origin;
  b->module->node_total++;
  if (!aj_region_terminator(b->region)) return aj_region_append(b->region, node);
  node->parent = b->region;
  for (uint32_t i = 0; i < node->result_count; i++) node->results[i].region = b->region;
  return true;
}

static arrjit_status check_lane(aj_infer *in, aj_lane_kind kind) {
  arrjit_status status = aj_infer_lane(in, kind, NULL);
  for (size_t i = 0; status == ARRJIT_OK && i < in->results.count; i++)
    status = aj_infer_lane(in, kind, in->results.data[i]);
  return status;
}

aj_node *aj_builder_finish_node(aj_builder *b, const aj_node *probe) {
  if (!check_limits(b, probe->op, probe->attr_count, probe->attrs)) return NULL;
  aj_infer in = {.func = b->func,
                 .op = probe->op,
                 .operand_count = probe->operand_count,
                 .operands = probe->operands,
                 .attrs_of = probe,
                 .name = name_error(b, probe->op),
                 .error = &b->error};
  aj_node *node = NULL;
  arrjit_status status = aj_infer_types(&in);
  if (status == ARRJIT_OK && b->lane != AJ_LANE_NONE) status = check_lane(&in, b->lane);
  if (status == ARRJIT_OK) {
    node = aj_node_create(b->func, probe->op, probe->operand_count, probe->operands, probe->attr_count, probe->attrs,
                          (uint32_t)in.results.count, in.results.data, probe->region_count);
    for (uint32_t i = 0; node && i < probe->region_count; i++) {
      node->regions[i] = probe->regions[i];
      node->regions[i]->owner = node;
      node->regions[i]->index = i;
    }
    if (!node || !place_node(b, node)) node = aj_builder_no_memory(b);
  } else {
    place_error(b);
  }
  AJ_VEC_FREE(b->module->mem, &in.results);
  return node;
}

aj_node *aj_build(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                  const aj_attr *attrs) {
  if (!aj_builder_ok(b)) return NULL;
  for (uint32_t i = 0; i < operand_count; i++)
    if (!aj_builder_check_operand(b, op, i, operands[i])) return NULL;
  /* The probe only carries what inference looks at; nothing is written through it. */
  aj_node probe = {.op = op,
                   .operand_count = operand_count,
                   .operands = (aj_value **)(uintptr_t)operands,
                   .attr_count = attr_count,
                   .attrs = (aj_attr *)(uintptr_t)attrs};
  return aj_builder_finish_node(b, &probe);
}

aj_value *aj_build1(aj_builder *b, aj_op op, uint32_t operand_count, aj_value *const *operands, uint32_t attr_count,
                    const aj_attr *attrs) {
  aj_node *node = aj_build(b, op, operand_count, operands, attr_count, attrs);
  return node && node->result_count ? &node->results[0] : NULL;
}

aj_value *aj_build_const(aj_builder *b, const aj_type *type, const void *data, size_t bytes) {
  if (bytes > UINT32_MAX) return aj_builder_fail(b, ARRJIT_LIMIT, AJ_OP_CONST, "more than 4 GiB in one constant");
  const aj_attr attrs[] = {
      aj_attr_int(AJ_ATTR_DTYPE, type->dtype),
      aj_attr_ints(AJ_ATTR_SHAPE, (size_t)type->rank, type->dims),
      aj_attr_bytes(AJ_ATTR_VALUE, data, bytes),
  };
  return aj_build1(b, AJ_OP_CONST, 0, NULL, AJ_COUNT(attrs), attrs);
}

aj_value *aj_build_scalar(aj_builder *b, arrjit_dtype dtype, const void *element) {
  const aj_type *type = aj_module_type(b->module, dtype, 0, NULL);
  if (!type) return aj_builder_no_memory(b), NULL;
  return aj_build_const(b, type, element, aj_dtypes[dtype].bytes);
}

aj_attr aj_attr_int(aj_attr_name name, int64_t value) { return (aj_attr){.name = name, .u.i = value}; }

aj_attr aj_attr_ints(aj_attr_name name, size_t count, const int64_t *values) {
  return (aj_attr){.name = name, .count = (uint32_t)count, .u.ints = values};
}

aj_attr aj_attr_bytes(aj_attr_name name, const void *data, size_t bytes) {
  return (aj_attr){.name = name, .count = (uint32_t)bytes, .u.bytes = data};
}

aj_attr aj_attr_text(aj_attr_name name, const char *text) {
  return (aj_attr){.name = name, .count = text ? (uint32_t)strlen(text) : 0, .u.text = text};
}
