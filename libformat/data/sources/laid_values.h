// LaidValues: values of variables, possibly from several sources, in the layout of a classic file.
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
  // Distance in bytes between successive rows. Rows are numbered along all slower dimensions except
  // the record dimension.
  std::uint64_t row_step = 0;
  std::uint64_t record_step = 0;  // distance in bytes between records; unused if the values are
                                  // divided along the records
};

// The values of a variable or, for a record variable, its values in one record. They form rows of
// `indexes` times `unit` bytes.
struct LaidSlice {
  std::uint64_t to;  // offset of the values in the extent or, for a record variable, in the record
  std::uint64_t length;    // number of bytes of the values
  std::uint64_t unit = 0;  // 0 if the values are divided along the records
  std::uint64_t indexes = 0;
  std::vector<LaidPart> parts;

  const LaidPart& part_of(std::uint64_t index) const;
  // Reads bytes of the slice from offset `at`, in record number `record`.
  Status read(std::uint64_t record, std::uint64_t at, std::span<std::byte> out) const;
};

// The values of several variables as one source, with zeros between variables. Thread-safe after
// all variables were added.
struct LaidValues {
  std::string text;
  std::uint64_t bytes = 0, record_begin = 0, record_size = 0;
  std::uint64_t in_record = 0;  // bytes of values in a record
  std::vector<LaidSlice> fixed{}, record{};
  std::uint64_t header_length = 0, records = 0;  // only for add()

  // Adds the values of a variable, which begin at `offset` of `source`, with `step` bytes from one
  // record to the next. metadata: the definitions that belong to the layout. Variables must be
  // added in ascending order of their offsets.
  void add(const Metadata& metadata, VarId variable, Source source, std::uint64_t offset,
           std::uint64_t step);
  // Adds the values of a variable from several sources, whose parts together cover the dimension at
  // position `axis`.
  void add(const Metadata& metadata, VarId variable, std::vector<LaidPart> parts,
           std::size_t axis = 0);

  std::uint64_t size() const { return bytes; }
  const std::string& name() const { return text; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const;

  // Returns values from which the bytes in `wanted` can be read. They have no parts outside
  // `wanted`, and their parts have the sources that shorter() returns.
  using Shorter = std::function<Result<Source>(const Source& source, ByteRange wanted)>;
  Result<LaidValues> shortened(ByteRange wanted, const Shorter& shorter) const;

 private:
  // Reads `count` whole records: the values of one variable in all records, then the values of the
  // next variable.
  Status read_records(std::uint64_t first, std::uint64_t count, std::span<std::byte> out) const;
  // If the source of a part has whole records in the same layout, from record `number` on, returns
  // this part; otherwise nullptr.
  const LaidPart* whole_records(std::uint64_t number) const;
};

// Returns values without variables.
LaidValues laid_values(const ClassicLayout& layout, std::uint64_t records, std::string name);

}  // namespace nmb
