// LaidValues: values of variables, which may come from different sources, in the layout of a
// classic file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nmb/bytes.h"
#include "nmb/dataset.h"

namespace nmb {

// A part of a variable whose values are divided along a dimension among several sources. The part
// has the indexes [first, first + count) of this dimension.
struct LaidPart {
  std::shared_ptr<const ByteSource> source;
  std::uint64_t first, count;
  std::uint64_t offset;  // offset of the values at index `first` in the source
  std::uint64_t step;    // distance in bytes between successive indexes
  // Distance in bytes between successive rows. The rows are numbered along all slower dimensions
  // except the record dimension.
  std::uint64_t row_step = 0;
  std::uint64_t record_step = 0;  // distance in bytes between records, unless the values are
                                  // divided along the records
};

// The values of a variable, or a record variable's values in one record. The values form rows of
// `indexes` times `unit` bytes.
struct LaidSlice {
  std::uint64_t to;      // offset of the values in the extent; for a record variable, offset of the
                         // values in the record
  std::uint64_t length;  // number of bytes; for a record variable, the bytes in one record
  std::uint64_t unit = 0;  // 0 if the values are divided along the records
  std::uint64_t indexes = 0;
  std::vector<LaidPart> parts;

  const LaidPart& part_of(std::uint64_t index) const;
  // Reads bytes of the slice. The bytes begin at offset `at` of the slice in record number
  // `record`.
  Status read(std::uint64_t record, std::uint64_t at, std::span<std::byte> out) const;
};

// The locations of all values. No other data are needed to read the values.
struct LaidForm {
  std::uint64_t size = 0, record_begin = 0, record_size = 0;
  std::uint64_t in_record = 0;  // bytes of values in a record
  std::vector<LaidSlice> fixed{}, record{};
};

// The values of several variables as one source. Bytes between variables are zero. Thread-safe
// after all variables were added.
class LaidValues final : public ByteSource {
 public:
  LaidValues(const ClassicLayout& layout, std::uint64_t records, std::string name)
      : name_(std::move(name)), header_length_(layout.header_length), records_(records) {
    form_.size = (records > 0 ? layout.end(records) : layout.fixed_end) - layout.header_length;
    form_.record_begin = layout.record_begin - layout.header_length;
    form_.record_size = layout.record_size;
  }
  // Makes a source from a complete form. No variables may be added to the source.
  LaidValues(LaidForm form, std::string name) : name_(std::move(name)), form_(std::move(form)) {}

  // Adds the values of a variable, which begin at `offset` of `source`. Successive records are
  // `step` bytes apart. metadata: the definitions that belong to the layout. Variables must be
  // added in ascending order of their offsets.
  void add(const Metadata& metadata, VarId variable, std::shared_ptr<const ByteSource> source,
           std::uint64_t offset, std::uint64_t step);
  // Adds the values of a variable that are divided among several sources. The parts together cover
  // the dimension at position `axis`.
  void add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
           std::size_t axis = 0);

  std::uint64_t size() const override { return form_.size; }
  const std::string& name() const override { return name_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override;

  // Returns a form that is enough to read the bytes in `wanted`. The form has no parts outside
  // `wanted`.
  LaidForm form_of(ByteRange wanted) const;

 private:
  // Reads bytes from slices, which are in ascending order. `to` is added to the offset of each
  // slice. record: number of the record; 0 for slices without records.
  static Status read_slices(const std::vector<LaidSlice>& slices, std::uint64_t to,
                            std::uint64_t record, std::uint64_t offset, std::span<std::byte> out);
  // Reads `count` whole records. The values of one variable are read in all records before the
  // values of the next variable.
  Status read_records(std::uint64_t record, std::uint64_t count, std::span<std::byte> out) const;
  // Returns a part whose source has whole records in the same layout, beginning with `record`.
  // Returns nullptr if there is no such part.
  const LaidPart* whole_records(std::uint64_t record) const;

  const std::string name_;
  const std::uint64_t header_length_ = 0, records_ = 0;
  LaidForm form_;
};

// Returns a dataset with the given definitions and values. The dataset has the same name as the
// dataset `of`, and keeps `of` alive.
std::shared_ptr<const Dataset> laid_dataset(std::shared_ptr<const Dataset> of, Metadata metadata,
                                            ClassicLayout layout, std::uint64_t records,
                                            std::shared_ptr<const LaidValues> values);

// Returns the values of a classic dataset in another layout of the same definitions. The result
// keeps the dataset's extent alive, but not the dataset. metadata: the definitions with the new
// layout.
std::shared_ptr<const LaidValues> relaid_values(const Dataset& dataset, const Metadata& metadata,
                                                const ClassicLayout& layout);

}  // namespace nmb
