/* Reading and writing the index maps of kernel nodes. */
#include "opt/kernel.h"

void aj_kernel_map(const aj_node *kernel, uint32_t operand, aj_index_term *terms, int32_t *out_rank) {
  const int64_t *at = aj_node_attr(kernel, AJ_ATTR_MAPS)->u.ints;
  for (uint32_t i = 0; i < operand; i++) at += 1 + 3 * at[0];
  *out_rank = (int32_t)at[0];
  for (int64_t d = 0; d < at[0]; d++) terms[d] = (aj_index_term){(int32_t)at[1 + 3 * d], at[2 + 3 * d], at[3 + 3 * d]};
}
