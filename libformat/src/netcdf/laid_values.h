// LaidValues: values of variables, wherever they are, as they lie in a classic file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/dataset.h"

namespace nmb {

// Values [first, first + count) along the dimension along which a variable's values follow one
// another in several sources.
struct LaidPart {
  std::shared_ptr<const ByteSource> source;
  std::uint64_t first, count;
  std::uint64_t offset;  // in the source, of those at `first`
  std::uint64_t step;    // from those at an index to those at the next
  // The same of indexes along the dimensions ahead of that one, together, but for the records.
  std::uint64_t row_step = 0;
  std::uint64_t record_step = 0;  // of records, where they are not that dimension
};

// A variable's values, or those of a record: rows of `indexes` times `unit` bytes.
struct LaidSlice {
  std::uint64_t to;        // of a record variable from the begin of a record
  std::uint64_t length;    // in the extent, of a record variable in a record
  std::uint64_t unit = 0;  // 0: parts follow one another along the records
  std::uint64_t indexes = 0;
  std::vector<LaidPart> parts;

  const LaidPart& part_of(std::uint64_t index) const;
  // at: from the first value of the record.
  Status read(std::uint64_t record, std::uint64_t at, std::span<std::byte> out) const;
};

// Where everything lies: all that reading needs.
struct LaidForm {
  std::uint64_t size = 0, record_begin = 0, record_size = 0;
  std::uint64_t in_record = 0;  // bytes of values in a record
  std::vector<LaidSlice> fixed{}, record{};
};

// Bytes between variables are zero. Thread-safe once all variables are added.
class LaidValues final : public ByteSource {
 public:
  LaidValues(const ClassicLayout& layout, std::uint64_t records, std::string name)
      : name_(std::move(name)), header_length_(layout.header_length), records_(records) {
    form_.size = (records > 0 ? layout.end(records) : layout.fixed_end) - layout.header_length;
    form_.record_begin = layout.record_begin - layout.header_length;
    form_.record_size = layout.record_size;
  }
  // As the form says; nothing is added.
  LaidValues(LaidForm form, std::string name) : name_(std::move(name)), form_(std::move(form)) {}

  // The values of a variable, which begin at `offset` of `source`; those of a record lie `step`
  // behind those of the one before. metadata: of the layout; variables come in ascending order of
  // their places.
  void add(const Metadata& metadata, VarId variable, std::shared_ptr<const ByteSource> source,
           std::uint64_t offset, std::uint64_t step);
  // The same from several sources. The parts make up the dimension in place `axis`.
  void add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
           std::size_t axis = 0);

  std::uint64_t size() const override { return form_.size; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

  // Reads the same in `wanted`, and nothing else; has no parts that lie elsewhere.
  LaidForm form_of(ByteRange wanted) const;

 private:
  // Of slices, in ascending order, that lie `to` further behind; of a record.
  static Status read_slices(const std::vector<LaidSlice>& slices, std::uint64_t to,
                            std::uint64_t record, std::uint64_t offset, std::span<std::byte> out);
  // Of so many whole records: a variable's values of all of them at once.
  Status read_records(std::uint64_t record, std::uint64_t count, std::span<std::byte> out) const;
  // Where whole records from `record` on lie in a source as they do here; else nullptr.
  const LaidPart* whole_records(std::uint64_t record) const;

  const std::string name_;
  const std::uint64_t header_length_ = 0, records_ = 0;
  LaidForm form_;
};

// The values of a classic dataset in another layout of its definitions, which `metadata` has. Keeps
// the dataset's extent, not the dataset.
std::shared_ptr<const LaidValues> relaid_values(const Dataset& dataset, const Metadata& metadata,
                                                const ClassicLayout& layout);

}  // namespace nmb
