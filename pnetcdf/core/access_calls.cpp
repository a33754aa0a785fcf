// Puts and gets: the checks of PnetCDF in its order, then the values.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "calls.h"
#include "file_type.h"
#include "open_file.h"

namespace nmb::pnetcdf {

namespace {

bool is_read(unsigned flags) { return (flags & kRead) != 0; }
bool is_collective(unsigned flags) { return (flags & kCollective) != 0; }
bool is_nonblocking(unsigned flags) { return (flags & kNonblocking) != 0; }
bool is_flexible(unsigned flags) { return (flags & kFlexible) != 0; }

// Checks what does not depend on the hyperslab. type: MPI_DATATYPE_NULL in flexible calls.
int check_call(const OpenFile& file, int variable, unsigned flags, MPI_Datatype type) {
  if (!is_read(flags) && file.read_only) return code::kReadOnly;
  if (!is_nonblocking(flags)) {
    if (file.defining) return code::kInDefine;
    if (is_collective(flags) ? file.independent : !file.independent)
      return is_collective(flags) ? code::kIndependent : code::kNotIndependent;
  }
  if (variable == kGlobalVariable) return code::kGlobalId;
  if (!file.header.has_var(variable)) return code::kNotVar;
  if (type == MPI_DATATYPE_NULL) return code::kOk;
  const Type stored = file.header.all().variable(static_cast<VarId>(variable)).type;
  return (type == MPI_CHAR) == (stored == Type::kChar) ? code::kOk : code::kChar;
}

// After these errors, a rank does not take part in a collective call, nor does PnetCDF.
bool ends_call(int failed) {
  return failed == code::kReadOnly || failed == code::kInDefine || failed == code::kIndependent ||
         failed == code::kNotIndependent;
}

int check_start(const OpenFile& file, MPI_Offset start, MPI_Offset count, MPI_Offset length) {
  if (start < 0) return code::kInvalidCoords;
  if (file.strict_coords) return start >= length ? code::kInvalidCoords : code::kOk;
  if (start > length || (start == length && count > 0)) return code::kInvalidCoords;
  return code::kOk;
}

int check_end(MPI_Offset start, MPI_Offset count, const MPI_Offset* stride, MPI_Offset length) {
  if (count > length || count > length - start) return code::kEdge;
  if (stride == nullptr || count <= 0) return code::kOk;
  MPI_Offset last = 0;
  if (__builtin_mul_overflow(count - 1, *stride, &last) ||
      __builtin_add_overflow(last, start, &last) || last >= length)
    return code::kEdge;
  return code::kOk;
}

// Checks a hyperslab of a variable with dimensions.
int check_slab(const OpenFile& file, int variable, unsigned flags, Api api, const MPI_Offset* start,
               const MPI_Offset* count, const MPI_Offset* stride) {
  const Variable var = file.header.all().variable(static_cast<VarId>(variable));
  const std::size_t rank = var.dimensions.size();
  const bool record = file.header.is_record(variable);
  const auto length_of = [&](std::size_t i) {
    return static_cast<MPI_Offset>(
        record && i == 0 ? file.records : file.header.all().dimension(var.dimensions[i]).length);
  };
  if (start == nullptr || start[0] < 0) return code::kInvalidCoords;
  if (record) {
    if (file.format != kFormatData && start[0] > MPI_Offset{4294967295U})
      return code::kInvalidCoords;
    if (is_read(flags)) {
      const MPI_Offset length = length_of(0), wanted = count ? count[0] : 1;
      if (length == 0 && wanted > 0) return code::kInvalidCoords;
      if (const int failed = check_start(file, start[0], wanted, length)) return failed;
    }
  }
  for (std::size_t i = record ? 1 : 0; i < rank; ++i)
    if (const int failed = check_start(file, start[i], count ? count[i] : 1, length_of(i)))
      return failed;
  if (count == nullptr) return api == Api::kVar1 ? code::kOk : code::kEdge;
  if (record) {
    if (count[0] < 0) return code::kNegativeCount;
    if (is_read(flags))
      if (const int failed = check_end(start[0], count[0], stride, length_of(0))) return failed;
  }
  for (std::size_t i = record ? 1 : 0; i < rank; ++i) {
    if (count[i] < 0) return code::kNegativeCount;
    if (const int failed =
            check_end(start[i], count[i], stride ? stride + i : nullptr, length_of(i)))
      return failed;
  }
  for (std::size_t i = 0; stride != nullptr && i < rank; ++i)
    if (stride[i] <= 0) return code::kStride;
  if (record && !is_read(flags) && count[0] > 0) {
    // A record number beyond what a file can have.
    MPI_Offset last = count[0] - 1;
    if ((stride && __builtin_mul_overflow(last, stride[0], &last)) ||
        __builtin_add_overflow(last, start[0], &last) ||
        last >= std::numeric_limits<MPI_Offset>::max() / 2)
      return code::kInvalidCoords;
  }
  return code::kOk;
}

// Hyperslabs of one variable, as arrays of start, count and (perhaps) stride.
struct Selection {
  int variable = 0;
  std::size_t rank = 0;
  bool has_stride = false;
  int slabs = 0;
  std::vector<MPI_Offset> index{};
  MPI_Offset elements = 0;
  MPI_Offset records = 0;
  std::vector<Access> spread{};  // of vard: hyperslabs of any variables, in place of `index`

  void add(const OpenFile& file, const MPI_Offset* start, const MPI_Offset* count,
           const MPI_Offset* stride) {
    MPI_Offset selected = 1;
    for (std::size_t i = 0; i < rank; ++i) selected *= count ? count[i] : 1;
    if (selected == 0) return;
    for (std::size_t i = 0; i < rank; ++i) index.push_back(start[i]);
    for (std::size_t i = 0; i < rank; ++i) index.push_back(count ? count[i] : 1);
    for (std::size_t i = 0; has_stride && i < rank; ++i) index.push_back(stride ? stride[i] : 1);
    if (file.header.is_record(variable)) {
      const MPI_Offset more = (count ? count[0] - 1 : 0) * (stride ? stride[0] : 1);
      records = std::max(records, start[0] + more + 1);
    }
    ++slabs;
    elements += selected;
  }
};

// Splits hyperslabs into accesses whose values follow each other.
void add_accesses(int variable, std::size_t rank, bool has_stride, int slabs,
                  const std::vector<MPI_Offset>& index, std::size_t size, std::byte* values,
                  std::vector<Access>* out) {
  const MPI_Offset* at = index.data();
  for (int s = 0; s < slabs; ++s) {
    Access access;
    access.variable = variable;
    const auto take = [&](DimIndices* to) {
      to->assign(at, at + rank);
      at += rank;
    };
    take(&access.slab.start);
    take(&access.slab.count);
    if (has_stride) take(&access.slab.stride);
    access.elements = 1;
    for (const std::uint64_t length : access.slab.count) access.elements *= length;
    access.values = values;
    values += access.elements * size;
    out->push_back(std::move(access));
  }
}

// As add_accesses(), for puts: hyperslabs without strides become one access, which refers to
// `index`.
void add_puts(int variable, std::size_t rank, bool has_stride, int slabs,
              const std::vector<MPI_Offset>& index, std::size_t size, std::uint64_t elements,
              const std::byte* values, std::vector<Access>* out) {
  auto* const bytes = const_cast<std::byte*>(values);
  if (slabs < 2 || has_stride || rank == 0)
    return add_accesses(variable, rank, has_stride, slabs, index, size, bytes, out);
  out->push_back({variable, {}, index, bytes, elements});
}

void add_accesses(const Selection& selection, std::size_t size, std::byte* values,
                  std::vector<Access>* out) {
  add_accesses(selection.variable, selection.rank, selection.has_stride, selection.slabs,
               selection.index, size, values, out);
  for (const Access& one : selection.spread) {
    out->push_back(one);
    out->back().values = values;
    values += one.elements * size;
  }
}

void add_puts(const Selection& selection, std::size_t size, const std::byte* values,
              std::vector<Access>* out) {
  if (!selection.spread.empty())
    return add_accesses(selection, size, const_cast<std::byte*>(values), out);
  add_puts(selection.variable, selection.rank, selection.has_stride, selection.slabs,
           selection.index, size, static_cast<std::uint64_t>(selection.elements), values, out);
}

std::size_t rank_of(const OpenFile& file, int variable) {
  return file.header.all().variable(static_cast<VarId>(variable)).dimensions.size();
}
Type type_of_var(const OpenFile& file, int variable) {
  return file.header.all().variable(static_cast<VarId>(variable)).type;
}

// Brings the values of a put into the variable's native type. `values` points to them: in the
// user's buffer if nothing had to change, else in `owned`. copies: also if nothing has to change.
int take_values(const OpenFile& file, const Selection& selection, const Buffer& buffer,
                const MPI_Offset* imap, const void* user, bool copies, const std::byte** values,
                std::unique_ptr<std::byte[]>* owned) {
  const Type type = type_of_var(file, selection.variable);
  const auto elements = static_cast<std::size_t>(buffer.elements);
  const std::size_t size = buffer.element.size(), stored = type_size(type);
  const auto* from = static_cast<const std::byte*>(user);
  std::unique_ptr<std::byte[]> packed, mapped;
  if (!buffer.is_contiguous) {
    packed = std::make_unique_for_overwrite<std::byte[]>(elements * size);
    if (const int failed = pack(user, buffer, packed.get())) return failed;
    from = packed.get();
  }
  const std::span<const MPI_Offset> count(selection.index.data() + selection.rank, selection.rank);
  if (imap != nullptr && selection.slabs == 1 && is_mapped(count, imap)) {
    mapped = std::make_unique_for_overwrite<std::byte[]>(elements * size);
    gather(from, count, imap, size, mapped.get());
    from = mapped.get();
    packed.reset();
  }
  int result = code::kOk;
  if (needs_conversion(type, buffer.element.type, file.format)) {
    *owned = std::make_unique_for_overwrite<std::byte[]>(elements * stored);
    std::byte fill[8]{};
    file.header.fill_value(selection.variable, fill);
    if (convert(buffer.element.type, from, elements, native(type), owned->get(), fill) != 0)
      result = code::kRange;
    *values = owned->get();
  } else if (packed || mapped) {
    *owned = packed ? std::move(packed) : std::move(mapped);
    *values = owned->get();
  } else if (copies) {
    *owned = std::make_unique_for_overwrite<std::byte[]>(elements * stored);
    if (elements > 0) std::memcpy(owned->get(), from, elements * stored);
    *values = owned->get();
  } else {
    *values = from;
  }
  return result;
}

// Returns whether values that are read can go straight to the user's buffer.
bool is_direct(const OpenFile& file, int variable, const Target& target) {
  return target.shape.is_contiguous && target.imap.empty() &&
         !needs_conversion(type_of_var(file, variable), target.shape.element.type, file.format);
}

int give_values(const OpenFile& file, int variable, const Target& target, const std::byte* values) {
  const Type type = type_of_var(file, variable);
  const auto elements = static_cast<std::size_t>(target.shape.elements);
  const std::size_t size = target.shape.element.size();
  int result = code::kOk;
  std::unique_ptr<std::byte[]> converted, mapped;
  const std::byte* from = values;
  if (needs_conversion(type, target.shape.element.type, file.format)) {
    converted = std::make_unique_for_overwrite<std::byte[]>(elements * size);
    std::byte fill[8]{};
    default_fill(target.shape.element, fill);
    if (convert(native(type), from, elements, target.shape.element.type, converted.get(), fill) !=
        0)
      result = code::kRange;
    from = converted.get();
  }
  auto* user = static_cast<std::byte*>(target.buffer);
  if (!target.imap.empty()) {
    if (target.shape.is_contiguous) {
      scatter(from, target.imap_count, target.imap.data(), size, user);
      return result;
    }
    mapped = std::make_unique_for_overwrite<std::byte[]>(elements * size);
    scatter(from, target.imap_count, target.imap.data(), size, mapped.get());
    from = mapped.get();
  }
  if (!target.shape.is_contiguous) {
    const int failed = unpack(from, target.shape, user);
    return failed != code::kOk ? failed : result;
  }
  if (elements > 0) std::memcpy(user, from, elements * size);
  return result;
}

// Reads the hyperslabs of one variable.
int read_values(OpenFile& file, const Selection& selection, const Target& target) {
  const std::size_t size = type_size(type_of_var(file, selection.variable));
  const bool direct = is_direct(file, selection.variable, target);
  std::unique_ptr<std::byte[]> own;
  auto* to = static_cast<std::byte*>(target.buffer);
  if (!direct) {
    own = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(selection.elements) *
                                                      size);
    to = own.get();
  }
  std::vector<Access> accesses;
  add_accesses(selection, size, to, &accesses);
  for (const Access& access : accesses)
    if (const int failed = file.get(access)) return failed;
  return direct ? code::kOk : give_values(file, selection.variable, target, to);
}

// One access of a program: what it selects and the memory for it.
struct Job {
  Selection selection;
  Buffer buffer{};
  const MPI_Offset* imap = nullptr;
  void* user = nullptr;
};

int lone_type(unsigned flags, MPI_Offset count_of, MPI_Datatype type) {
  return is_flexible(flags) && type != MPI_DATATYPE_NULL && count_of == kCountIgnore &&
                 !may_stand_alone(type)
             ? code::kInvalid
             : code::kOk;
}

// Finds out what the buffer of a job has.
int look_at_buffer(const OpenFile& file, MPI_Offset count_of, MPI_Datatype type, Job* job) {
  return decode_buffer(count_of, type, type_of_var(file, job->selection.variable),
                       job->selection.elements, &job->buffer);
}

Target target_of(const Job& job) {
  Target target;
  target.buffer = job.user;
  target.shape = job.buffer;
  const std::span<const MPI_Offset> count(job.selection.index.data() + job.selection.rank,
                                          job.selection.rank);
  if (job.imap != nullptr && job.selection.slabs == 1 && is_mapped(count, job.imap)) {
    target.imap_count.assign(count.begin(), count.end());
    target.imap.assign(job.imap, job.imap + job.selection.rank);
  }
  return target;
}

// Does the blocking accesses of one call. failed: a code of this rank's arguments; it then takes
// part in a collective call with nothing.
int run_blocking(OpenFile& file, unsigned flags, int failed, std::vector<Job>& jobs) {
  const bool collective = is_collective(flags);
  int status = failed;
  if (is_read(flags)) {
    const Tally::Span time(&file.tally.get);
    if (collective) {
      const int met = file.meet();
      if (status == code::kOk) status = met;
    }
    if (failed != code::kOk || status != code::kOk) return status;
    for (const Job& job : jobs) {
      if (job.selection.elements == 0) continue;
      const int one = read_values(file, job.selection, target_of(job));
      if (status == code::kOk) status = one;
    }
    return status;
  }
  const Tally::Span time(&file.tally.put);
  std::vector<Access> accesses;
  std::vector<std::unique_ptr<std::byte[]>> owned;
  MPI_Offset records = static_cast<MPI_Offset>(file.records);
  for (const Job& job : jobs) {
    if (failed != code::kOk || job.selection.elements == 0) continue;
    const std::byte* values = nullptr;
    std::unique_ptr<std::byte[]> own;
    const int one =
        take_values(file, job.selection, job.buffer, job.imap, job.user, false, &values, &own);
    if (status == code::kOk) status = one;
    if (one != code::kOk && one != code::kRange) continue;
    add_puts(job.selection, type_size(type_of_var(file, job.selection.variable)), values,
             &accesses);
    owned.push_back(std::move(own));
    records = std::max(records, job.selection.records);
  }
  if (!collective) {
    if (accesses.empty()) return status;
    const int put = file.put(accesses);
    if (put == code::kOk) file.records = static_cast<std::uint64_t>(records);
    return status == code::kOk || status == code::kRange ? (put != code::kOk ? put : status)
                                                         : status;
  }
  const int put = file.put_together(accesses);
  if (put == code::kOk && file.counts_records())
    file.records = static_cast<std::uint64_t>(file.highest(records));
  return put != code::kOk && (status == code::kOk || status == code::kRange) ? put : status;
}

// Posts a request.
int post(OpenFile& file, unsigned flags, Job& job, int* id) {
  const Selection& selection = job.selection;
  const std::size_t stored = type_size(type_of_var(file, selection.variable));
  if (selection.elements == 0) return code::kOk;
  Request request;
  request.variable = selection.variable;
  request.is_put = !is_read(flags);
  request.has_stride = selection.has_stride;
  request.slabs = selection.slabs;
  request.elements = static_cast<std::uint64_t>(selection.elements);
  int result = code::kOk;
  if (request.is_put) {
    const bool buffered = (flags & kBuffered) != 0;
    const auto bytes = selection.elements * static_cast<MPI_Offset>(stored);
    AttachedBuffer* const attached = file.requests.attached.get();
    if (buffered && attached->size - attached->used < bytes) return code::kBufferTooSmall;
    result = take_values(file, selection, job.buffer, job.imap, job.user, buffered, &request.values,
                         &request.owned);
    if (result != code::kOk && result != code::kRange) return result;
    if (buffered) request.buffered = attached->take(bytes);
    request.records = selection.records;
  } else {
    request.target = target_of(job);
    if (!job.buffer.is_contiguous) {
      // The program may free its type before it waits.
      MPI_Type_dup(job.buffer.type, &request.target.shape.type);
    }
  }
  request.index = std::move(job.selection.index);
  const Request& added = file.requests.add(std::move(request));
  if (id != nullptr) *id = added.id;
  return result;
}

void release(OpenFile& file, Request& request) {
  if (request.buffered >= 0 && file.requests.attached)
    file.requests.attached->free(request.buffered);
  if (!request.is_put && !request.target.shape.is_contiguous)
    MPI_Type_free(&request.target.shape.type);
}

Selection selection_of(const OpenFile& file, int variable, bool has_stride) {
  Selection made;
  made.variable = variable;
  made.rank = rank_of(file, variable);
  made.has_stride = has_stride;
  return made;
}

// The hyperslab of the whole variable.
void select_all(const OpenFile& file, Selection* selection) {
  const Variable var = file.header.all().variable(static_cast<VarId>(selection->variable));
  std::vector<MPI_Offset> start(selection->rank, 0), count;
  for (std::size_t i = 0; i < selection->rank; ++i)
    count.push_back(
        static_cast<MPI_Offset>(i == 0 && file.header.is_record(selection->variable)
                                    ? file.records
                                    : file.header.all().dimension(var.dimensions[i]).length));
  selection->add(file, start.data(), count.data(), nullptr);
}

Api narrowed(Api api, const MPI_Offset* stride, const MPI_Offset* imap) {
  if (api == Api::kVarM && imap == nullptr) api = stride ? Api::kVarS : Api::kVarA;
  if (api == Api::kVarS && stride == nullptr) api = Api::kVarA;
  return api;
}

}  // namespace

int access_var(int id, int variable, Api api, const MPI_Offset* start, const MPI_Offset* count,
               const MPI_Offset* stride, const MPI_Offset* imap, void* buffer, MPI_Offset count_of,
               MPI_Datatype type, unsigned flags, int* request) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  const bool posts = is_nonblocking(flags);
  if (posts && request != nullptr) *request = kNullRequest;
  int failed = check_call(*file, variable, flags, is_flexible(flags) ? MPI_DATATYPE_NULL : type);
  if (failed == code::kOk && (flags & kBuffered) != 0 && !file->requests.attached)
    failed = code::kNoBuffer;
  if (api != Api::kVar && failed == code::kOk && rank_of(*file, variable) > 0)
    failed = check_slab(*file, variable, flags, narrowed(api, stride, imap), start, count, stride);
  if (posts && failed == code::kOk && is_flexible(flags) && type != MPI_DATATYPE_NULL &&
      count_of == 0)
    return code::kOk;
  if (failed == code::kOk) failed = lone_type(flags, count_of, type);
  if (!is_collective(flags)) {
    if (failed != code::kOk) return failed;
    if (!posts && is_flexible(flags) && type != MPI_DATATYPE_NULL && count_of == 0)
      return code::kOk;
  } else {
    failed = file->agree(failed);
    if (failed != code::kOk && (file->safe || ends_call(failed) || file->ranks == 1)) return failed;
  }
  std::vector<Job> jobs(1);
  Job& job = jobs[0];
  if (failed == code::kOk) {
    job.selection = selection_of(*file, variable, stride != nullptr);
    if (api == Api::kVar)
      select_all(*file, &job.selection);
    else
      job.selection.add(*file, start, api == Api::kVar1 ? nullptr : count, stride);
    job.imap = imap;
    job.user = buffer;
    failed = look_at_buffer(*file, count_of, type, &job);
  }
  if (!posts) return run_blocking(*file, flags, failed, jobs);
  return failed != code::kOk ? failed : post(*file, flags, job, request);
}

int access_varn(int id, int variable, int number, MPI_Offset* const* starts,
                MPI_Offset* const* counts, void* buffer, MPI_Offset count_of, MPI_Datatype type,
                unsigned flags, int* request) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  const bool posts = is_nonblocking(flags);
  if (posts && request != nullptr) *request = kNullRequest;
  int failed = check_call(*file, variable, flags, is_flexible(flags) ? MPI_DATATYPE_NULL : type);
  if (failed == code::kOk && number == 0 && posts) return code::kOk;
  if (failed == code::kOk && (flags & kBuffered) != 0 && !file->requests.attached)
    failed = code::kNoBuffer;
  const bool scalar = failed == code::kOk && rank_of(*file, variable) == 0;
  if (failed == code::kOk && number != 0) {
    if (number < 0) {
      failed = code::kInvalid;
    } else if (scalar) {
      if (number != 1) failed = code::kInvalid;
    } else if (starts == nullptr) {
      failed = code::kNullStart;
    }
    for (int i = 0; failed == code::kOk && !scalar && i < number; ++i) {
      if (starts[i] == nullptr) {
        failed = code::kNullStart;
        break;
      }
      const MPI_Offset* const count = counts ? counts[i] : nullptr;
      failed = check_slab(*file, variable, flags, count ? Api::kVarA : Api::kVar1, starts[i], count,
                          nullptr);
    }
    if (posts && failed == code::kOk && is_flexible(flags) && type != MPI_DATATYPE_NULL &&
        count_of == 0)
      return code::kOk;
    if (failed == code::kOk) failed = lone_type(flags, count_of, type);
  }
  if (!is_collective(flags)) {
    if (failed != code::kOk) return failed;
    if (number == 0) return code::kOk;
  } else {
    failed = file->agree(failed);
    if (failed != code::kOk && (file->safe || ends_call(failed) || file->ranks == 1)) return failed;
  }
  std::vector<Job> jobs(1);
  Job& job = jobs[0];
  if (failed == code::kOk && number > 0) {
    job.selection = selection_of(*file, variable, false);
    if (scalar) {
      job.selection.add(*file, nullptr, nullptr, nullptr);
    } else {
      for (int i = 0; i < number; ++i)
        job.selection.add(*file, starts[i], counts ? counts[i] : nullptr, nullptr);
    }
    job.user = buffer;
    failed = look_at_buffer(*file, count_of, type, &job);
  } else {
    jobs.clear();
  }
  if (!posts) return run_blocking(*file, flags, failed, jobs);
  return failed != code::kOk ? failed : post(*file, flags, job, request);
}

int access_mvar(int id, int number, const int* variables, Api api, MPI_Offset* const* starts,
                MPI_Offset* const* counts, MPI_Offset* const* strides, MPI_Offset* const* imaps,
                void* const* buffers, const MPI_Offset* counts_of, const MPI_Datatype* types,
                MPI_Datatype type, unsigned flags) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (number == 0 && !is_collective(flags)) return code::kOk;
  int failed = number < 0 ? code::kInvalid : code::kOk;
  const auto at = [](MPI_Offset* const* all, int i) -> const MPI_Offset* {
    return all ? all[i] : nullptr;
  };
  if (number == 0) {
    if (file->defining)
      failed = code::kInDefine;
    else if (file->independent)
      failed = code::kIndependent;
  }
  for (int i = 0; failed == code::kOk && i < number; ++i) {
    const MPI_Datatype own = types ? types[i] : type;
    failed = check_call(*file, variables[i], flags, types ? MPI_DATATYPE_NULL : type);
    if (failed == code::kOk && api != Api::kVar && rank_of(*file, variables[i]) > 0)
      failed = check_slab(*file, variables[i], flags, narrowed(api, at(strides, i), at(imaps, i)),
                          at(starts, i), at(counts, i), at(strides, i));
    if (failed == code::kOk)
      failed = lone_type(flags, counts_of ? counts_of[i] : kCountIgnore, own);
  }
  if (!is_collective(flags)) {
    if (failed != code::kOk) return failed;
  } else {
    failed = file->agree(failed);
    if (failed != code::kOk && (file->safe || ends_call(failed) || file->ranks == 1)) return failed;
  }
  std::vector<Job> jobs;
  for (int i = 0; failed == code::kOk && i < number; ++i) {
    Job job;
    job.selection = selection_of(*file, variables[i], at(strides, i) != nullptr);
    if (api == Api::kVar)
      select_all(*file, &job.selection);
    else
      job.selection.add(*file, at(starts, i), api == Api::kVar1 ? nullptr : at(counts, i),
                        at(strides, i));
    job.imap = at(imaps, i);
    job.user = buffers[i];
    failed = look_at_buffer(*file, counts_of ? counts_of[i] : kCountIgnore, types ? types[i] : type,
                            &job);
    jobs.push_back(std::move(job));
  }
  return run_blocking(*file, flags, failed, jobs);
}

int access_vard(int id, int variable, MPI_Datatype file_type, void* buffer, MPI_Offset count_of,
                MPI_Datatype type, unsigned flags) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  int failed = check_call(*file, variable, flags, MPI_DATATYPE_NULL);
  if (failed == code::kOk) failed = lone_type(flags, count_of, type);
  const bool empty = type != MPI_DATATYPE_NULL && count_of == 0;
  if (!is_collective(flags)) {
    if (failed != code::kOk || empty) return failed;
  } else {
    failed = file->agree(failed);
    if (failed != code::kOk && (file->safe || ends_call(failed) || file->ranks == 1)) return failed;
  }
  std::vector<Job> jobs(1);
  Job& job = jobs[0];
  const auto look = [&] {
    if (empty || file_type == MPI_DATATYPE_NULL) return code::kOk;
    job.selection = selection_of(*file, variable, false);
    std::vector<FileRun> runs;
    Buffer in_file;
    int size = 0;
    MPI_Type_size(file_type, &size);
    if (size == 0) return code::kOk;
    const Type stored = type_of_var(*file, variable);
    const MPI_Offset elements = size / static_cast<MPI_Offset>(type_size(stored));
    if (const int bad = decode_buffer(1, file_type, stored, elements, &in_file))
      return bad == code::kMismatch || bad == code::kChar ? code::kTypeMismatch : bad;
    if (in_file.element.type != native(stored)) return code::kTypeMismatch;
    if (const int bad = runs_of(file_type, &runs)) return bad;
    if (const int bad =
            accesses_at(*file, variable, runs, &job.selection.spread, &job.selection.records))
      return bad;
    if (is_read(flags) && job.selection.records > static_cast<MPI_Offset>(file->records))
      return code::kEdge;
    job.selection.elements = elements;
    job.user = buffer;
    return look_at_buffer(*file, count_of, type, &job);
  };
  if (failed == code::kOk) failed = look();
  return run_blocking(*file, flags, failed, jobs);
}

// --- requests ---

namespace {

// The requests of a wait, in the order in which they are done, each with its place in the arrays of
// the program (-1: none).
struct Taken {
  std::vector<std::unique_ptr<Request>> puts, gets;
  std::vector<int> put_places, get_places;
  int status = code::kOk;
};

Taken take_requests(OpenFile& file, int number, int* requests, int* statuses) {
  Taken taken;
  if (number == kAllRequests || number == kAllPuts) taken.puts = file.requests.take_all(true);
  if (number == kAllRequests || number == kAllGets) taken.gets = file.requests.take_all(false);
  taken.put_places.assign(taken.puts.size(), -1);
  taken.get_places.assign(taken.gets.size(), -1);
  if (number < kAllPuts) taken.status = code::kInvalid;
  for (int i = 0; i < number; ++i) {
    if (statuses != nullptr) statuses[i] = code::kOk;
    if (requests[i] == kNullRequest) continue;
    std::unique_ptr<Request> one = requests[i] < 0 ? nullptr : file.requests.take(requests[i]);
    if (!one) {
      if (statuses != nullptr) statuses[i] = code::kInvalidRequest;
      if (taken.status == code::kOk) taken.status = code::kInvalidRequest;
      continue;
    }
    requests[i] = kNullRequest;
    if (one->is_put) {
      taken.puts.push_back(std::move(one));
      taken.put_places.push_back(i);
    } else {
      taken.gets.push_back(std::move(one));
      taken.get_places.push_back(i);
    }
  }
  return taken;
}

int complete(OpenFile& file, int number, int* requests, int* statuses, bool collective) {
  const Tally::Span time(&file.tally.wait);
  Taken taken = take_requests(file, number, requests, statuses);
  std::vector<Access> accesses;
  MPI_Offset records = static_cast<MPI_Offset>(file.records);
  for (const std::unique_ptr<Request>& put : taken.puts) {
    add_puts(put->variable, rank_of(file, put->variable), put->has_stride, put->slabs, put->index,
             type_size(type_of_var(file, put->variable)), put->elements, put->values, &accesses);
    records = std::max(records, put->records);
  }
  bool any_puts = !accesses.empty(), any_gets = !taken.gets.empty();
  if (collective && file.ranks > 1) {
    std::int64_t all[3] = {any_puts ? 1 : 0, any_gets ? 1 : 0, records};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT64_T, MPI_MAX, file.comm);
    any_puts = all[0] != 0;
    any_gets = all[1] != 0;
    records = all[2];
  }
  int status = taken.status;
  const auto note = [&](int one) {
    if (status == code::kOk) status = one;
    return one;
  };
  if (any_puts) {
    const int put = note(collective ? file.put_together(accesses) : file.put(accesses));
    if (put == code::kOk) file.records = static_cast<std::uint64_t>(records);
    for (std::size_t i = 0; i < taken.puts.size(); ++i) {
      if (statuses != nullptr && taken.put_places[i] >= 0) statuses[taken.put_places[i]] = put;
      release(file, *taken.puts[i]);
    }
    if (file.requests.attached) file.requests.attached->coalesce();
  }
  if (any_gets) {
    if (collective) note(file.meet());
    for (std::size_t i = 0; i < taken.gets.size(); ++i) {
      Request& get = *taken.gets[i];
      Selection selection = selection_of(file, get.variable, get.has_stride);
      selection.slabs = get.slabs;
      selection.index = std::move(get.index);
      selection.elements = static_cast<MPI_Offset>(get.elements);
      const int one = note(read_values(file, selection, get.target));
      if (statuses != nullptr && taken.get_places[i] >= 0) statuses[taken.get_places[i]] = one;
      release(file, get);
    }
  }
  return status;
}

}  // namespace

int call_wait(int id, int number, int* requests, int* statuses) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->defining) return code::kInDefine;
    if (!file->independent) return code::kNotIndependent;
    return number == 0 ? code::kOk : complete(*file, number, requests, statuses, false);
  });
}

int call_wait_all(int id, int number, int* requests, int* statuses) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (file->defining) return code::kInDefine;
    if (file->independent) return code::kIndependent;
    return complete(*file, number, requests, statuses, true);
  });
}

int call_cancel(int id, int number, int* requests, int* statuses) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (number == 0) return code::kOk;
    if (number < kAllPuts) return code::kInvalid;
    Taken taken = take_requests(*file, number, requests, statuses);
    for (const auto* all : {&taken.puts, &taken.gets})
      for (const std::unique_ptr<Request>& one : *all) release(*file, *one);
    if (file->requests.attached) {
      if (number == kAllPuts || number == kAllRequests) {
        file->requests.attached->entries.clear();
        file->requests.attached->used = 0;
      }
      file->requests.attached->coalesce();
    }
    return taken.status;
  });
}

int call_buffer_attach(int id, MPI_Offset bytes) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    if (bytes <= 0) return code::kNullBuffer;
    if (file->requests.attached) return code::kBufferAttached;
    file->requests.attached = std::make_unique<AttachedBuffer>();
    file->requests.attached->size = bytes;
    return code::kOk;
  });
}

int call_buffer_detach(int id) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (!file->requests.attached) return code::kNoBuffer;
  if (file->requests.has_buffered()) return code::kPendingBuffered;
  file->requests.attached.reset();
  return code::kOk;
}

int call_inq_buffer_usage(int id, MPI_Offset* bytes) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (bytes == nullptr) return code::kOk;
  if (!file->requests.attached) return code::kNoBuffer;
  *bytes = file->requests.attached->used;
  return code::kOk;
}

int call_inq_buffer_size(int id, MPI_Offset* bytes) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (bytes == nullptr) return code::kOk;
  if (!file->requests.attached) return code::kNoBuffer;
  *bytes = file->requests.attached->size;
  return code::kOk;
}

int call_inq_nreqs(int id, int* number) {
  OpenFile* const file = find_file(id);
  if (file == nullptr) return code::kBadId;
  if (number != nullptr) *number = static_cast<int>(file->requests.puts() + file->requests.gets());
  return code::kOk;
}

// Fills a record of a variable: each rank writes a part of it.
int call_fill_var_rec(int id, int variable, MPI_Offset record) {
  return guarded([&] {
    OpenFile* const file = find_file(id);
    if (file == nullptr) return code::kBadId;
    const auto check = [&] {
      if (file->read_only) return code::kReadOnly;
      if (file->defining) return code::kInDefine;
      // All ranks fill a part of the same variable.
      if (file->own_ids) return code::kNotSupported;
      if (variable == kGlobalVariable) return code::kGlobalId;
      if (!file->header.has_var(variable)) return code::kNotVar;
      if (!file->header.is_record(variable)) return code::kNotRecordVar;
      if (file->independent) return code::kIndependent;
      if (file->header.no_fill(variable) && !file->header.att(variable, "_FillValue"))
        return code::kNotFill;
      return record < 0 ? code::kInvalidCoords : code::kOk;
    };
    const int failed = file->agree(
        check(), {same(variable, code::kDifferArguments), same(record, code::kDifferArguments)});
    if (failed != code::kOk) return failed;
    const Variable var = file->header.all().variable(static_cast<VarId>(variable));
    const std::size_t rank = var.dimensions.size();
    // The slowest dimension below the record is divided among the ranks.
    std::vector<MPI_Offset> start(rank, 0), count(rank, 1);
    start[0] = record;
    for (std::size_t i = 1; i < rank; ++i)
      count[i] = static_cast<MPI_Offset>(file->header.all().dimension(var.dimensions[i]).length);
    if (rank == 1) {
      count[0] = file->rank == 0 ? 1 : 0;
    } else {
      const MPI_Offset rows = count[1], each = rows / file->ranks, more = rows % file->ranks;
      start[1] = each * file->rank + std::min<MPI_Offset>(file->rank, more);
      count[1] = each + (file->rank < more ? 1 : 0);
    }
    std::vector<Job> jobs(1);
    Job& job = jobs[0];
    job.selection = selection_of(*file, variable, false);
    job.selection.add(*file, start.data(), count.data(), nullptr);
    const std::size_t size = type_size(var.type);
    std::byte fill[8]{};
    file->header.fill_value(variable, fill);
    std::vector<std::byte> values(static_cast<std::size_t>(job.selection.elements) * size);
    for (std::size_t at = 0; at < values.size(); at += size) std::memcpy(&values[at], fill, size);
    job.user = values.data();
    const int looked = look_at_buffer(*file, kCountIgnore, MPI_DATATYPE_NULL, &job);
    return run_blocking(*file, kWrite | kCollective, looked, jobs);
  });
}

}  // namespace nmb::pnetcdf
