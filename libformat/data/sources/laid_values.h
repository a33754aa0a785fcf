// LaidValues: values of variables, which may come from different sources, in the layout of a
// classic file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/dataset.h"
#include "sources/value_source.h"
#include "wire/bytes.h"

namespace nmb {

// A part of a variable whose values are divided along a dimension among several sources. The part
// has the indexes [first, first + count) of this dimension.
struct LaidPart {
  Source source;
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

// The values of several variables as one source. Bytes between variables are zero. Thread-safe
// after all variables were added.
struct LaidValues {
  std::string text;
  std::uint64_t bytes = 0, record_begin = 0, record_size = 0;
  std::uint64_t in_record = 0;  // bytes of values in a record
  std::vector<LaidSlice> fixed{}, record{};
  std::uint64_t header_length = 0, records = 0;  // only for add()

  // Adds the values of a variable, which begin at `offset` of `source`. Successive records are
  // `step` bytes apart. metadata: the definitions that belong to the layout. Variables must be
  // added in ascending order of their offsets.
  void add(const Metadata& metadata, VarId variable, Source source, std::uint64_t offset,
           std::uint64_t step);
  // Adds the values of a variable that are divided among several sources. The parts together cover
  // the dimension at position `axis`.
  void add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
           std::size_t axis = 0);

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  // Returns values that are enough to read the bytes in `wanted`. The result has no parts outside
  // `wanted`. The sources of its parts are those that shorter() returns for the wanted bytes of a
  // source.
  using Shorter = std::function<Result<Source>(const Source& source, ByteRange wanted)>;
  Result<LaidValues> shortened(ByteRange wanted, const Shorter& shorter) const;

 private:
  // Reads `count` whole records. The values of one variable are read in all records before the
  // values of the next variable.
  Status read_records(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) const;
  // Returns a part whose source has whole records in the same layout, beginning with record
  // `number`. Returns nullptr if there is no such part.
  const LaidPart* whole_records(std::uint64_t number) const;
};

// Returns values without variables.
LaidValues laid_values(const ClassicLayout& layout, std::uint64_t records, std::string name);

}  // namespace nmb
