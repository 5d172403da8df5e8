/* The tree of kinds: a table that only grows. Readers are lock-free: chunks never move, each is twice the one before,
 * and an entry is complete before the count that covers it is published. Adding and finding by name take the lock.
 *
 * A fork shows the kinds that its base had when it was made, and its own behind them; it has no other users. */
#include "ir/kind.h"

#include <string.h>

#include "base/map.h"
#include "base/vec.h"

enum { FIRST_CHUNK_LOG2 = 5, CHUNK_COUNT = 26, LONGEST_NAME = 200 };
_Static_assert(FIRST_CHUNK_LOG2 + CHUNK_COUNT == 31, "the chunks hold every positive arrjit_kind");

struct aj_kinds {
  _Atomic int64_t refs;
  aj_mem *mem;
  aj_kinds *base; /* NULL: it is no fork */
  uint32_t first; /* kinds of the base */
  aj_mutex lock;
  aj_map by_name;
  _Atomic uint32_t count; /* its own, as what follows */
  aj_kind_info *chunks[CHUNK_COUNT];
};

typedef struct place {
  uint32_t chunk, offset;
} place;

/* Entry i is kind first + i + 1. With i counted on from the size of the first chunk, the top bit tells the chunk. */
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

static uint32_t own_count(const aj_kinds *kinds) { return atomic_load_explicit(&kinds->count, memory_order_acquire); }

uint32_t aj_kinds_count(const aj_kinds *kinds) { return kinds->first + own_count(kinds); }

const aj_kind_info *aj_kinds_get(const aj_kinds *kinds, arrjit_kind kind) {
  if (kind <= 0 || (uint32_t)kind > aj_kinds_count(kinds)) return NULL;
  if ((uint32_t)kind <= kinds->first) kinds = kinds->base;
  return get_entry(kinds, (uint32_t)kind - kinds->first - 1);
}

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
  arrjit_kind kind = kinds->base ? aj_kinds_find(kinds->base, name, length) : ARRJIT_KIND_NONE;
  if (kind != ARRJIT_KIND_NONE && (uint32_t)kind <= kinds->first) return kind;
  aj_mutex_lock(lock);
  uint32_t index = find_locked(kinds, (name_key){name, length});
  aj_mutex_unlock(lock);
  return index == AJ_MAP_NONE ? ARRJIT_KIND_NONE : (arrjit_kind)(kinds->first + index + 1);
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

/* Takes over what `info` owns, also on failure. The entry is found by name from now on; who looks by number sees it
 * when the count covers it. */
static arrjit_status put_locked(aj_kinds *kinds, uint32_t index, aj_kind_info *info, arrjit_error *error) {
  uint64_t hash = aj_hash_bytes(info->name, strlen(info->name), 0);
  if (reserve_place(kinds, find_place(index)) && aj_map_put(&kinds->by_name, hash, index)) {
    AJ_ASSERT(info->parent > 0 && (uint32_t)info->parent <= kinds->first + index + 1);
    *get_entry(kinds, index) = *info;
    return ARRJIT_OK;
  }
  free_entry(kinds->mem, info);
  return aj_error_memory(error, "a kind");
}

static arrjit_status add_locked(aj_kinds *kinds, const char *name, arrjit_kind parent, const char *fields,
                                arrjit_kind *out, arrjit_error *error) {
  uint32_t index = own_count(kinds);
  if (find_locked(kinds, (name_key){name, strlen(name)}) != AJ_MAP_NONE)
    return aj_error_set(error, ARRJIT_MISUSE, "there is a kind \"%s\" already", name);
  if (kinds->first + index >= INT32_MAX) return aj_error_set(error, ARRJIT_LIMIT, "there are too many kinds");
  aj_kind_info info = {.parent = parent};
  arrjit_status status = fill_entry(kinds->mem, aj_kinds_get(kinds, parent), name, fields, &info, error);
  if (status == ARRJIT_OK) status = put_locked(kinds, index, &info, error);
  if (status != ARRJIT_OK) return status;
  atomic_store_explicit(&kinds->count, index + 1, memory_order_release);
  *out = (arrjit_kind)(kinds->first + index + 1);
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

/* ---- joining a fork ---- */

static bool is_same(const aj_kind_info *a, const aj_kind_info *b, arrjit_kind parent_of_b) {
  bool same = a->parent == parent_of_b && a->open == b->open && a->field_count == b->field_count;
  for (uint32_t i = 0; same && i < a->field_count; i++)
    same = a->fields[i].dtype == b->fields[i].dtype && a->fields[i].rank == b->fields[i].rank;
  return same;
}

/* The kind of that name when there is one, which must be the same; else a new entry at *next. */
static arrjit_status join_locked(aj_kinds *base, const aj_kind_info *info, arrjit_kind parent, uint32_t *next,
                                 arrjit_kind *out, arrjit_error *error) {
  uint32_t found = find_locked(base, (name_key){info->name, strlen(info->name)});
  if (found != AJ_MAP_NONE) {
    *out = (arrjit_kind)(found + 1);
    if (is_same(get_entry(base, found), info, parent)) return ARRJIT_OK;
    return aj_error_set(error, ARRJIT_GRAPH, "kind %s exists already with another parent or payload", info->name);
  }
  if (*next >= INT32_MAX) return aj_error_set(error, ARRJIT_LIMIT, "there are too many kinds");
  aj_kind_info copy = {.parent = parent, .open = info->open, .field_count = info->field_count};
  copy.name = aj_mem_raw(base->mem, strlen(info->name) + 1);
  copy.fields = copy.field_count ? aj_mem_array(base->mem, copy.field_count, sizeof *copy.fields) : NULL;
  if (!copy.name || (copy.field_count && !copy.fields)) {
    aj_mem_free(base->mem, copy.name, strlen(info->name) + 1);
    aj_mem_free(base->mem, copy.fields, copy.field_count * sizeof *copy.fields);
    return aj_error_memory(error, "a kind");
  }
  memcpy(copy.name, info->name, strlen(info->name) + 1);
  for (uint32_t i = 0; i < copy.field_count; i++) copy.fields[i] = info->fields[i];
  arrjit_status status = put_locked(base, *next, &copy, error);
  if (status == ARRJIT_OK) *out = (arrjit_kind)(++*next);
  return status;
}

/* Entries from `count` on go: no count has covered them. The names of the others fit where they were. */
static void take_back(aj_kinds *kinds, uint32_t count, uint32_t end) {
  for (uint32_t i = count; i < end; i++) free_entry(kinds->mem, get_entry(kinds, i));
  aj_map_clear(&kinds->by_name);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = get_entry(kinds, i)->name;
    (void)aj_map_put(&kinds->by_name, aj_hash_bytes(name, strlen(name), 0), i);
  }
}

arrjit_status aj_kinds_join(const aj_kinds *fork, arrjit_kind *numbers, arrjit_error *error) {
  aj_kinds *base = fork->base;
  arrjit_status status = ARRJIT_OK;
  aj_mutex_lock(&base->lock);
  uint32_t count = own_count(base), next = count;
  for (uint32_t i = 0; i < own_count(fork) && status == ARRJIT_OK; i++) {
    const aj_kind_info *info = get_entry(fork, i);
    uint32_t parent = (uint32_t)info->parent;
    arrjit_kind there = parent <= fork->first ? info->parent : numbers[parent - fork->first - 1];
    status = join_locked(base, info, there, &next, &numbers[i], error);
  }
  if (status == ARRJIT_OK)
    atomic_store_explicit(&base->count, next, memory_order_release);
  else if (next > count)
    take_back(base, count, next);
  aj_mutex_unlock(&base->lock);
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

static aj_kinds *create_empty(aj_mem *mem) {
  aj_kinds *kinds = aj_mem_alloc(mem, sizeof *kinds);
  if (!kinds) return NULL;
  if (!aj_mutex_init(&kinds->lock)) {
    aj_mem_free(mem, kinds, sizeof *kinds);
    return NULL;
  }
  atomic_init(&kinds->refs, 1);
  kinds->mem = mem;
  aj_map_init(&kinds->by_name, mem);
  return kinds;
}

aj_kinds *aj_kinds_create(aj_mem *mem) {
  aj_kinds *kinds = create_empty(mem);
  if (!kinds || add_builtin(kinds)) return kinds;
  aj_kinds_release(kinds);
  return NULL;
}

aj_kinds *aj_kinds_fork(aj_kinds *base) {
  AJ_ASSERT(!base->base);
  aj_kinds *fork = create_empty(base->mem);
  if (!fork) return NULL;
  fork->base = base;
  fork->first = own_count(base);
  return fork;
}

uint32_t aj_kinds_forked(const aj_kinds *fork) { return fork->first; }

void aj_kinds_retain(aj_kinds *kinds) { atomic_fetch_add_explicit(&kinds->refs, 1, memory_order_relaxed); }

void aj_kinds_release(aj_kinds *kinds) {
  if (!kinds || atomic_fetch_sub_explicit(&kinds->refs, 1, memory_order_acq_rel) != 1) return;
  aj_mem *mem = kinds->mem;
  for (uint32_t i = 0; i < own_count(kinds); i++) free_entry(mem, get_entry(kinds, i));
  for (uint32_t i = 0; i < CHUNK_COUNT; i++) aj_mem_free(mem, kinds->chunks[i], chunk_bytes(i));
  aj_map_free(&kinds->by_name);
  aj_mutex_destroy(&kinds->lock);
  aj_mem_free(mem, kinds, sizeof *kinds);
}
