/* SPDX-FileCopyrightText: gpuprof contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The interface of libgpuprof.so, for programs of any language. It opens recordings and lists their
 * tables. Columns of a table come as Arrow, and results of passes as JSON. Any thread may call.
 * Times are nanoseconds of the recording.
 *
 * Functions that can fail return 0, or a GPUPROF_ERROR_ number. Then `*error` is a text with cause
 * and fix, which gpuprof_free() takes back. Texts that go in are UTF-8.
 *
 * Streams, and the arrays that come from them, stay valid after gpuprof_close().
 */

#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rises when a function changes. New functions do not change it. */
#define GPUPROF_INTERFACE 1

enum {
  GPUPROF_ERROR_USAGE = 2,      /* what was asked for does not exist */
  GPUPROF_ERROR_UNREADABLE = 3, /* the recording cannot be read */
  GPUPROF_ERROR_MEMORY = 4
};

struct ArrowSchema;
struct ArrowArrayStream;
typedef struct gpuprof_recording gpuprof_recording;
typedef struct gpuprof_rows gpuprof_rows; /* of a SELECT */

typedef struct gpuprof_open_options {
  uint32_t size;      /* sizeof(gpuprof_open_options) */
  int32_t threads;    /* 0: as many as processors */
  int32_t no_symbols; /* not 0: leave program counters unnamed */
  const char* symfs;  /* folder with the files of modules; NULL: none */
} gpuprof_open_options;

int gpuprof_interface(void);
const char* gpuprof_version(void);
void gpuprof_free(char* text);

/* Opens a bundle, a .gpt file or a trace of another tool. `options` may be NULL. */
int gpuprof_open(const char* path, const gpuprof_open_options* options,
                 gpuprof_recording** recording, char** error);
void gpuprof_close(gpuprof_recording* recording);

/* Gives a JSON array of tables: name, meaning of rows, columns with name, type and unit. */
int gpuprof_tables(gpuprof_recording* recording, char** json, char** error);
/* Gives a JSON array of sentences: which parts of the recording could not be read. */
int gpuprof_faults(gpuprof_recording* recording, char** json, char** error);
int gpuprof_count(gpuprof_recording* recording, const char* table, uint64_t* rows, char** error);
/* Reads a table. Only these columns are decoded. `columns` NULL: all. */
int gpuprof_read(gpuprof_recording* recording, const char* table, const char* const* columns,
                 uint64_t column_count, struct ArrowArrayStream* stream, char** error);

/* Gives the result of a pass, as `gpuprof stats PASS --json` prints it. `options`: a JSON object
 * with the command's options, as {"by": "device", "steps": [3, 5]}; NULL: none. */
int gpuprof_result(gpuprof_recording* recording, const char* pass, const char* options, char** json,
                   char** error);
/* Gives the fields of all results, as `gpuprof schema --json` prints them. */
int gpuprof_schema(char** json, char** error);

/* Runs one SELECT by DuckDB. `library`: path of libduckdb.so; NULL: it is looked for. */
int gpuprof_query(gpuprof_recording* recording, const char* sql, const char* library,
                  gpuprof_rows** rows, char** error);
uint64_t gpuprof_rows_count(const gpuprof_rows* rows);
int gpuprof_rows_schema(const gpuprof_rows* rows, struct ArrowSchema* schema, char** error);
/* Reads the rows, which can be read many times. `columns`: their places; NULL: all. */
int gpuprof_rows_read(const gpuprof_rows* rows, const uint64_t* columns, uint64_t column_count,
                      struct ArrowArrayStream* stream, char** error);
void gpuprof_rows_close(gpuprof_rows* rows);

#ifdef __cplusplus
}
#endif
