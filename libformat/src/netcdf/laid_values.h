// LaidValues: values of variables from any sources, arranged as they are in a classic file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/dataset.h"

namespace nmb {

// Values [first, first + count) along the dimension along which a variable's values are divided
// among several sources.
struct LaidPart {
  std::shared_ptr<const ByteSource> source;
  std::uint64_t first, count;
  std::uint64_t offset;  // in the source: place of the values at `first`
  std::uint64_t step;    // distance from the values at one index to those at the next
  // The distance between indexes of the slower dimensions, taken together, without the dimension of
  // records.
  std::uint64_t row_step = 0;
  std::uint64_t record_step = 0;  // the distance between records, unless parts are divided along
                                  // records
};

// The values of a variable, or its values in one record: rows of `indexes` times `unit` bytes.
struct LaidSlice {
  std::uint64_t to;        // where it begins; for a record variable, from the beginning of the
                           // record
  std::uint64_t length;    // bytes in the extent; for a record variable, in one record
  std::uint64_t unit = 0;  // 0: the parts are divided along the records
  std::uint64_t indexes = 0;
  std::vector<LaidPart> parts;

  const LaidPart& part_of(std::uint64_t index) const;
  // at: from the first value of the record.
  Status read(std::uint64_t record, std::uint64_t at, std::span<std::byte> out) const;
};

// The places of all values: everything that reading needs.
struct LaidForm {
  std::uint64_t size = 0, record_begin = 0, record_size = 0;
  std::uint64_t in_record = 0;  // bytes of values in a record
  std::vector<LaidSlice> fixed{}, record{};
};

// The values of several variables as one source. Bytes between variables are zero. Thread-safe once
// all variables are added.
class LaidValues final : public ByteSource {
 public:
  LaidValues(const ClassicLayout& layout, std::uint64_t records, std::string name)
      : name_(std::move(name)), header_length_(layout.header_length), records_(records) {
    form_.size = (records > 0 ? layout.end(records) : layout.fixed_end) - layout.header_length;
    form_.record_begin = layout.record_begin - layout.header_length;
    form_.record_size = layout.record_size;
  }
  // Takes the form as it is; nothing may be added.
  LaidValues(LaidForm form, std::string name) : name_(std::move(name)), form_(std::move(form)) {}

  // Adds the values of a variable, which begin at `offset` of `source`; successive records are
  // `step` bytes apart. metadata: of the layout. Variables must be added in ascending order of
  // their offsets.
  void add(const Metadata& metadata, VarId variable, std::shared_ptr<const ByteSource> source,
           std::uint64_t offset, std::uint64_t step);
  // Adds values that are divided among several sources. The parts cover the dimension `axis`.
  void add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
           std::size_t axis = 0);

  std::uint64_t size() const override { return form_.size; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

  // Returns a form that reads the same bytes in `wanted` and no others, and that has no parts
  // outside `wanted`.
  LaidForm form_of(ByteRange wanted) const;

 private:
  // Reads from slices, in ascending order, each `to` bytes further on; in a record.
  static Status read_slices(const std::vector<LaidSlice>& slices, std::uint64_t to,
                            std::uint64_t record, std::uint64_t offset, std::span<std::byte> out);
  // Reads `count` whole records, the values of one variable in all of them at a time.
  Status read_records(std::uint64_t record, std::uint64_t count, std::span<std::byte> out) const;
  // Returns the part whose source has whole records from `record` on in the same arrangement;
  // otherwise nullptr.
  const LaidPart* whole_records(std::uint64_t record) const;

  const std::string name_;
  const std::uint64_t header_length_ = 0, records_ = 0;
  LaidForm form_;
};

// Returns a dataset with the name of `of`, which it keeps, and other definitions and values.
std::shared_ptr<const Dataset> laid_dataset(std::shared_ptr<const Dataset> of, Metadata metadata,
                                            ClassicLayout layout, std::uint64_t records,
                                            std::shared_ptr<const LaidValues> values);

// Returns the values of a classic dataset in another layout of its definitions, that of `metadata`.
// Keeps the dataset's extent, not the dataset.
std::shared_ptr<const LaidValues> relaid_values(const Dataset& dataset, const Metadata& metadata,
                                                const ClassicLayout& layout);

}  // namespace nmb
