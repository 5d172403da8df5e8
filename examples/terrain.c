/* terrain: a filter over a digital elevation model. New here: slices as shifted views, broadcasting, argmax, reductions
 * of rows; the slope of the land from differences of neighbours, and the steepest place. */
#include "support.h"

enum { ROWS = 344, COLUMNS = 403 };

/* The .npy file holds a header of 128 bytes, then little-endian i16, row by row. */
static int16_t *read_elevation(int argc, char **argv) {
  FILE *file = open_data(argc, argv, "jacksboro.npy");
  int16_t *data = malloc(sizeof *data * ROWS * COLUMNS);
  if (!data || fseek(file, 128, SEEK_SET) || fread(data, sizeof *data, ROWS * COLUMNS, file) != ROWS * COLUMNS) {
    fprintf(stderr, "jacksboro.npy is not i16[344, 403]\n");
    exit(1);
  }
  fclose(file);
  return data;
}

/* The inner points of z, shifted by (rows, columns). */
static arrjit_value shifted(arrjit_graph *g, arrjit_value z, int64_t rows, int64_t columns) {
  int64_t start[2] = {1 + rows, 1 + columns}, limit[2] = {ROWS - 1 + rows, COLUMNS - 1 + columns}, step[2] = {1, 1};
  return arrjit_slice(g, z, 2, start, limit, step);
}

static arrjit_function *build(arrjit_context *context) {
  arrjit_graph *g;
  arrjit_function *f;
  arrjit_error error;
  must(arrjit_graph_create(context, &g, &error), &error);
  arrjit_type type = arrjit_type_make(ARRJIT_I16, 2, (int64_t[]){ROWS, COLUMNS});
  arrjit_value z = arrjit_convert(g, arrjit_param(g, "elevation", &type), ARRJIT_F32);
  /* a cell is 1/1200 degree: 92.5 m to the north, 74.3 m to the east at 36.6 degrees */
  arrjit_value north =
      arrjit_div(g, arrjit_sub(g, shifted(g, z, -1, 0), shifted(g, z, 1, 0)), arrjit_const_f32(g, 185.0f));
  arrjit_value east =
      arrjit_div(g, arrjit_sub(g, shifted(g, z, 0, 1), shifted(g, z, 0, -1)), arrjit_const_f32(g, 148.6f));
  arrjit_value slope = arrjit_sqrt(g, arrjit_add(g, arrjit_mul(g, north, north), arrjit_mul(g, east, east)));
  arrjit_value flat = arrjit_reshape(g, slope, 1, (int64_t[]){(ROWS - 2) * (COLUMNS - 2)});
  arrjit_value results[4] = {slope, arrjit_mean(g, slope, ARRJIT_ALL_AXES, NULL), arrjit_argmax(g, flat, 0),
                             arrjit_reduce_max(g, slope, 1, (int64_t[]){1})};
  arrjit_return(g, 4, results, NULL);
  must(arrjit_graph_finish(g, &f, &error), &error);
  arrjit_graph_destroy(g);
  return f;
}

int main(int argc, char **argv) {
  arrjit_context *context;
  arrjit_array *z;
  arrjit_result *r;
  arrjit_error error;
  int16_t *data = read_elevation(argc, argv);
  must(arrjit_context_create(NULL, &context, &error), &error);
  arrjit_function *f = build(context);
  arrjit_type type = arrjit_type_make(ARRJIT_I16, 2, (int64_t[]){ROWS, COLUMNS});
  must(arrjit_array_wrap(context, &type, data, NULL, NULL, NULL, &z, &error), &error);
  arrjit_run_options options = {.struct_bytes = sizeof options, .mode = ARRJIT_MODE_WHOLE};
  must(arrjit_run(f, &options, 1, &z, &r, &error), &error);
  const float *slope = arrjit_array_data(arrjit_result_output(r, 0));
  int64_t steepest = *(const int64_t *)arrjit_array_data(arrjit_result_output(r, 2));
  const float *ridge = arrjit_array_data(arrjit_result_output(r, 3));
  float gentlest = ridge[0];
  for (int i = 1; i < ROWS - 2; i++) gentlest = ridge[i] < gentlest ? ridge[i] : gentlest;
  printf("mean slope %.4f\n", *(const float *)arrjit_array_data(arrjit_result_output(r, 1)));
  printf("steepest %.4f at row %lld, column %lld\n", slope[steepest], (long long)(steepest / (COLUMNS - 2) + 1),
         (long long)(steepest % (COLUMNS - 2) + 1));
  printf("the steepest place of every row has at least %.4f\n", gentlest);
  arrjit_result_destroy(r);
  arrjit_array_release(z);
  arrjit_function_release(f);
  free(data);
  return arrjit_context_destroy(context) != ARRJIT_OK;
}
