// ValueOrigin: describes where values of an input are stored, for a rank that did not plan this
// input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/pooled_file.h"
#include "parallel/message_fields.h"
#include "reader/file_reader.h"
#include "sources/value_source.h"

namespace nmb {

// In a classic file, the values are the bytes from `begin` on. In an NMB file, the values are the
// extent of a block whose entry has the checksum `begin` (see sum_of_entry()). The checksum is
// compared because the other rank may see a later generation of the file.
struct ValueOrigin {
  std::uint32_t input = 0;  // position in the list of inputs
  std::uint64_t begin = 0;
  std::optional<std::string_view> block{};

  template <class Fields>
  friend void fields(Fields& all, ValueOrigin& origin) {
    all(origin.input, origin.begin, origin.block);
  }
};

// Returns a checksum over the positions of a block's body and values.
std::uint64_t sum_of_entry(const BlockEntry& entry);

// Opens a reader. From then on, the file must not change.
Result<std::shared_ptr<const FileReader>> open_reader(const std::shared_ptr<PooledFile>& file,
                                                      const ReadOptions& options);
// Returns the entry of a block. sum: sum_of_entry() on another rank. Errors: kDamaged if the file
// has changed.
Result<BlockEntry> find_unchanged(const FileReader& reader, std::string_view block,
                                  std::uint64_t sum);

// Opens values of an input that another rank planned. path: path of the input. options: for the
// reader of an NMB file.
Result<Source> open_origin(const ValueOrigin& origin, const std::string& path,
                           std::shared_ptr<FilePool> pool, const ReadOptions& options);

}  // namespace nmb
