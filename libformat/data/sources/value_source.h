// ValueSource: a source described by data. Its SourceForm defines which bytes it has, where they
// come from, and how they are converted. ValueSource reads them; sources/value_message.h sends the
// form to another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/heap_value.h"
#include "model/values.h"
#include "sources/late_values.h"
#include "wire/bytes.h"
#include "wire/failure.h"
#include "wire/kinds.h"

namespace nmb {

struct LaidValues;
class PartitionKey;
struct SelectedValues;
struct TiledValues;

// The arguments of widening() (sources/type_widening.h).
struct Widening {
  Type from{}, to{};
  bool maps_fill = false;
};

// The arguments of rebasing() (sources/value_rebasing.h): for each value,
// value * from + shift == result * to.
struct Rebasing {
  Type type{};                    // not kChar
  std::int64_t from = 1, to = 1;  // at least 1
  std::int64_t shift = 0;
  std::vector<std::byte> kept{};  // values that stay, in external form
};
template <class Fields>
void fields(Fields& all, Rebasing& how) {
  all(how.type, how.from, how.to, how.shift, how.kept);
}

// Converts values of one type to another type.
struct ValueConversion {
  std::uint64_t from_bytes = 0, to_bytes = 0;  // size of a value in bytes
  bool in_place = false;  // both types have the same size, so convert() can work in place
  // Converts as many whole values as fit into `out`. Thread-safe.
  std::function<void(std::span<const std::byte> values, std::span<std::byte> out)> convert{};
  // If one of them is set, another rank can make the same conversion.
  std::optional<Widening> widening{};
  std::optional<Rebasing> rebasing{};
};

// A column: values of one input without gaps, in external form.
struct KeyColumn {
  Source values;  // nullptr if there are no values
  Type type = Type::kInt;
  std::uint64_t count = 0;
};

// Reads runs of a source. Bytes that no run covers are zero. Runs that are adjacent both in the
// source and in the extent become one read. Sets *stored to true unless all bytes are zeros that
// the source does not store. `stored` may be nullptr.
Status read_runs(const ByteSource& source, std::span<const ValueRuns> runs, std::uint64_t offset,
                 std::span<std::byte> out, bool* stored = nullptr);
// Returns the first run that ends after `offset`.
std::span<const ValueRuns>::iterator run_at(std::span<const ValueRuns> runs, std::uint64_t offset);

// The forms of a ValueSource (see SourceForm). Each form has size(), name() and read_at(), which
// mean the same as in ByteSource, and may have may_be_sparse(), is_unallocated() and path(). It is
// thread-safe if its sources are. The caller of read_at() has checked the range.
namespace form {

// A range of another source. offset + bytes must not exceed base->size().
struct Slice {
  Source base;
  std::uint64_t offset = 0, bytes = 0;

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return base->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const {
    return base->read_at(offset + at, out);
  }
  bool may_be_sparse() const { return base->may_be_sparse(); }
  bool is_unallocated(std::uint64_t at, std::uint64_t length) const {
    return base->is_unallocated(offset + at, length);
  }
};

struct Bytes {
  std::vector<std::byte> bytes;
  std::string text;

  std::uint64_t size() const { return bytes.size(); }
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
};

// One value, repeated.
struct Repeated {
  std::vector<std::byte> value;
  std::uint64_t bytes = ~std::uint64_t{0};
  std::string text = "fill values";

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
};

// Ranges of other sources, with zeros between them.
struct Spliced {
  struct SourceRun {
    std::uint64_t offset = 0, length = 0;  // range in the result
    std::uint64_t source = 0;              // offset in the other source
    std::uint32_t from = 0;                // index of the other source
    std::uint64_t end() const { return offset + length; }
  };

  std::vector<Source> sources;
  // The runs are in ascending order and do not overlap. Each lies within the first `bytes` bytes,
  // and within the other source.
  std::vector<SourceRun> runs;
  std::uint64_t bytes = 0;
  std::string text;

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
  // Returns the path of a file that has bytes at the same offsets as this source.
  const std::string* path() const;
  bool may_be_sparse() const;
  // A range that does not lie within a single run counts as allocated.
  bool is_unallocated(std::uint64_t at, std::uint64_t length) const;
  // Calls visit(run, source offset, length) for consecutive parts of a range. `run` is nullptr
  // between runs.
  template <class Visit>
  Status visit(ByteRange range, const Visit& visit) const;
};

// Runs of another source at regular distances, with zeros between them.
struct Strided {
  Source source;
  std::vector<ValueRuns> runs;  // in ascending order
  std::uint64_t bytes = 0;

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return source->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const {
    return read_runs(*source, runs, at, out);
  }
};

// Values of another type.
struct Converted {
  Source source;
  ValueConversion conversion;

  std::uint64_t size() const {
    return source->size() / conversion.from_bytes * conversion.to_bytes;
  }
  const std::string& name() const { return source->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
};

// An array of values that refer to a heap, because they or parts of them have variable length. The
// heap has moved, so the offsets in the values change.
struct Moved {
  Source source;
  std::uint64_t value_bytes = 0;
  std::vector<HeapPlace> places;
  // The heap in the region that the source belongs to, and its offset in the new region.
  std::uint64_t heap = 0, heap_bytes = 0, new_heap = 0;

  std::uint64_t size() const { return source->size(); }
  const std::string& name() const { return source->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
};

// A source whose error messages begin with the name of an object.
struct Named {
  Source source;
  std::string object;

  std::uint64_t size() const { return source->size(); }
  const std::string& name() const { return source->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const {
    return source->read_at(at, out).of_object(object);
  }
  bool may_be_sparse() const { return source->may_be_sparse(); }
  bool is_unallocated(std::uint64_t at, std::uint64_t length) const {
    return source->is_unallocated(at, length);
  }
};

// The values of an input. Those that a union compares are in memory, so that the file need not be
// reopened for each comparison, even with thousands of inputs.
struct Held {
  // Pieces by their offsets. They do not overlap.
  using Pieces = std::map<std::uint64_t, std::vector<std::byte>>;

  Source base;
  Pieces pieces;

  std::uint64_t size() const { return base->size(); }
  const std::string& name() const { return base->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
  bool may_be_sparse() const { return base->may_be_sparse(); }
  bool is_unallocated(std::uint64_t at, std::uint64_t length) const {
    return base->is_unallocated(at, length);
  }
};

// Bytes that a function reads.
struct Called {
  std::uint64_t bytes = 0;
  std::string text;
  std::function<Status(std::uint64_t at, std::span<std::byte> out)> read_at;

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return text; }
};

// The numbers of a column's events, as kInt64 in external form.
struct Numbered {
  std::shared_ptr<const PartitionKey> key;
  std::size_t input = 0;
  KeyColumn column;

  std::uint64_t size() const { return column.count * 8; }
  const std::string& name() const { return column.values->name(); }
  Status read_at(std::uint64_t at, std::span<std::byte> out) const;
};

}  // namespace form

using SourceForm =
    std::variant<form::Slice, form::Bytes, form::Repeated, form::Spliced, form::Strided,
                 form::Converted, form::Moved, form::Named, form::Held, form::Called,
                 form::Numbered, std::shared_ptr<const LaidValues>,
                 std::shared_ptr<const SelectedValues>, std::shared_ptr<const TiledValues>,
                 std::shared_ptr<const LateValues>>;

class ValueSource final : public ByteSource {
 public:
  explicit ValueSource(SourceForm form) : form_(std::move(form)) {}
  std::uint64_t size() const override;
  const std::string& name() const override;
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  const std::string* path() const override;
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override;
  bool may_be_sparse() const override;
  KnownSource known() const override { return this; }
  const SourceForm& form() const { return form_; }

 private:
  const SourceForm form_;
};

inline std::shared_ptr<const ValueSource> source_of(SourceForm form) {
  return std::make_shared<const ValueSource>(std::move(form));
}

// Returns the form of a source if the form has type Kind, otherwise nullptr. `source` may be
// nullptr.
template <class Kind>
const Kind* form_of(const ByteSource* source) {
  const KnownSource known = source ? source->known() : KnownSource();
  const auto* const values = std::get_if<const ValueSource*>(&known);
  return values ? std::get_if<Kind>(&(*values)->form()) : nullptr;
}

inline Source run_of(Source base, std::uint64_t offset, std::uint64_t bytes) {
  return source_of(form::Slice{std::move(base), offset, bytes});
}
inline Source owned_bytes(std::vector<std::byte> bytes, std::string name) {
  return source_of(form::Bytes{std::move(bytes), std::move(name)});
}

// Returns `length` bytes of the extent from `begin` on. Errors: kDamaged, with a message that names
// `object`, if the extent ends earlier.
Result<Source> range_of(Source extent, std::uint64_t begin, std::uint64_t length,
                        std::string_view object);

// Returns the values of a variable without gaps. extent: the extent of the dataset. Errors: those
// of range_of().
Result<Source> variable_array(Source extent, const VariableShape& shape, std::string_view object);

// Calls visit(file, offset, length) for consecutive parts of a range. `file` stores the part
// unchanged at `offset`; it is nullptr if no file does.
using VisitStored =
    std::function<Status(const PooledFile* file, std::uint64_t offset, std::uint64_t length)>;
Status visit_stored(const ByteSource& source, ByteRange range, const VisitStored& visit);

// Returns the first late values in the source that have a ViewOrigin, or nullptr. `source` may be
// nullptr.
const LateValues* view_in(const ByteSource* source);

// Returns a source with the bytes in `wanted` and a shorter form than `source`, or nullptr if the
// source is always sent whole. Bytes of temporary files become form::Bytes if there are at most
// *room of them; their number is then subtracted from *room. Errors: kIo.
Result<Source> shortened(const ByteSource& source, ByteRange wanted, std::uint64_t* room);

}  // namespace nmb
