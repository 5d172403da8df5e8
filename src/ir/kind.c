/* The tree of kinds: a table that only grows. Readers are lock-free: chunks never move, each is twice the one before,
 * and an entry is complete before the count that covers it is published. Adding and finding by name take the lock. */
#include "ir/kind.h"

#include <string.h>

#include "base/map.h"
#include "base/vec.h"

enum { FIRST_CHUNK_LOG2 = 5, CHUNK_COUNT = 26, LONGEST_NAME = 200 };
_Static_assert(FIRST_CHUNK_LOG2 + CHUNK_COUNT == 31, "the chunks hold every positive arrjit_kind");

struct aj_kinds {
  _Atomic int64_t refs;
  aj_mem *mem;
  aj_mutex lock;
  aj_map by_name;
  _Atomic uint32_t count;
  aj_kind_info *chunks[CHUNK_COUNT];
};

typedef struct place {
  uint32_t chunk, offset;
} place;

/* Entry i is kind i + 1. With i counted on from the size of the first chunk, the top bit tells the chunk. */
static place find_place(uint32_t i) {
  uint32_t from_first = i + (1u << FIRST_CHUNK_LOG2);
  uint32_t top = 31 - (uint32_t)__builtin_clz(from_first);
  return (place){top - FIRST_CHUNK_LOG2, from_first - (1u << top)};
}

static size_t chunk_bytes(uint32_t chunk) { return sizeof(aj_kind_info) << (chunk + FIRST_CHUNK_LOG2); }

/* i < count, or the place that is being filled. */
static aj_kind_info *get_entry(const aj_kinds *kinds, uint32_t i) {
  place at = find_place(i);
  return &kinds->chunks[at.chunk][at.offset];
}

const aj_kind_info *aj_kinds_get(const aj_kinds *kinds, arrjit_kind kind) {
  return kind > 0 && (uint32_t)kind <= aj_kinds_count(kinds) ? get_entry(kinds, (uint32_t)kind - 1) : NULL;
}

uint32_t aj_kinds_count(const aj_kinds *kinds) { return atomic_load_explicit(&kinds->count, memory_order_acquire); }

/* Upwards until the ancestor or a root, which is its own parent. Parents are older than children, so it ends. */
bool aj_kinds_is(const aj_kinds *kinds, arrjit_kind kind, arrjit_kind ancestor) {
  const aj_kind_info *info = aj_kinds_get(kinds, kind);
  while (info && kind != ancestor && info->parent != kind) {
    kind = info->parent;
    info = aj_kinds_get(kinds, kind);
  }
  return info && kind == ancestor;
}

/* What ends a run, such as cancelled, must pass a handler for everything below a root. */
bool aj_kinds_catches(const aj_kinds *kinds, arrjit_kind handler, arrjit_kind kind) {
  if (aj_kinds_is(kinds, kind, ARRJIT_KIND_EXIT)) return kind == handler;
  return aj_kinds_is(kinds, kind, handler);
}

/* ---- names ---- */

typedef struct name_key {
  const char *text;
  size_t length;
} name_key;

static bool name_equals(const void *user, uint32_t index, const void *key) {
  const name_key *wanted = key;
  const char *name = get_entry(user, index)->name;
  return strlen(name) == wanted->length && memcmp(name, wanted->text, wanted->length) == 0;
}

static uint32_t find_locked(const aj_kinds *kinds, name_key key) {
  return aj_map_find(&kinds->by_name, aj_hash_bytes(key.text, key.length, 0), name_equals, kinds, &key);
}

arrjit_kind aj_kinds_find(const aj_kinds *kinds, const char *name, size_t length) {
  /* The lock is no part of what the table holds: taking it changes nothing that a reader sees. */
  aj_mutex *lock = (aj_mutex *)(uintptr_t)&kinds->lock;
  aj_mutex_lock(lock);
  uint32_t index = find_locked(kinds, (name_key){name, length});
  aj_mutex_unlock(lock);
  return index == AJ_MAP_NONE ? ARRJIT_KIND_NONE : (arrjit_kind)(index + 1);
}

/* Names stand in .air text, in messages and in templates: none of these letters needs quoting there. */
static bool name_is_valid(const char *name) {
  size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
  return length > 0 && length <= LONGEST_NAME && name[length] == 0;
}

/* ---- payload signatures ---- */

typedef AJ_VEC(aj_kind_field) field_list;

static const char *skip_spaces(const char *at) { return at + strspn(at, " \t"); }

/* dtype[rank]; returns the place behind it, NULL when it is no field. */
static const char *parse_field(const char *at, aj_kind_field *out) {
  size_t length = strcspn(at, "[,. \t");
  out->dtype = aj_dtype_find(at, length);
  at += length;
  if (out->dtype == ARRJIT_DTYPE_NONE || *at++ != '[') return NULL;
  size_t digits = strspn(at, "0123456789");
  if (digits == 0 || digits > 2) return NULL;
  out->rank = digits == 2 ? (at[0] - '0') * 10 + (at[1] - '0') : at[0] - '0';
  return out->rank <= ARRJIT_MAX_RANK && at[digits] == ']' ? at + digits + 1 : NULL;
}

/* "f64[0], i64[1], ..." onto the end of list. */
static arrjit_status parse_fields(aj_mem *mem, const char *text, field_list *list, bool *out_open,
                                  arrjit_error *error) {
  const char *at = skip_spaces(text);
  *out_open = false;
  if (*at == 0) return ARRJIT_OK;
  for (;;) {
    if (strncmp(at, "...", 3) == 0) {
      *out_open = true;
      at = skip_spaces(at + 3);
      if (*at) break;
      return ARRJIT_OK;
    }
    aj_kind_field field;
    const char *behind = parse_field(at, &field);
    if (!behind) break;
    if (!AJ_VEC_PUSH(mem, list, field)) return aj_error_memory(error, "the payload signature of a kind");
    at = skip_spaces(behind);
    if (*at == 0) return ARRJIT_OK;
    if (*at++ != ',' || *(at = skip_spaces(at)) == 0) break;
  }
  return aj_error_set(error, ARRJIT_MISUSE,
                      "payload signature \"%s\" is not of the form \"f64[0], i64[1], ...\" at \"%s\"", text, at);
}

/* ---- adding ---- */

/* In any state of filling. */
static void free_entry(aj_mem *mem, aj_kind_info *info) {
  if (info->name) aj_mem_free(mem, info->name, strlen(info->name) + 1);
  aj_mem_free(mem, info->fields, info->field_count * sizeof *info->fields);
}

/* Makes what an entry owns: name, and the fields of its parent (NULL for a root) followed by its own. Nothing is left
 * when it fails. */
static arrjit_status fill_entry(aj_mem *mem, const aj_kind_info *parent, const char *name, const char *fields,
                                aj_kind_info *out, arrjit_error *error) {
  field_list list = {0};
  arrjit_status status = ARRJIT_OK;
  for (uint32_t i = 0; parent && i < parent->field_count && status == ARRJIT_OK; i++)
    if (!AJ_VEC_PUSH(mem, &list, parent->fields[i])) status = aj_error_memory(error, "the fields of a kind");
  if (status == ARRJIT_OK) status = parse_fields(mem, fields, &list, &out->open, error);
  size_t name_bytes = strlen(name) + 1;
  if (status == ARRJIT_OK) {
    out->name = aj_mem_raw(mem, name_bytes);
    if (list.count) out->fields = aj_mem_array(mem, list.count, sizeof *out->fields);
    out->field_count = (uint32_t)list.count;
    if (out->name) memcpy(out->name, name, name_bytes);
    if (out->fields) memcpy(out->fields, list.data, list.count * sizeof *out->fields);
    if (!out->name || (list.count && !out->fields)) {
      status = aj_error_memory(error, "a kind");
      free_entry(mem, out);
    }
  }
  AJ_VEC_FREE(mem, &list);
  return status;
}

/* A chunk that turns out not to be needed after all stays for the next kind. */
static bool reserve_place(aj_kinds *kinds, place at) {
  if (!kinds->chunks[at.chunk]) kinds->chunks[at.chunk] = aj_mem_alloc(kinds->mem, chunk_bytes(at.chunk));
  return kinds->chunks[at.chunk] != NULL;
}

/* The index by name comes last but one, the count last: until then nobody sees the entry. */
static arrjit_status add_locked(aj_kinds *kinds, const char *name, arrjit_kind parent, const char *fields,
                                arrjit_kind *out, arrjit_error *error) {
  uint32_t index = aj_kinds_count(kinds);
  name_key key = {name, strlen(name)};
  if (find_locked(kinds, key) != AJ_MAP_NONE)
    return aj_error_set(error, ARRJIT_MISUSE, "there is a kind \"%s\" already", name);
  if (index == INT32_MAX) return aj_error_set(error, ARRJIT_LIMIT, "there are too many kinds");
  if (!reserve_place(kinds, find_place(index))) return aj_error_memory(error, "a kind");
  aj_kind_info info = {.parent = parent};
  arrjit_status status = fill_entry(kinds->mem, aj_kinds_get(kinds, parent), name, fields, &info, error);
  if (status != ARRJIT_OK) return status;
  if (!aj_map_put(&kinds->by_name, aj_hash_bytes(name, key.length, 0), index)) {
    free_entry(kinds->mem, &info);
    return aj_error_memory(error, "a kind");
  }
  AJ_ASSERT(info.parent > 0 && (uint32_t)info.parent <= index + 1);
  *get_entry(kinds, index) = info;
  atomic_store_explicit(&kinds->count, index + 1, memory_order_release);
  *out = (arrjit_kind)(index + 1);
  return ARRJIT_OK;
}

arrjit_status aj_kinds_add(aj_kinds *kinds, const char *name, arrjit_kind parent, const char *fields, arrjit_kind *out,
                           arrjit_error *error) {
  if (!name_is_valid(name))
    return aj_error_set(error, ARRJIT_MISUSE, "\"%s\" is no name of a kind: 1 to %d letters, digits, '_' and '.'", name,
                        LONGEST_NAME);
  if (!aj_kinds_get(kinds, parent))
    return aj_error_set(error, ARRJIT_MISUSE, "the parent of kind \"%s\" is %d, which is no kind", name, (int)parent);
  aj_mutex_lock(&kinds->lock);
  arrjit_status status = add_locked(kinds, name, parent, fields, out, error);
  aj_mutex_unlock(&kinds->lock);
  return status;
}

/* ---- life ---- */

/* The rows are in the order of their numbers, and a root stands before what is below it. */
static bool add_builtin(aj_kinds *kinds) {
  static const struct {
    arrjit_kind kind, parent;
    const char *name, *fields;
  } rows[] = {
#define KIND(ID, name, parent, fields, text) {ARRJIT_KIND_##ID, ARRJIT_KIND_##parent, name, fields},
#include "ir/kinds.def"
#undef KIND
  };
  for (size_t i = 0; i < AJ_COUNT(rows); i++) {
    arrjit_kind kind;
    if (add_locked(kinds, rows[i].name, rows[i].parent, rows[i].fields, &kind, NULL) != ARRJIT_OK) return false;
    AJ_ASSERT(kind == rows[i].kind);
  }
  return true;
}

aj_kinds *aj_kinds_create(aj_mem *mem) {
  aj_kinds *kinds = aj_mem_alloc(mem, sizeof *kinds);
  if (!kinds) return NULL;
  if (!aj_mutex_init(&kinds->lock)) {
    aj_mem_free(mem, kinds, sizeof *kinds);
    return NULL;
  }
  atomic_init(&kinds->refs, 1);
  kinds->mem = mem;
  aj_map_init(&kinds->by_name, mem);
  if (add_builtin(kinds)) return kinds;
  aj_kinds_release(kinds);
  return NULL;
}

void aj_kinds_retain(aj_kinds *kinds) { atomic_fetch_add_explicit(&kinds->refs, 1, memory_order_relaxed); }

void aj_kinds_release(aj_kinds *kinds) {
  if (!kinds || atomic_fetch_sub_explicit(&kinds->refs, 1, memory_order_acq_rel) != 1) return;
  aj_mem *mem = kinds->mem;
  for (uint32_t i = 0; i < aj_kinds_count(kinds); i++) free_entry(mem, get_entry(kinds, i));
  for (uint32_t i = 0; i < CHUNK_COUNT; i++) aj_mem_free(mem, kinds->chunks[i], chunk_bytes(i));
  aj_map_free(&kinds->by_name);
  aj_mutex_destroy(&kinds->lock);
  aj_mem_free(mem, kinds, sizeof *kinds);
}
