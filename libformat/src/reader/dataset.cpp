// Classic files as datasets (see nmb/dataset.h).
#include "nmb/dataset.h"

namespace nmb {

Status Dataset::read(VarId variable, const Hyperslab& slab, MemoryType type, void* out) const {
  NMB_ASSIGN(VariableShape lengths, shape(variable));
  return read_hyperslab(metadata, lengths, variable, *extent, slab, type, out, kind());
}

namespace {

// The bytes behind a file's header; keeps the file open.
class FileExtent final : public ByteSource {
 public:
  FileExtent(std::shared_ptr<const ByteSource> file, std::uint64_t header_length)
      : file_(std::move(file)), header_length_(header_length) {}
  std::uint64_t size() const override { return file_->size() - header_length_; }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return file_->read_at(header_length_ + offset, out);
  }
  const std::string& name() const override { return file_->name(); }
  bool is_unallocated(std::uint64_t offset, std::uint64_t length) const override {
    return file_->is_unallocated(header_length_ + offset, length);
  }

 private:
  std::shared_ptr<const ByteSource> file_;
  std::uint64_t header_length_;
};

}  // namespace

Result<std::shared_ptr<const Dataset>> open_classic(std::shared_ptr<const ByteSource> file) {
  NMB_ASSIGN(ClassicHeader header, decode_classic_header(*file));
  auto dataset = std::make_shared<Dataset>();
  dataset->name = file->name();
  dataset->metadata = std::move(header.metadata);
  dataset->layout = header.layout;
  dataset->records = dataset->metadata.record_dimension() ? header.layout.records : 0;
  dataset->extent = std::make_shared<FileExtent>(std::move(file), header.layout.header_length);
  return std::shared_ptr<const Dataset>(std::move(dataset));
}

}  // namespace nmb
