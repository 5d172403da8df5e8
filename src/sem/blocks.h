/* Operands of whole arrays a block at a time: between the executors of sem. */
#ifndef AJ_SEM_BLOCKS_H
#define AJ_SEM_BLOCKS_H

#include "sem/program.h"

/* Chooses how x is read; bytes of scratch that takes. */
size_t aj_block_operand_bytes(aj_block_operand *x, int64_t count);
/* Gives it that scratch; where the next operand's begins. */
char *aj_block_operand_place(aj_block_operand *x, int64_t count, char *scratch);
/* Elements start .. start + n - 1, contiguous; n <= AJ_BLOCK. */
const void *aj_block_operand_read(const aj_block_operand *x, int64_t start, int64_t n);

#endif
