#include "merge/uniting/sent_values.h"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "client/decode_group.h"
#include "merge/reading/classic_form.h"
#include "merge/reading/late_extent.h"
#include "merge/reading/value_origin.h"

namespace nmb {

// An NMB file from which another rank sent blocks. Thread-safe.
class SentFile {
 public:
  SentFile(std::string path, const ReceivedFrom& from)
      : path_(std::move(path)), from_{from.files, from.views, from.read} {}

  Result<std::shared_ptr<const FileReader>> reader() {
    const std::scoped_lock lock(mutex_);
    if (!reader_) {
      NMB_ASSIGN(const std::shared_ptr<PooledFile> file,
                 PooledFile::open_and_keep(from_.files,
                                           [path = path_] { return FileSource::open(path); }));
      NMB_ASSIGN(reader_, open_reader(file, from_.read));
    }
    return reader_;
  }

 private:
  const std::string path_;
  const ReceivedFrom from_;
  std::mutex mutex_;
  std::shared_ptr<const FileReader> reader_;
};

namespace {

// Opens the values of a block that another rank sent. The file is opened only when the values are
// read, because there may be thousands of files.
LateFunction::Open open_block(std::shared_ptr<SentFile> file, const LateForm& form) {
  return [file = std::move(file), origin = std::get<StoredOrigin>(form.origin),
          entry = std::optional<BlockEntry>()]() mutable -> Result<Source> {
    NMB_ASSIGN(const std::shared_ptr<const FileReader> reader, file->reader());
    if (!entry) {
      NMB_ASSIGN(entry, find_unchanged(*reader, origin.block, origin.sum));
    }
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> loaded, reader->block(*entry));
    return extent_with(std::move(loaded));
  };
}

LateFunction::Open open_view_again(const LateForm& form) {
  return [view = std::get<ViewOrigin>(form.origin), name = form.name]() -> Result<Source> {
    NMB_ASSIGN(std::shared_ptr<const LoadedBlock> block,
               hdf5::decode_group(view.block, *view.body, view.extent, name));
    return open_view(std::move(block), view);
  };
}

}  // namespace

Result<Source> receive_values(std::span<const std::byte> sent, const ReceivedFrom& from) {
  std::map<std::string, std::shared_ptr<SentFile>> own_files;
  auto& files = from.known_files ? *from.known_files : own_files;
  const auto late = [&](const LateForm& form) {
    const auto* const block = std::get_if<StoredOrigin>(&form.origin);
    if (!block) return late_values(form, open_view_again(form), from.views);
    std::shared_ptr<SentFile>& file = files[block->path];
    if (!file) file = std::make_shared<SentFile>(block->path, from);
    return late_values(form, open_block(file, form));
  };
  return rebuild_values(sent, {from.files, late});
}

}  // namespace nmb
