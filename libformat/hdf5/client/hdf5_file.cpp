// Runs nmb-hdf5 and receives its results, which are not trusted: bodies are decoded like bodies
// from any file, and values must lie in the file or in the spool.
#include "client/hdf5_file.h"

#include <algorithm>
#include <utility>

#include "server/hdf5_process.h"
#include "server/hdf5_stream.h"
#include "sources/value_source.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

Status unclear(const std::string& what) {
  return Status(Code::kDamaged, "found a message of nmb-hdf5 with " + what);
}

}  // namespace

StartedFile::StartedFile(std::unique_ptr<Hdf5Process> process,
                         std::shared_ptr<const SpoolFile> spool)
    : process_(std::move(process)), spool_(std::move(spool)) {}

StartedFile::~StartedFile() = default;

Result<std::unique_ptr<StartedFile>> StartedFile::start(const std::string& path,
                                                        std::shared_ptr<const SpoolFile> spool,
                                                        const ReadOptions& options) {
  const char* const command = options.other_files == OtherFiles::kCopied ? "materialise" : "import";
  Result<std::unique_ptr<Hdf5Process>> process = Hdf5Process::start(
      {command, path, std::to_string(kShared), options.place}, spool->descriptor());
  if (!process.ok()) return process.status().in_file(path);
  return std::unique_ptr<StartedFile>(new StartedFile(std::move(*process), std::move(spool)));
}

Result<Hdf5Group> StartedFile::decode(const std::shared_ptr<const ByteSource>& file,
                                      std::vector<std::byte> content) const {
  FieldsIn in(content);
  auto message = in.next<GroupMessage>();
  if (!in.ok()) return unclear("an incomplete block");
  Hdf5Group block;
  block.name = std::move(message.name);
  block.extent_length = message.extent_length;
  block.lost_references = std::move(message.lost_references);
  std::vector<form::Spliced::SourceRun> runs;
  runs.reserve(message.runs.size());
  std::uint64_t end = 0;
  const std::uint64_t spooled = spool_->size();
  for (const auto& [offset, length, source, from] : message.runs) {
    if (from > RunSource::kSpool) return unclear("an unknown source");
    const form::Spliced::SourceRun run{offset, length, source, static_cast<std::uint32_t>(from)};
    const bool in_file = from == RunSource::kFile;
    const std::uint64_t there = in_file ? file->size() : spooled;
    if (run.offset < end || run.offset > block.extent_length ||
        run.length > block.extent_length - run.offset || run.source > there ||
        run.length > there - run.source)
      return unclear("values outside the file or the extent");
    end = run.end();
    if (run.length == 0) continue;
    if (in_file) block.in_file.push_back({run.offset, run.length, run.source});
    runs.push_back(run);
  }
  // A body may be large. To avoid a second buffer, the message is cut down to the body.
  content.erase(content.begin(), content.end() - static_cast<std::ptrdiff_t>(in.remaining()));
  block.body = std::move(content);
  if (block.extent_length > 0)
    block.extent = source_of(
        form::Spliced{{file, spool_}, std::move(runs), block.extent_length, file->name()});
  return block;
}

Status StartedFile::read(std::shared_ptr<const ByteSource> file,
                         const std::function<Status(Hdf5Group)>& visit) {
  return process_
      ->receive([&](std::vector<std::byte> content) -> Status {
        NMB_ASSIGN(Hdf5Group group, decode(file, std::move(content)));
        return visit(std::move(group));
      })
      .in_file(file->name());
}

Status read_file(std::shared_ptr<const ByteSource> file,
                 const std::function<Status(Hdf5Group)>& visit, const ReadOptions& options) {
  NMB_ASSIGN(std::shared_ptr<const SpoolFile> spool, SpoolFile::create());
  NMB_ASSIGN(const std::unique_ptr<StartedFile> started,
             StartedFile::start(file->name(), std::move(spool), options));
  return started->read(std::move(file), visit);
}

}  // namespace nmb::hdf5
