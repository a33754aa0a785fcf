// Opens values of inputs that another rank planned (see merge/reading/value_origin.h).
#include "merge/reading/value_origin.h"

#include <utility>

#include "merge/reading/late_extent.h"
#include "sources/value_message.h"
#include "sources/value_source.h"
#include "wire/hash.h"

namespace nmb {

std::uint64_t sum_of_entry(const BlockEntry& entry) {
  const std::uint64_t parts[] = {entry.position,      entry.sum,        entry.extent_position,
                                 entry.extent_length, entry.extent_sum, entry.map.position,
                                 entry.map.sum,       entry.records,    entry.growth};
  return sum_of(std::as_bytes(std::span(parts)));
}

Result<std::shared_ptr<const FileReader>> open_reader(const std::shared_ptr<PooledFile>& file,
                                                      const ReadOptions& options) {
  NMB_ASSIGN(std::shared_ptr<const FileReader> reader, FileReader::open(file, options));
  file->set_unchanged(reader->generation_check());
  return reader;
}

Result<BlockEntry> find_unchanged(const FileReader& reader, std::string_view block,
                                  std::uint64_t sum) {
  NMB_ASSIGN(std::optional<BlockEntry> entry, reader.find(block));
  if (entry && sum_of_entry(*entry) == sum) return *std::move(entry);
  return file_changed(reader.file().name());
}

Result<Source> open_origin(const ValueOrigin& origin, const std::string& path,
                           std::shared_ptr<FilePool> pool, const ReadOptions& options) {
  NMB_ASSIGN(const std::shared_ptr<PooledFile> file,
             PooledFile::open_and_keep(std::move(pool), [path] { return FileSource::open(path); }));
  if (origin.block) {
    NMB_ASSIGN(const std::shared_ptr<const FileReader> reader, open_reader(file, options));
    NMB_ASSIGN(BlockEntry entry, find_unchanged(*reader, *origin.block, origin.begin));
    return late_source<LateExtent>(reader, std::move(entry));
  }
  if (origin.begin > file->size()) return file_changed(path);
  return run_of(file, origin.begin, file->size() - origin.begin);
}

}  // namespace nmb
