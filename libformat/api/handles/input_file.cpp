// Opens files and determines their kinds (see input_file.h).
#include "handles/input_file.h"

#include <algorithm>
#include <cstring>

namespace nmb {

constexpr std::uint64_t kHead = 16384;

Result<std::shared_ptr<const InputFile>> InputFile::open(const std::string& path,
                                                         std::shared_ptr<ReadMeter> meter) {
  NMB_ASSIGN(std::shared_ptr<const FileSource> source, FileSource::open(path));
  std::shared_ptr<InputFile> file(new InputFile(std::move(source), std::move(meter)));
  file->head_.resize(static_cast<std::size_t>(std::min(file->size(), kHead)));
  NMB_TRY(file->read_file(0, file->head_));
  NMB_ASSIGN(file->kind_, kind_of(*file));
  return std::shared_ptr<const InputFile>(std::move(file));
}

Status InputFile::read_file(std::uint64_t offset, std::span<std::byte> out) const {
  if (meter_) meter_->account(out.size());
  return file_->read_at(offset, out);
}

Status InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (!keeps_head_ || offset > head_.size() || out.size() > head_.size() - offset)
    return read_file(offset, out);
  if (!out.empty()) std::memcpy(out.data(), head_.data() + offset, out.size());
  return {};
}

}  // namespace nmb
