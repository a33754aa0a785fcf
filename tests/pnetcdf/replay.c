/* Runs scripts of PnetCDF calls. Each line is one call: the ranks that make it ("*" or "0,2"), the
 * name and the arguments. Each rank writes the code of each call, and what it has read, to
 * LOG.RANK.
 *
 *   replay SCRIPT LOG [SCRIPT LOG]...
 *
 * Values of a put are first + i * step, as double, cast to the type of memory. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 16

static FILE* out;
static int rank, ranks, file = -1;
static int requests[1 << 16];  /* by the number that the script gives */
static void* buffers[1 << 16]; /* of requests */
static long sizes[1 << 16];    /* elements of gets; -1: a put */
static char types[1 << 16][16];
static int line_number;

static size_t size_of(const char* type) {
  if (!strcmp(type, "text") || !strcmp(type, "schar") || !strcmp(type, "uchar")) return 1;
  if (!strcmp(type, "short") || !strcmp(type, "ushort")) return 2;
  if (!strcmp(type, "int") || !strcmp(type, "uint") || !strcmp(type, "float")) return 4;
  return 8;
}

static void fill(const char* type, void* to, long count, double first, double step) {
  for (long i = 0; i < count; ++i) {
    const double v = first + (double)i * step;
    if (!strcmp(type, "text"))
      ((char*)to)[i] = (char)('a' + ((long)v % 26 + 26) % 26);
    else if (!strcmp(type, "schar"))
      ((signed char*)to)[i] = (signed char)(long)v;
    else if (!strcmp(type, "uchar"))
      ((unsigned char*)to)[i] = (unsigned char)(long)v;
    else if (!strcmp(type, "short"))
      ((short*)to)[i] = (short)(long)v;
    else if (!strcmp(type, "ushort"))
      ((unsigned short*)to)[i] = (unsigned short)(long)v;
    else if (!strcmp(type, "int"))
      ((int*)to)[i] = (int)(long)v;
    else if (!strcmp(type, "uint"))
      ((unsigned*)to)[i] = (unsigned)(long)v;
    else if (!strcmp(type, "long"))
      ((long*)to)[i] = (long)v;
    else if (!strcmp(type, "float"))
      ((float*)to)[i] = (float)v;
    else if (!strcmp(type, "double"))
      ((double*)to)[i] = v;
    else if (!strcmp(type, "longlong"))
      ((long long*)to)[i] = (long long)v;
    else
      ((unsigned long long*)to)[i] = (unsigned long long)(long long)v;
  }
}

static void show(const char* type, const void* from, long count) {
  for (long i = 0; i < count; ++i) {
    if (!strcmp(type, "text"))
      fprintf(out, " %d", ((const char*)from)[i]);
    else if (!strcmp(type, "schar"))
      fprintf(out, " %d", ((const signed char*)from)[i]);
    else if (!strcmp(type, "uchar"))
      fprintf(out, " %d", ((const unsigned char*)from)[i]);
    else if (!strcmp(type, "short"))
      fprintf(out, " %d", ((const short*)from)[i]);
    else if (!strcmp(type, "ushort"))
      fprintf(out, " %d", ((const unsigned short*)from)[i]);
    else if (!strcmp(type, "int"))
      fprintf(out, " %d", ((const int*)from)[i]);
    else if (!strcmp(type, "uint"))
      fprintf(out, " %u", ((const unsigned*)from)[i]);
    else if (!strcmp(type, "long"))
      fprintf(out, " %ld", ((const long*)from)[i]);
    else if (!strcmp(type, "float"))
      fprintf(out, " %.9g", (double)((const float*)from)[i]);
    else if (!strcmp(type, "double"))
      fprintf(out, " %.17g", ((const double*)from)[i]);
    else if (!strcmp(type, "longlong"))
      fprintf(out, " %lld", ((const long long*)from)[i]);
    else
      fprintf(out, " %llu", ((const unsigned long long*)from)[i]);
  }
}

/* --- the typed calls --- */

#define TYPES(X)            \
  X(text, char)             \
  X(schar, signed char)     \
  X(uchar, unsigned char)   \
  X(short, short)           \
  X(ushort, unsigned short) \
  X(int, int)               \
  X(uint, unsigned)         \
  X(long, long)             \
  X(float, float) X(double, double) X(longlong, long long) X(ulonglong, unsigned long long)

struct slab {
  int variable;
  MPI_Offset *start, *count, *stride, *imap;
};

static int access_slab(const char* call, const char* kind, int all, const char* type,
                       const struct slab* s, void* buffer, int* request) {
#define ALL_KINDS(verb, SUFFIX, T, TAIL)                                                         \
  if (!strcmp(kind, "var")) return ncmpi_##verb##_var_##SUFFIX(file, s->variable, buffer TAIL);  \
  if (!strcmp(kind, "var1"))                                                                     \
    return ncmpi_##verb##_var1_##SUFFIX(file, s->variable, s->start, buffer TAIL);               \
  if (!strcmp(kind, "vara"))                                                                     \
    return ncmpi_##verb##_vara_##SUFFIX(file, s->variable, s->start, s->count, buffer TAIL);     \
  if (!strcmp(kind, "vars"))                                                                     \
    return ncmpi_##verb##_vars_##SUFFIX(file, s->variable, s->start, s->count, s->stride,        \
                                        buffer TAIL);                                            \
  return ncmpi_##verb##_varm_##SUFFIX(file, s->variable, s->start, s->count, s->stride, s->imap, \
                                      buffer TAIL);
#define NOTHING
#define REQUEST , request
#define ONE_TYPE(name, T)                    \
  if (!strcmp(type, #name)) {                \
    if (!strcmp(call, "put") && all) {       \
      ALL_KINDS(put, name##_all, T, NOTHING) \
    }                                        \
    if (!strcmp(call, "put")) {              \
      ALL_KINDS(put, name, T, NOTHING)       \
    }                                        \
    if (!strcmp(call, "get") && all) {       \
      ALL_KINDS(get, name##_all, T, NOTHING) \
    }                                        \
    if (!strcmp(call, "get")) {              \
      ALL_KINDS(get, name, T, NOTHING)       \
    }                                        \
    if (!strcmp(call, "iput")) {             \
      ALL_KINDS(iput, name, T, REQUEST)      \
    }                                        \
    if (!strcmp(call, "bput")) {             \
      ALL_KINDS(bput, name, T, REQUEST)      \
    }                                        \
    ALL_KINDS(iget, name, T, REQUEST)        \
  }
  TYPES(ONE_TYPE)
  return 1;
}

static int access_n(const char* call, int all, const char* type, int variable, int n,
                    MPI_Offset** starts, MPI_Offset** counts, void* buffer, int* request) {
#define ONE_N(name, T)                                                                    \
  if (!strcmp(type, #name)) {                                                             \
    if (!strcmp(call, "put"))                                                             \
      return all ? ncmpi_put_varn_##name##_all(file, variable, n, starts, counts, buffer) \
                 : ncmpi_put_varn_##name(file, variable, n, starts, counts, buffer);      \
    if (!strcmp(call, "get"))                                                             \
      return all ? ncmpi_get_varn_##name##_all(file, variable, n, starts, counts, buffer) \
                 : ncmpi_get_varn_##name(file, variable, n, starts, counts, buffer);      \
    if (!strcmp(call, "iput"))                                                            \
      return ncmpi_iput_varn_##name(file, variable, n, starts, counts, buffer, request);  \
    if (!strcmp(call, "bput"))                                                            \
      return ncmpi_bput_varn_##name(file, variable, n, starts, counts, buffer, request);  \
    return ncmpi_iget_varn_##name(file, variable, n, starts, counts, buffer, request);    \
  }
  TYPES(ONE_N)
  return 1;
}

static MPI_Datatype mpi_type(const char* type) {
  if (!strcmp(type, "text")) return MPI_CHAR;
  if (!strcmp(type, "schar")) return MPI_SIGNED_CHAR;
  if (!strcmp(type, "uchar")) return MPI_UNSIGNED_CHAR;
  if (!strcmp(type, "short")) return MPI_SHORT;
  if (!strcmp(type, "ushort")) return MPI_UNSIGNED_SHORT;
  if (!strcmp(type, "int")) return MPI_INT;
  if (!strcmp(type, "uint")) return MPI_UNSIGNED;
  if (!strcmp(type, "long")) return MPI_LONG;
  if (!strcmp(type, "float")) return MPI_FLOAT;
  if (!strcmp(type, "double")) return MPI_DOUBLE;
  if (!strcmp(type, "longlong")) return MPI_LONG_LONG_INT;
  return MPI_UNSIGNED_LONG_LONG;
}

static int att(int put, const char* type, int variable, const char* name, int xtype, MPI_Offset n,
               void* v) {
#define ONE_ATT(T_NAME, T)                                                 \
  if (!strcmp(type, #T_NAME))                                              \
    return put ? ncmpi_put_att_##T_NAME(file, variable, name, xtype, n, v) \
               : ncmpi_get_att_##T_NAME(file, variable, name, v);
  if (!strcmp(type, "text"))
    return put ? ncmpi_put_att_text(file, variable, name, n, v)
               : ncmpi_get_att_text(file, variable, name, v);
  ONE_ATT(schar, signed char)
  ONE_ATT(uchar, unsigned char)
  ONE_ATT(short, short)
  ONE_ATT(ushort, unsigned short)
  ONE_ATT(int, int)
  ONE_ATT(uint, unsigned)
  ONE_ATT(long, long)
  ONE_ATT(float, float)
  ONE_ATT(double, double)
  ONE_ATT(longlong, long long) ONE_ATT(ulonglong, unsigned long long) return 1;
}

/* --- words of a line --- */

static char* rest;
static char* word(void) { return strtok_r(NULL, " \n", &rest); }
static long number(void) {
  char* const text = word();
  return text ? strtol(text, NULL, 10) : 0;
}
static double real(void) { return strtod(word(), NULL); }
static MPI_Offset* offsets(int n) {
  MPI_Offset* const all = malloc(sizeof(MPI_Offset) * (size_t)(n + 1));
  for (int i = 0; i < n; ++i) all[i] = number();
  return all;
}

/* Writes all definitions. */
static void describe(void) {
  int dims, vars, atts, record;
  char name[NC_MAX_NAME + 1];
  fprintf(out, " code %d", ncmpi_inq(file, &dims, &vars, &atts, &record));
  fprintf(out, " dims %d vars %d atts %d record %d", dims, vars, atts, record);
  for (int d = 0; d < dims; ++d) {
    MPI_Offset length;
    ncmpi_inq_dim(file, d, name, &length);
    fprintf(out, " %s=%lld", name, (long long)length);
  }
  for (int v = -1; v < vars; ++v) {
    int type, rank_of, ids[MOST], count = atts, off = -1;
    if (v >= 0) {
      ncmpi_inq_var(file, v, name, &type, &rank_of, ids, &count);
      ncmpi_inq_var_fill(file, v, &off, NULL);
      fprintf(out, " var %s type %d nofill %d dims", name, type, off);
      for (int i = 0; i < rank_of; ++i) fprintf(out, " %d", ids[i]);
    }
    for (int a = 0; a < count; ++a) {
      MPI_Offset n;
      int id;
      double values[256];
      char text[256];
      ncmpi_inq_attname(file, v, a, name);
      ncmpi_inq_att(file, v, name, &type, &n);
      ncmpi_inq_attid(file, v, name, &id);
      fprintf(out, " att %s id %d type %d n %lld:", name, id, type, (long long)n);
      if (type == NC_CHAR) {
        ncmpi_get_att_text(file, v, name, text);
        show("text", text, n);
      } else {
        ncmpi_get_att_double(file, v, name, values);
        show("double", values, n);
      }
    }
  }
}

static int is_mine(const char* who) {
  if (*who == '*') return 1;
  for (const char* at = who; *at;) {
    char* end;
    if (strtol(at, &end, 10) == rank) return 1;
    at = *end ? end + 1 : end;
  }
  return 0;
}

static int run_access(const char* call) {
  /* CALL KIND ALL TYPE FLEX REQUEST VARIABLE NDIMS ELEMENTS FIRST STEP start count stride imap */
  const char* const kind = word();
  const int all = (int)number();
  const char* const type = word();
  const int flexible = (int)number();
  const int which = (int)number();
  const int variable = (int)number(), dims = (int)number();
  const long elements = number();
  const double first = real(), step = real();
  const int gets = strstr(call, "get") != NULL;
  long room = elements;
  struct slab s = {variable, NULL, NULL, NULL, NULL};
  int n = 0, code;
  MPI_Offset *starts[64], *counts[64];
  if (!strcmp(kind, "varn")) {
    n = (int)number();
    for (int i = 0; i < n; ++i) starts[i] = offsets(dims), counts[i] = offsets(dims);
  } else {
    s.start = offsets(dims);
    s.count = offsets(dims);
    s.stride = offsets(dims);
    s.imap = offsets(dims);
    room = number();
  }
  if (flexible == 1) room = 2 * room + 1; /* every second element of the buffer */
  char* const buffer = calloc((size_t)room + 1, 8);
  if (!gets) fill(type, buffer, room, first, step);
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  if (flexible == 1 && elements > 0) {
    MPI_Type_vector((int)elements, 1, 2, mpi_type(type), &strided);
  } else if (flexible == 2 && elements > 0) { /* the two elements of each pair are exchanged */
    const int lengths[] = {1, 1}, places[] = {1, 0};
    MPI_Datatype pair;
    MPI_Type_indexed(2, lengths, places, mpi_type(type), &pair);
    MPI_Type_contiguous((int)elements / 2, pair, &strided);
    MPI_Type_free(&pair);
  }
  if (strided != MPI_DATATYPE_NULL) MPI_Type_commit(&strided);
  int* const request = &requests[which];
  if (strided != MPI_DATATYPE_NULL) {
    if (!strcmp(call, "put"))
      code = all ? ncmpi_put_vara_all(file, variable, s.start, s.count, buffer, 1, strided)
                 : ncmpi_put_vara(file, variable, s.start, s.count, buffer, 1, strided);
    else if (!strcmp(call, "get"))
      code = all ? ncmpi_get_vara_all(file, variable, s.start, s.count, buffer, 1, strided)
                 : ncmpi_get_vara(file, variable, s.start, s.count, buffer, 1, strided);
    else if (!strcmp(call, "iput"))
      code = ncmpi_iput_vara(file, variable, s.start, s.count, buffer, 1, strided, request);
    else if (!strcmp(call, "bput"))
      code = ncmpi_bput_vara(file, variable, s.start, s.count, buffer, 1, strided, request);
    else
      code = ncmpi_iget_vara(file, variable, s.start, s.count, buffer, 1, strided, request);
    MPI_Type_free(&strided);
  } else if (n > 0) {
    code = access_n(call, all, type, variable, n, starts, counts, buffer, request);
  } else {
    code = access_slab(call, kind, all, type, &s, buffer, request);
  }
  fprintf(out, " %d", code);
  if (!strcmp(call, "get")) show(type, buffer, room);
  if (call[0] == 'i') {
    buffers[which] = buffer;
    sizes[which] = gets ? room : -1;
    strcpy(types[which], type);
  } else {
    free(buffer);
  }
  for (int i = 0; i < n; ++i) free(starts[i]), free(counts[i]);
  free(s.start), free(s.count), free(s.stride), free(s.imap);
  return code;
}

static void run_wait(int all) {
  const int n = (int)number();
  int ids[1024], which[1024], statuses[1024];
  for (int i = 0; i < n; ++i)
    which[i] = (int)number(), ids[i] = requests[which[i]], statuses[i] = 99;
  const int code = all == 2 ? ncmpi_cancel(file, n, ids, statuses)
                   : all    ? ncmpi_wait_all(file, n, ids, statuses)
                            : ncmpi_wait(file, n, ids, statuses);
  fprintf(out, " %d", code);
  for (int i = 0; i < n; ++i) {
    fprintf(out, " st %d", statuses[i]);
    if (buffers[which[i]]) {
      if (sizes[which[i]] >= 0 && all != 2) {
        fprintf(out, " got");
        show(types[which[i]], buffers[which[i]], sizes[which[i]]);
      }
      free(buffers[which[i]]);
      buffers[which[i]] = NULL;
    }
  }
}

static void run_line(char* line) {
  char* const who = strtok_r(line, " \n", &rest);
  if (who == NULL || *who == '#' || !is_mine(who)) return;
  const char* const call = word();
  int id, code = 0;
  fprintf(out, "%d %s", line_number, call);
  if (!strcmp(call, "create")) {
    const char* const path = word();
    code = ncmpi_create(MPI_COMM_WORLD, path, (int)number(), MPI_INFO_NULL, &file);
  } else if (!strcmp(call, "open")) {
    const char* const path = word();
    code = ncmpi_open(MPI_COMM_WORLD, path, (int)number(), MPI_INFO_NULL, &file);
  } else if (!strcmp(call, "close"))
    code = ncmpi_close(file);
  else if (!strcmp(call, "abort"))
    code = ncmpi_abort(file);
  else if (!strcmp(call, "enddef"))
    code = ncmpi_enddef(file);
  else if (!strcmp(call, "redef"))
    code = ncmpi_redef(file);
  else if (!strcmp(call, "sync"))
    code = ncmpi_sync(file);
  else if (!strcmp(call, "sync_numrecs"))
    code = ncmpi_sync_numrecs(file);
  else if (!strcmp(call, "begin"))
    code = ncmpi_begin_indep_data(file);
  else if (!strcmp(call, "end"))
    code = ncmpi_end_indep_data(file);
  else if (!strcmp(call, "barrier"))
    code = MPI_Barrier(MPI_COMM_WORLD);
  else if (!strcmp(call, "attach"))
    code = ncmpi_buffer_attach(file, number());
  else if (!strcmp(call, "detach"))
    code = ncmpi_buffer_detach(file);
  else if (!strcmp(call, "set_fill"))
    code = ncmpi_set_fill(file, (int)number(), &id);
  else if (!strcmp(call, "fill_rec")) {
    id = (int)number();
    code = ncmpi_fill_var_rec(file, id, number());
  } else if (!strcmp(call, "def_dim")) {
    const char* n = word();
    code = ncmpi_def_dim(file, n, number(), &id);
  } else if (!strcmp(call, "def_var")) {
    const char* const n = word();
    const int type = (int)number(), dims = (int)number();
    int ids[MOST];
    for (int i = 0; i < dims; ++i) ids[i] = (int)number();
    code = ncmpi_def_var(file, n, type, dims, ids, &id);
  } else if (!strcmp(call, "put_att")) {
    const int v = (int)number();
    const char* const n = word();
    const char* const type = word();
    const int xtype = (int)number();
    const long count = number();
    const double first = real(), step = real();
    char values[4096];
    fill(type, values, count, first, step);
    code = att(1, type, v, n, xtype, count, values);
  } else if (!strcmp(call, "del_att")) {
    id = (int)number();
    code = ncmpi_del_att(file, id, word());
  } else if (!strcmp(call, "rename_att")) {
    id = (int)number();
    const char* const n = word();
    code = ncmpi_rename_att(file, id, n, word());
  } else if (!strcmp(call, "chdir")) {
    code = chdir(word());
  } else if (!strcmp(call, "rename_dim")) {
    id = (int)number();
    code = ncmpi_rename_dim(file, id, word());
  } else if (!strcmp(call, "rename_var")) {
    id = (int)number();
    code = ncmpi_rename_var(file, id, word());
  } else if (!strcmp(call, "inq")) {
    describe();
    fputc('\n', out);
    return;
  } else if (!strcmp(call, "wait")) {
    run_wait(0);
    fputc('\n', out);
    return;
  } else if (!strcmp(call, "wait_all")) {
    run_wait(1);
    fputc('\n', out);
    return;
  } else if (!strcmp(call, "cancel")) {
    run_wait(2);
    fputc('\n', out);
    return;
  } else {
    run_access(call);
    fputc('\n', out);
    return;
  }
  fprintf(out, " %d\n", code);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argv[i + 1], rank);
    FILE* const in = fopen(argv[i], "r");
    out = fopen(path, "w");
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 2);
    static char line[1 << 16];
    for (line_number = 1; fgets(line, sizeof line, in); ++line_number) {
      run_line(line);
      fflush(out);
    }
    fclose(in);
    fclose(out);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
