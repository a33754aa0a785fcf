// Runs nmb-hdf5 and takes what it tells (see hdf5_file.h). Nothing it says is trusted: bodies are
// decoded as any other, and values lie where the file and the spool have bytes.
#include "interop/hdf5_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "interop/hdf5_process.h"
#include "interop/hdf5_stream.h"
#include "wire/items.h"
#include "wire/system_error.h"

namespace nmb::hdf5 {

namespace {

struct Run {
  std::uint64_t offset, length, source;
  RunSource from;
};

// An extent of parts of the file and of the spool; zero between them.
class SplicedSource final : public ByteSource {
 public:
  SplicedSource(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
                std::vector<Run> runs, std::uint64_t size)
      : file_(std::move(file)), spool_(std::move(spool)), runs_(std::move(runs)), size_(size) {}

  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return file_->name(); }
  Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return Status(Code::kDamaged, name(), offset, "", "found the end of a group's values");
    auto run = std::upper_bound(runs_.begin(), runs_.end(), offset,
                                [](std::uint64_t at, const Run& r) { return at < r.offset; });
    if (run != runs_.begin()) --run;
    while (!out.empty()) {
      while (run != runs_.end() && run->offset + run->length <= offset) ++run;
      const bool between = run == runs_.end() || offset < run->offset;
      const std::uint64_t end = run == runs_.end() ? size_
                                : between          ? run->offset
                                                   : run->offset + run->length;
      const std::span<std::byte> part =
          out.first(std::min<std::uint64_t>(out.size(), end - offset));
      if (between)
        std::fill(part.begin(), part.end(), std::byte{0});
      else if (run->from == RunSource::kFile)
        NMB_TRY(file_->read_at(run->source + (offset - run->offset), part));
      else
        NMB_TRY(spool_->read_at(run->source + (offset - run->offset), part));
      offset += part.size();
      out = out.subspan(part.size());
    }
    return {};
  }

 private:
  const std::shared_ptr<const ByteSource> file_;
  const std::shared_ptr<const SpoolFile> spool_;
  const std::vector<Run> runs_;
  const std::uint64_t size_;
};

Status unclear(const std::string& what) {
  return Status(Code::kDamaged, "found a message of nmb-hdf5 with " + what);
}

class FileReader {
 public:
  FileReader(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
             const std::function<Status(GroupBlock)>& visit)
      : file_(std::move(file)), spool_(std::move(spool)), visit_(visit) {}

  Status read() {
    NMB_ASSIGN(process_,
               Hdf5Process::start({"import", file_->name(), std::to_string(Hdf5Process::kShared)},
                                  Hdf5Process::Tells::kOnOutput, spool_->descriptor()));
    for (;;) {
      std::byte head[16];
      NMB_ASSIGN(const std::size_t got, process_->read(head));
      if (got < sizeof head) return ended();
      const auto kind = static_cast<Message>(load_le<std::uint32_t>(head));
      NMB_ASSIGN(const std::vector<std::byte> content,
                 content_of(load_le<std::uint64_t>(head + 8)));
      switch (kind) {
        case Message::kBlock:
          NMB_TRY(take_block(content));
          break;
        case Message::kDone:
          return {};
        case Message::kFailure:
          return failure(content);
        default:
          return unclear("kind " + std::to_string(static_cast<std::uint32_t>(kind)));
      }
    }
  }

 private:
  // What is told grows the memory as it comes, not as it is promised.
  Result<std::vector<std::byte>> content_of(std::uint64_t length) {
    constexpr std::uint64_t kStep = 16 << 20;
    std::vector<std::byte> content;
    while (content.size() < length) {
      const std::size_t before = content.size();
      const auto step = static_cast<std::size_t>(std::min(kStep, length - before));
      content.resize(before + step);
      NMB_ASSIGN(const std::size_t got, process_->read(std::span(content).subspan(before)));
      if (got < step) return ended();
    }
    return content;
  }

  // It ended without having said so.
  Status ended() {
    NMB_ASSIGN(const int code, process_->wait());
    return Status(Code::kDamaged, "found a file on which nmb-hdf5 ended with code " +
                                      std::to_string(code) + ", saying nothing");
  }

  static Status failure(std::span<const std::byte> content) {
    ItemsIn in(content, 0);
    const auto code = in.number<std::uint32_t>("");
    const std::span<const std::byte> text = in.take(in.remaining(), "");
    if (!in.ok() || code == 0 || code > static_cast<std::uint32_t>(Code::kBusy))
      return unclear("a failure without its code");
    return Status(static_cast<Code>(code),
                  std::string(reinterpret_cast<const char*>(text.data()), text.size()));
  }

  Status take_block(std::span<const std::byte> content) {
    constexpr const char* kRule = "";
    ItemsIn in(content, 0);
    GroupBlock block;
    block.name = in.text(kRule);
    in.pad(kRule);
    block.extent_length = in.number<std::uint64_t>(kRule);
    const std::span<const std::byte> body = in.take(in.number<std::uint64_t>(kRule), kRule);
    block.body.assign(body.begin(), body.end());
    std::vector<Run> runs;
    std::uint64_t end = 0;
    struct stat about {};
    if (fstat(spool_->descriptor(), &about) != 0)
      return system_error(errno, {}, "look at a temporary file");
    const auto spooled = static_cast<std::uint64_t>(about.st_size);
    while (in.ok() && in.remaining() > 0) {
      Run run;
      run.offset = in.number<std::uint64_t>(kRule);
      run.length = in.number<std::uint64_t>(kRule);
      run.source = in.number<std::uint64_t>(kRule);
      const auto from = in.number<std::uint64_t>(kRule);
      if (from > static_cast<std::uint64_t>(RunSource::kSpool)) return unclear("an unknown source");
      run.from = static_cast<RunSource>(from);
      const std::uint64_t there = run.from == RunSource::kFile ? file_->size() : spooled;
      if (run.offset < end || run.offset > block.extent_length ||
          run.length > block.extent_length - run.offset || run.source > there ||
          run.length > there - run.source)
        return unclear("values that lie outside");
      end = run.offset + run.length;
      if (run.length == 0) continue;
      if (run.from == RunSource::kFile)
        block.in_file.push_back({run.offset, run.length, run.source});
      runs.push_back(run);
    }
    if (!in.ok()) return unclear("a block that is cut");
    if (block.extent_length > 0)
      block.extent =
          std::make_shared<SplicedSource>(file_, spool_, std::move(runs), block.extent_length);
    return visit_(std::move(block));
  }

  const std::shared_ptr<const ByteSource> file_;
  const std::shared_ptr<const SpoolFile> spool_;
  const std::function<Status(GroupBlock)>& visit_;
  std::unique_ptr<Hdf5Process> process_;
};

}  // namespace

Result<std::shared_ptr<const SpoolFile>> SpoolFile::create() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error)
    return Status(Code::kIo, "found no folder for temporary files, expected one in TMPDIR");
  const int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_error(errno, folder.string(), "make a temporary file");
  return std::shared_ptr<const SpoolFile>(new SpoolFile(descriptor));
}

SpoolFile::~SpoolFile() { close(descriptor_); }

Status SpoolFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t n = pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno, {}, "read a temporary file");
    if (n == 0) return Status(Code::kIo, "found a temporary file cut");
    offset += static_cast<std::uint64_t>(n);
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status read_file(std::shared_ptr<const ByteSource> file, std::shared_ptr<const SpoolFile> spool,
                 const std::function<Status(GroupBlock)>& visit) {
  const std::string name = file->name();
  return FileReader(std::move(file), std::move(spool), visit).read().in_file(name);
}

}  // namespace nmb::hdf5
