// Opens values of inputs that another rank planned (see merge/reading/value_origin.h).
#include "merge/reading/value_origin.h"

#include <utility>

#include "merge/reading/lazy_block.h"
#include "wire/hash.h"

namespace nmb {

std::uint64_t sum_of_entry(const BlockEntry& entry) {
  const std::uint64_t parts[] = {entry.position,      entry.sum,        entry.extent_position,
                                 entry.extent_length, entry.extent_sum, entry.map.position,
                                 entry.map.sum,       entry.records,    entry.growth};
  return sum_of(std::as_bytes(std::span(parts)));
}

Result<Source> open_origin(const ValueOrigin& origin, const std::string& path,
                           std::shared_ptr<FilePool> pool, const ReadOptions& options) {
  NMB_ASSIGN(const std::shared_ptr<PooledFile> file,
             PooledFile::open_and_keep(std::move(pool), [path] { return FileSource::open(path); }));
  if (origin.block) {
    NMB_ASSIGN(const std::shared_ptr<const Reader> reader, Reader::open(file, options));
    file->set_unchanged(reader->generation_check());
    NMB_ASSIGN(std::optional<BlockEntry> entry, reader->find(*origin.block));
    if (entry && sum_of_entry(*entry) == origin.begin)
      return Source(new LazyExtent({reader, std::move(*entry)}));
  } else if (origin.begin <= file->size()) {
    return Source(new RangeSource(file, origin.begin, file->size() - origin.begin));
  }
  return Status(Code::kDamaged, path, kNoOffset, "", "the file changed while it was read");
}

}  // namespace nmb
