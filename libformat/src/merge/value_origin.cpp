// Opening values of other ranks' inputs (see merge/value_origin.h).
#include "merge/value_origin.h"

#include <utility>

#include "merge/input_block.h"
#include "wire/shared_range.h"

namespace nmb {

Result<std::shared_ptr<const ByteSource>> open_origin(const ValueOrigin& origin,
                                                      const std::string& path,
                                                      std::shared_ptr<FilePool> pool,
                                                      const ReadOptions& options) {
  NMB_ASSIGN(const std::shared_ptr<PooledFile> file, PooledFile::open(path, std::move(pool)));
  if (origin.block) {
    NMB_ASSIGN(const std::shared_ptr<const Reader> reader, Reader::open(file, options));
    NMB_ASSIGN(std::optional<BlockEntry> entry, reader->find(*origin.block));
    if (entry) return std::shared_ptr<const ByteSource>(new LazyExtent(reader, std::move(*entry)));
  } else if (origin.begin <= file->size()) {
    return std::shared_ptr<const ByteSource>(
        new SharedRange(file, origin.begin, file->size() - origin.begin));
  }
  return Status(Code::kDamaged, path, kNoOffset, "", "the file changed while it was read");
}

}  // namespace nmb
