// A classic dataset in memory: definitions and values, from a file's bytes or made by a test.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dump/dump.h"
#include "model/classic.h"

namespace nmb::test {

struct ClassicDataset {
  Metadata metadata;
  ClassicLayout layout;
  std::vector<std::byte> values;  // the extent

  DatasetText text(std::string_view name) const {
    return {name, metadata, layout.kind, layout.records};
  }
  std::shared_ptr<const ByteSource> extent() const {
    return std::make_shared<MemorySource>(values);
  }
};

// The file's bytes as a dataset.
inline Result<ClassicDataset> parse_dataset(std::span<const std::byte> bytes) {
  NMB_ASSIGN(ClassicHeader header, decode_classic_header(MemorySource(bytes)));
  const auto values = bytes.subspan(header.layout.header_length);
  return ClassicDataset{std::move(header.metadata), header.layout, {values.begin(), values.end()}};
}

// Lays the definitions out, with values that are all their fill values.
inline ClassicDataset make_dataset(Metadata metadata, Kind kind, std::uint64_t records) {
  ClassicDataset out{std::move(metadata), {}, {}};
  out.layout = *layout_classic(out.metadata, kind);
  out.layout.records = records;
  out.values.resize(out.layout.end(records) - out.layout.header_length);
  FillPattern(out.metadata, out.layout).fill(0, out.values);
  return out;
}

// Visits the runs of all values of a variable: offset in the extent, elements.
inline void for_each_part(const ClassicDataset& dataset, VarId id,
                          const std::function<void(std::uint64_t, std::uint64_t)>& visit) {
  const VariableShape shape =
      *shape_of(dataset.metadata, dataset.layout, id, dataset.layout.records);
  const Hyperslab all{std::vector<std::uint64_t>(shape.lengths.size(), 0), shape.lengths, {}};
  (void)for_each_run(shape, all, [&](auto offset, auto, auto count) {
    visit(offset, count);
    return Status();
  });
}

// The values of a variable in external form.
inline std::vector<std::byte> values_of(const ClassicDataset& dataset, VarId id) {
  const std::size_t size = type_size(dataset.metadata.variable(id).type);
  std::vector<std::byte> out;
  for_each_part(dataset, id, [&](std::uint64_t offset, std::uint64_t count) {
    const auto from = dataset.values.begin() + static_cast<std::ptrdiff_t>(offset);
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(count * size));
  });
  return out;
}

// All that `write` passes to its sink.
inline std::string text_of(const std::function<Status(const TextSink&)>& write) {
  std::string text;
  const Status status = write([&](std::string_view part) {
    text += part;
    return Status();
  });
  return status.ok() ? text : status.text();
}

}  // namespace nmb::test
